import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { SvcError } from "../../errors.ts";
import { createTerminalApprover } from "../../runtimes/terminal/approve-in-terminal.ts";
import type { OutcomeStatus, ToolOutcome } from "../../tools/outcome.ts";
import { createToolSession } from "../../tools/session.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { openClient } from "../open-session.ts";
import type { Terminal } from "../terminal.ts";

interface CallFlags {
  readonly args: string;
  readonly file?: readonly string[];
  readonly connection?: string;
  readonly baseUrl?: string;
  readonly upload?: "envelope" | "ingest";
}

const EXIT_BY_STATUS: Readonly<Record<OutcomeStatus, number>> = {
  succeeded: EXIT.ok,
  failed: EXIT.failed,
  needs_connection: EXIT.failed,
  needs_approval: EXIT.notApproved,
  declined: EXIT.notApproved,
  unknown: EXIT.unknownOutcome,
};

/** `svc call`: one tool through the same pipeline an agent uses; the human at the terminal approves. */
export async function call(context: CliContext, tool: string, flags: CallFlags): Promise<number> {
  const { terminal, places } = context;
  const files = (flags.file ?? []).map(readFileFlag);
  const args = putFiles(readArguments(flags.args), files);
  const { client, settings } = await openClient(context, flags);
  const approve = createTerminalApprover({
    input: context.input,
    output: terminal.json ? process.stderr : context.output,
  });
  try {
    const session = await createToolSession({
      client,
      mediaRoots: settings.mediaRoots,
      // Naming a file on the command line is the human's own permission for that one file.
      mediaFiles: files.map(({ path }) => path),
      stateDir: places.state,
      upload: settings.upload,
      validation: settings.validation,
      approve,
      onEvent: (event) => {
        if (event.type === "sending" || event.type === "uploading") terminal.progress(`  ${event.type} …`);
        if (event.type === "finished") terminal.endProgress();
      },
    });
    try {
      const outcome = await session.call({
        callId: randomUUID(),
        toolName: tool,
        arguments: args,
        connectionId: flags.connection,
        signal: context.signal,
      });
      showOutcome(terminal, outcome);
      return EXIT_BY_STATUS[outcome.status];
    } finally {
      await session.close();
    }
  } finally {
    approve.close();
    await client.close();
  }
}

interface NamedFile {
  readonly field: string;
  readonly path: string;
}

function readFileFlag(text: string): NamedFile {
  const split = text.indexOf("=");
  const [field, path] = [text.slice(0, split), text.slice(split + 1)];
  if (split > 0 && path !== "") return { field, path: resolve(path) };
  throw new SvcError("invalid_config", `--file is "${text}"; it must have the form FIELD=PATH.`, {
    field: "--file",
    hint: "Example: --file file=./report.pdf",
  });
}

function readArguments(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // Refused below, like JSON that is not an object.
  }
  throw new SvcError("invalid_config", "--args is not a JSON object.", {
    field: "--args",
    hint: `Example: --args '{"folder":"Reports"}'`,
  });
}

/** Puts each file at its field; a repeated field becomes a list. */
function putFiles(args: Record<string, unknown>, files: readonly NamedFile[]): Record<string, unknown> {
  const filled = { ...args };
  for (const [field, group] of Map.groupBy(files, (file) => file.field)) {
    const values = group.map(({ path }) => ({ s3key: path }));
    filled[field] = values.length === 1 ? values[0] : values;
  }
  return filled;
}

function showOutcome(terminal: Terminal, outcome: ToolOutcome): void {
  terminal.endProgress();
  terminal.answer(outcome, () => formatOutcome(terminal, outcome));
}

function formatOutcome(terminal: Terminal, outcome: ToolOutcome): string {
  const isDone = outcome.status === "succeeded";
  const title = terminal.style(isDone ? "green" : "yellow", isDone ? "Done." : `Not done (${outcome.status}).`);
  const result = outcome.result === undefined ? (outcome.resultPreview ?? "") : JSON.stringify(outcome.result, null, 2);
  const lines = [
    `${title}${outcome.message ? ` ${outcome.message}` : ""}`,
    ...(outcome.details ?? []).map((line) => `  ${line}`),
    ...outcome.notes.map((note) => `Note: ${note}`),
    ...(outcome.choices ?? []).map(({ id, label }) => `  --connection ${id}   ${label}`),
    outcome.connectUrl ? `Connect it here: ${outcome.connectUrl}` : "",
    adviseHuman(outcome),
    result,
  ];
  return lines.filter((line) => line !== "").join("\n");
}

/** Hints are written for a model; the person at the terminal made the decision, and has other commands. */
function adviseHuman({ status, code, hint }: ToolOutcome): string {
  if (status === "declined") return "";
  if (code === "tool_not_found") return 'Next: find the name with "svc search <words>" or "svc tools".';
  return hint ? `Next: ${hint}` : "";
}
