import { DECLINED, type OutcomeStatus, type ToolOutcome } from "../plugin/calls/outcome.ts";
import { toPlainText } from "../shared/card/plain-text.ts";
import { readHint, type Terminal, wrapWords } from "./terminal.ts";

const TITLES: Readonly<Record<OutcomeStatus, string>> = {
  succeeded: "Done.",
  declined: "Declined.",
  needs_approval: "Not done (needs_approval).",
  needs_connection: "Not done (needs_connection).",
  failed: "Not done (failed).",
  // The message says that it is not known whether it was done.
  unknown: "",
};

/** Where the key of the command came from. */
interface OutcomeSource {
  readonly hasKeyInEnvironment: boolean;
}

/** Prints how a call ended, for the person at a terminal: what happened, the result, and what to do next. */
export function showOutcome(terminal: Terminal, outcome: ToolOutcome, source: OutcomeSource): void {
  terminal.endProgress();
  terminal.answer(outcome, () => formatOutcome(terminal, outcome, source));
}

function formatOutcome(terminal: Terminal, outcome: ToolOutcome, source: OutcomeSource): string {
  const { status, message, code } = outcome;
  const title = TITLES[status];
  const styled = title === "" ? "" : terminal.style(status === "succeeded" ? "green" : "yellow", title);
  const said =
    status === "declined"
      ? `Nothing was run.${findReason(message)}`
      : code === "unauthorized"
        ? "The service refused the key."
        : message;
  const result = outcome.result === undefined ? "" : JSON.stringify(outcome.result, null, 2);
  const wrap = (text: string, indent = "  ") => wrapWords(text, terminal.columns, indent);
  const lines = [
    wrap([styled, said].filter(Boolean).join(" ")),
    ...(outcome.details ?? []).map((line) => wrap(`  ${line}`, "    ")),
    ...outcome.notes.map((note) => wrap(`Note: ${note}`)),
    ...(outcome.choices ?? []).map(({ id, label }) => toPlainText(`  --connection ${id}   ${label}`)),
    outcome.connectUrl ? `Connect it here: ${outcome.connectUrl}` : "",
    wrap(adviseHuman(outcome, source)),
    result,
  ];
  return lines.filter((line) => line !== "").join("\n");
}

/** The words of whoever declined the call, in the inbox for example. */
function findReason(message = ""): string {
  return message.startsWith(DECLINED) ? message.slice(DECLINED.length) : "";
}

/** Advice by code. The hints of outcomes are written for a model: a person has other commands. */
const ADVICE: Readonly<Record<string, string>> = {
  approval_expired: "run it again and answer in time.",
  awaiting_owner: "decide there. The same command goes on waiting.",
  approval_failed: "run it in a terminal, where you can answer.",
  tool_not_found: 'find the name with "svc search <words>" or "svc tools".',
  billing: "settle the billing limit with the service.",
  forbidden: "reconnect the app and grant the permission it lacks.",
  integration_misconfigured: "set the app up at the service first.",
  missing_file_bytes: "give a public https address of the file instead.",
  confirmation_required: "tell whoever runs the service; running it again will not help.",
};

function adviseHuman(outcome: ToolOutcome, { hasKeyInEnvironment }: OutcomeSource): string {
  const { status, code = "", hint, details, toolName, choices, connectUrl, retryAfterMs, retryable } = outcome;
  if (status === "succeeded" || status === "declined") return "";
  if (code === "unauthorized") {
    return hasKeyInEnvironment
      ? 'Next: set SVC_API_KEY to a key that is in use, or unset it and run "svc pair".'
      : 'Next: pair this device again: "svc pair --again".';
  }
  if (choices !== undefined) {
    const which = choices.length === 0 ? "the id of an account" : "one of these ids";
    return `Next: run the command again with --connection and ${which}.`;
  }
  if (status === "needs_connection") {
    const how = connectUrl === undefined ? 'run "svc connect <app>" for the link' : "open the link";
    return `Next: ${how}, sign in, and run the command again.`;
  }
  // A model may repeat the call in the same session; each command is a new session. An app's own hint has no details.
  if (code === "invalid_arguments" && (details !== undefined || hint === undefined))
    return `Next: "svc describe ${toolName}" shows the arguments.`;
  if (retryAfterMs !== undefined) return `Next: the service asks to wait ${formatDuration(retryAfterMs)}.`;
  const advice = ADVICE[code] ?? readHint(hint) ?? (retryable === true ? "try again later." : undefined);
  return advice === undefined ? "" : `Next: ${advice}`;
}

const UNITS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;

/** The largest unit of which there are at least two, rounded up; seconds below two minutes. */
function formatDuration(ms: number): string {
  const [name, size] = UNITS.find(([, length]) => ms >= 2 * length) ?? ["second", 1_000];
  const count = Math.ceil(ms / size);
  return `${count} ${name}${count === 1 ? "" : "s"}`;
}
