import type { ToolOutcome } from "../tools/outcome.ts";
import { toPlainText } from "../wire/plain-text.ts";
import type { Terminal } from "./terminal.ts";
import { wrapWords } from "./wrap-words.ts";

/** Prints how a call ended. */
export function showOutcome(terminal: Terminal, outcome: ToolOutcome): void {
  terminal.endProgress();
  terminal.answer(outcome, () => formatOutcome(terminal, outcome));
}

function formatOutcome(terminal: Terminal, outcome: ToolOutcome): string {
  const isDone = outcome.status === "succeeded";
  const title = terminal.style(isDone ? "green" : "yellow", isDone ? "Done." : `Not done (${outcome.status}).`);
  const result = outcome.result === undefined ? (outcome.resultPreview ?? "") : JSON.stringify(outcome.result, null, 2);
  const wrap = (text: string, indent = "  ") => wrapWords(text, terminal.columns, indent);
  const lines = [
    wrap(`${title}${outcome.message ? ` ${outcome.message}` : ""}`),
    ...(outcome.details ?? []).map((line) => wrap(`  ${line}`, "    ")),
    ...outcome.notes.map((note) => wrap(`Note: ${note}`)),
    ...(outcome.choices ?? []).map(({ id, label }) => toPlainText(`  --connection ${id}   ${label}`)),
    outcome.connectUrl ? `Connect it here: ${outcome.connectUrl}` : "",
    wrap(adviseHuman(outcome)),
    result,
  ];
  return lines.filter((line) => line !== "").join("\n");
}

/** Hints are written for a model; the person at the terminal made the decision, and has other commands. */
function adviseHuman({ status, code, hint, toolName }: ToolOutcome): string {
  if (status === "declined") return "";
  if (code === "tool_not_found") return 'Next: find the name with "svc search <words>" or "svc tools".';
  // A model may insist by calling again in the same session; each command is a session of its own.
  if (code === "invalid_arguments") return `Next: "svc describe ${toolName}" shows the arguments.`;
  return hint ? `Next: ${hint}` : "";
}
