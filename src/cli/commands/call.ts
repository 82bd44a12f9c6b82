import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { SvcError } from "../../errors.ts";
import { createTerminalApprover } from "../../runtimes/terminal/approve-in-terminal.ts";
import { LineReader } from "../../runtimes/terminal/line-reader.ts";
import { createConnectPresenter } from "../../runtimes/terminal/present-connect-link.ts";
import { createToolSession } from "../../tools/session.ts";
import type { CliContext } from "../context.ts";
import { exitCodeForOutcome } from "../exit-codes.ts";
import { openClient } from "../open-session.ts";
import { showOutcome } from "../show-outcome.ts";

interface CallFlags {
  readonly args: string;
  readonly file?: readonly string[];
  readonly connection?: string;
  readonly baseUrl?: string;
  readonly upload?: "envelope" | "ingest";
  /** Undefined: when somebody is at the terminal. */
  readonly wait?: boolean;
}

/** `svc call`: one tool through the same pipeline an agent uses; the human at the terminal approves and connects. */
export async function call(context: CliContext, tool: string, flags: CallFlags): Promise<number> {
  const { terminal, places } = context;
  const files = (flags.file ?? []).map(readFileFlag);
  const args = putFiles(readArguments(flags.args), files);
  const { client, settings } = await openClient(context, flags);
  const person = openPerson(context, flags);
  try {
    const session = await createToolSession({
      client,
      mediaRoots: settings.mediaRoots,
      // Naming a file on the command line is the human's own permission for that one file.
      mediaFiles: files.map(({ path }) => path),
      stateDir: places.state,
      upload: settings.upload,
      validation: settings.validation,
      approve: person.approve,
      presentConnectLink: person.presentConnectLink,
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

/** The one at the keyboard, who approves and, where somebody can be waited for, connects apps. */
function openPerson({ terminal, input, output, signal }: CliContext, { wait }: CallFlags) {
  const keyboard = { input, output: terminal.json ? process.stderr : output };
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
  const isSomebodyThere = input.isTTY === true && keyboard.output.isTTY === true;
  return {
    approve: createTerminalApprover({ ...keyboard, reader }),
    presentConnectLink: (wait ?? isSomebodyThere) ? presentConnectLink : undefined,
    signal: AbortSignal.any([signal, stop.signal]),
  };
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
