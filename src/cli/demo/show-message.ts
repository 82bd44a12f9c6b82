import { AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import { stringify } from "yaml";
import type { ToolOutcome } from "../../tools/outcome.ts";
import type { Terminal } from "../terminal.ts";

const SHOWN_LINES = 24;

/** Prints one message of the agent: what the model calls, what came back, what it says. */
export function showMessage(terminal: Terminal, message: BaseMessage): void {
  if (AIMessage.isInstance(message)) {
    for (const call of message.tool_calls ?? []) {
      terminal.say(`${terminal.style("cyan", "Agent calls")} ${call.name} ${JSON.stringify(call.args)}`);
    }
    if (message.text !== "") terminal.say(`${terminal.style("cyan", "Agent says")} ${message.text}`);
    return;
  }
  if (!ToolMessage.isInstance(message)) return;
  const outcome: unknown = message.artifact;
  if (!isOutcome(outcome)) {
    terminal.say(indent(message.text));
    return;
  }
  if (outcome.status === "succeeded") {
    terminal.say(terminal.style("green", "Result"));
    terminal.say(
      indent(outcome.resultPreview ?? stringify(outcome.result, { blockQuote: "literal", lineWidth: 100 }).trimEnd()),
    );
    return;
  }
  terminal.say(terminal.style("yellow", `Not done (${outcome.status})`));
  terminal.say(indent([outcome.message, outcome.hint].filter(Boolean).join("\n")));
}

/** The first lines, indented; what is left out is said. */
function indent(text: string): string {
  const lines = text.split("\n");
  const shown = lines.slice(0, SHOWN_LINES);
  if (lines.length > shown.length) shown.push(`… ${lines.length - shown.length} more lines`);
  return shown.map((line) => `  ${line}`).join("\n");
}

function isOutcome(value: unknown): value is ToolOutcome {
  return typeof value === "object" && value !== null && "status" in value && "toolName" in value;
}
