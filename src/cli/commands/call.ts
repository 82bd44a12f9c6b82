import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { createToolSession } from "../../plugin/calls/session.ts";
import { createTerminalApprover } from "../../plugin/runtimes/terminal/approve-in-terminal.ts";
import { LineReader } from "../../plugin/runtimes/terminal/line-reader.ts";
import { createConnectPresenter } from "../../plugin/runtimes/terminal/present-connect-link.ts";
import { SvcError } from "../../shared/errors.ts";
import { nameUndo } from "../../shared/wire/execution.ts";
import type { CliContext } from "../context.ts";
import { EXIT, exitCodeForOutcome } from "../exit-codes.ts";
import { findEditor } from "../open-editor.ts";
import { openClient } from "../open-session.ts";
import { showOutcome } from "../outcome-text.ts";
import { jsonObject, readTimeout } from "../settings.ts";

interface CallFlags {
  readonly args: string;
  readonly file?: readonly string[];
  readonly connection?: string;
  readonly baseUrl?: string;
  readonly upload?: "envelope" | "ingest";
  /** Seconds for the call. Default 75. */
  readonly timeout?: string;
  /** Undefined: only at a terminal. */
  readonly wait?: boolean;
}

const EXAMPLE = '{"folder":"Reports"}';

/** `svc call`: runs one tool through the pipeline that agents use; the human at the terminal approves and connects. */
export async function call(context: CliContext, tool: string, flags: CallFlags): Promise<number> {
  const { terminal, places } = context;
  const files = (flags.file ?? []).map(readFileFlag);
  const args = putFiles(await jsonObject({ text: flags.args, flag: "--args", example: EXAMPLE }, context.input), files);
  const { client, settings } = await openClient(context, flags);
  const person = openPerson(context, flags);
  const { presentConnectLink: presentLink } = person;
  let isSending = false;
  try {
    const session = await createToolSession({
      client,
      mediaRoots: settings.mediaRoots,
      // A file named on the command line has the human's permission, for this call only.
      mediaFiles: files.map(({ path }) => path),
      stateDir: places.state,
      upload: settings.upload,
      // A person, or a program that reads on, wants all of it.
      maxResultChars: Number.MAX_SAFE_INTEGER,
      validation: settings.validation,
      ...readTimeout(flags),
      approve: person.approve,
      presentConnectLink:
        presentLink &&
        ((link, options) => {
          isSending = false;
          return presentLink(link, options);
        }),
      onEvent: (event) => {
        const isStart = event.type === "uploading" && event.sentBytes === 0;
        if (event.type === "sending" || isStart) {
          terminal.progress(`  ${event.type} …`);
          terminal.wait(event.type);
        }
        if (event.type === "approval_requested") terminal.endProgress();
        if (event.type === "awaiting_owner")
          terminal.say(
            [`Waiting for the owner of the service: ${event.url ?? "see its inbox"}`, event.reason ?? ""]
              .join(" ")
              .trim(),
          );
        // Any later step means that this request has been answered, but for the bytes that are part of it.
        isSending = event.type === "sending" || (event.type === "uploading" && event.way === "envelope");
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
      showOutcome(terminal, outcome, { hasKeyInEnvironment: settings.apiKey !== undefined });
      return exitCodeForOutcome(outcome);
    } catch (error) {
      if (!isSending || !person.signal.aborted || session.catalog.peek(tool)?.effect === "read") throw error;
      terminal.endProgress();
      terminal.say("Interrupted after the request had left: it may have taken effect. Check before you run it again.");
      return EXIT.unknownOutcome;
    } finally {
      await session.close();
    }
  } finally {
    person.approve.close();
    await client.close();
  }
}

/** `svc undo`: the call that takes back an earlier one, which the human at the terminal approves like any other. */
export async function undo(
  context: CliContext,
  id: string,
  flags: Pick<CallFlags, "baseUrl" | "timeout">,
): Promise<number> {
  const { tool, ...account } = await findUndo(context, id, flags);
  return call(context, tool, { ...flags, ...account, args: JSON.stringify({ execution_id: id }) });
}

async function findUndo(context: CliContext, id: string, flags: Pick<CallFlags, "baseUrl">) {
  const { client } = await openClient(context, flags);
  try {
    const { undo: offered, integration_id } = await client.getExecution(id);
    // Without an offer the refusal of the call says why.
    const tool = offered?.tool_name ?? nameUndo(integration_id ?? "");
    return { tool, ...(offered?.connection_id !== undefined && { connection: offered.connection_id }) };
  } finally {
    await client.close();
  }
}

/** The human at the keyboard, who approves calls and, with `wait` or at a terminal, connects apps. */
function openPerson(context: CliContext, { wait }: CallFlags) {
  const { terminal, input, output, signal } = context;
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
    approve: createTerminalApprover({ ...keyboard, reader, editor: findEditor(context) }),
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
