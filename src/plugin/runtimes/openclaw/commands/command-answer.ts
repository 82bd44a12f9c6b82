import { createInterface } from "node:readline/promises";
import { isSvcError } from "../../../../shared/errors.ts";
import type { HostApi, HostConfig } from "../host/host-api.ts";
import { ASK_TO_PAIR } from "../setup/find-key.ts";
import type { SvcHost } from "../svc-host.ts";

/** The surroundings of a command of the host's command line. */
export interface CliCall {
  readonly host: SvcHost;
  readonly api: HostApi;
  readonly config: HostConfig;
}

/** Options of a command by their long names. */
export type Flags = Readonly<Record<string, unknown>>;

/** The answer of a command, for a terminal, a chat and a script alike. Holds no secret. */
export interface CommandAnswer {
  /** Exit code of the command line; 0 when the command did what it says. */
  readonly exit: number;
  readonly text: string;
  /** The same as data, for `--json`. */
  readonly data: unknown;
}

/** How commands are written where an answer is read: in a chat with the agent, or in a terminal. */
export type CommandForm = "/svc" | "openclaw svc";

/** Exit codes of `openclaw svc`, the same as those of `svc`. */
export const EXIT = { ok: 0, failed: 1, notPaired: 3, notApproved: 4 } as const;

/** The answer of a command that did what it says. */
export function answer(text: string, data: unknown): CommandAnswer {
  return { exit: EXIT.ok, text, data };
}

/** The answer of a command that could not. */
export function refuse(text: string, exit: number = EXIT.failed): CommandAnswer {
  return { exit, text, data: { ok: false, message: text } };
}

const PAIR = "Pair with: openclaw svc pair in a terminal, or /login svc in a chat.";

/** The answer for a thrown error: what failed and what to do next, never a stack. */
export function answerError(error: unknown): CommandAnswer {
  if (!isSvcError(error)) return refuse(error instanceof Error ? error.message : String(error));
  const { code, message, hint } = error;
  const isPairing = code === "credentials_missing" || code === "unauthorized";
  // The user reads this, whom a model's hint would tell to ask the user.
  const next = code === "unauthorized" || hint === ASK_TO_PAIR ? PAIR : hint;
  return refuse([message, next].filter(Boolean).join(" "), isPairing ? EXIT.notPaired : EXIT.failed);
}

/** Runs a command, prints its answer and sets the exit code; never rejects. */
export async function finishCommand(host: SvcHost, flags: Flags, run: () => Promise<CommandAnswer>): Promise<void> {
  const { exit, text, data } = await run().catch(answerError);
  // A refusal goes where errors go, so that a pipe gets answers only.
  if (flags.json === true) process.stdout.write(`${JSON.stringify(data, null, 2)}\n`);
  else (exit === EXIT.ok ? process.stdout : process.stderr).write(`${text}\n`);
  if (exit !== EXIT.ok) process.exitCode = exit;
  await host.close();
}

/** A line for the human that is no answer. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** True when a human can be asked. */
export function canAsk(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** Asks in the terminal; an empty answer means `initial`. */
export async function askLine(question: string, initial = ""): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await terminal.question(initial === "" ? `${question} ` : `${question} [${initial}] `)).trim() || initial;
  } finally {
    terminal.close();
  }
}

/** Asks a yes/no question in the terminal. An empty answer means `initial`, by default no; any other but yes is no. */
export async function askYesNo(question: string, initial: "y" | "n" = "n"): Promise<boolean> {
  const said = await askLine(`${question} ${initial === "y" ? "[Y/n]" : "[y/N]"}`);
  return /^y(?:es)?$/i.test(said === "" ? initial : said);
}
