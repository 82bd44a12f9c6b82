import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import type { ToolOutcome } from "../../calls/outcome.ts";
import { createToolSession } from "../../calls/session.ts";
import { SvcError } from "../../errors.ts";
import { createTerminalApprover } from "../../runtimes/terminal/approve-in-terminal.ts";
import { LineReader } from "../../runtimes/terminal/line-reader.ts";
import { createConnectPresenter } from "../../runtimes/terminal/present-connect-link.ts";
import { toPlainText } from "../../wire/plain-text.ts";
import type { CliContext } from "../context.ts";
import { exitCodeForOutcome } from "../exit-codes.ts";
import { openClient } from "../open-session.ts";
import { jsonObject } from "../settings.ts";
import { type Terminal, wrapWords } from "../terminal.ts";

interface CallFlags {
  readonly args: string;
  readonly file?: readonly string[];
  readonly connection?: string;
  readonly baseUrl?: string;
  readonly upload?: "envelope" | "ingest";
  /** Undefined: only at a terminal. */
  readonly wait?: boolean;
}

/** `svc call`: runs one tool through the pipeline that agents use; the human at the terminal approves and connects. */
export async function call(context: CliContext, tool: string, flags: CallFlags): Promise<number> {
  const { terminal, places } = context;
  const files = (flags.file ?? []).map(readFileFlag);
  const args = putFiles(jsonObject(flags.args, "--args", '{"folder":"Reports"}'), files);
  const { client, settings } = await openClient(context, flags);
  const person = openPerson(context, flags);
  try {
    const session = await createToolSession({
      client,
      mediaRoots: settings.mediaRoots,
      // A file named on the command line has the human's permission, for this call only.
      mediaFiles: files.map(({ path }) => path),
      stateDir: places.state,
      upload: settings.upload,
      validation: settings.validation,
      approve: person.approve,
      presentConnectLink: person.presentConnectLink,
      onEvent: (event) => {
        if (event.type === "sending" || event.type === "uploading") terminal.progress(`  ${event.type} …`);
        if (event.type === "awaiting_owner")
          terminal.say(`Waiting for the owner of the service: ${event.url ?? "see its inbox"}`);
        if (event.type === "finished") terminal.endProgress();
      },
    });
    try {
      const outcome = await session.call({
        callId: randomUUID(),
        toolName: tool,
        arguments: args,
        connectionId: flags.connection,
        signal: person.signal,
      });
      showOutcome(terminal, outcome);
      return exitCodeForOutcome(outcome);
    } finally {
      await session.close();
    }
  } finally {
    person.approve.close();
    await client.close();
  }
}

/** The human at the keyboard, who approves calls and, with `wait` or at a terminal, connects apps. */
function openPerson({ terminal, input, output, signal }: CliContext, { wait }: CallFlags) {
  const keyboard = { input, output };
  const reader = new LineReader(keyboard);
  const stop = new AbortController();
  const presentConnectLink = createConnectPresenter({
    reader,
    say: (line) => {
      terminal.endProgress();
      terminal.say(line);
    },
    clear: () => terminal.endProgress(),
    interrupt: () => stop.abort(new DOMException("Stopped at the terminal.", "AbortError")),
  });
  const isAtTerminal = input.isTTY === true && keyboard.output.isTTY === true;
  return {
    approve: createTerminalApprover({ ...keyboard, reader }),
    presentConnectLink: (wait ?? isAtTerminal) ? presentConnectLink : undefined,
    signal: AbortSignal.any([signal, stop.signal]),
  };
}

function readFileFlag(text: string): { field: string; path: string } {
  const split = text.indexOf("=");
  const [field, path] = [text.slice(0, split), text.slice(split + 1)];
  if (split > 0 && path !== "") return { field, path: resolve(path) };
  throw new SvcError("invalid_config", `--file is "${text}"; it must have the form FIELD=PATH.`, {
    field: "--file",
    hint: "Example: --file file=./report.pdf",
  });
}

/** Puts each file at its field; a repeated field becomes a list. */
function putFiles(args: Record<string, unknown>, files: readonly ReturnType<typeof readFileFlag>[]) {
  const filled = { ...args };
  for (const [field, group] of Map.groupBy(files, (file) => file.field)) {
    const values = group.map(({ path }) => ({ s3key: path }));
    filled[field] = values.length === 1 ? values[0] : values;
  }
  return filled;
}

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

/** Hints are written for a model; the person at the terminal decides and has other commands. */
function adviseHuman({ status, code, hint, toolName, choices }: ToolOutcome): string {
  if (status === "declined") return "";
  if (code === "approval_failed") return "Next: run it in a terminal, where you can answer.";
  if (code === "tool_not_found") return 'Next: find the name with "svc search <words>" or "svc tools".';
  if (choices !== undefined) {
    const which = choices.length === 0 ? "the id of an account" : "one of these ids";
    return `Next: run the command again with --connection and ${which}.`;
  }
  // A model may repeat the call in the same session; each command is a new session.
  if (code === "invalid_arguments") return `Next: "svc describe ${toolName}" shows the arguments.`;
  return hint ? `Next: ${hint}` : "";
}
