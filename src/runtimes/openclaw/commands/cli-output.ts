import { createInterface } from "node:readline/promises";
import type { SvcHost } from "../svc-host.ts";
import { answerError, type CommandAnswer, EXIT } from "./command-answer.ts";

type Flags = Readonly<Record<string, unknown>>;

/** Runs a command, prints its answer and sets the exit code; never rejects. */
export async function finishCommand(
  host: SvcHost,
  flags: Flags,
  run: (flags: Flags) => Promise<CommandAnswer>,
): Promise<void> {
  let answer: CommandAnswer;
  try {
    answer = await run(flags);
  } catch (error) {
    answer = answerError(error);
  }
  const { exit, text, data } = answer;
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

/** Asks a yes/no question in the terminal; anything but yes is no. */
export async function askYesNo(question: string): Promise<boolean> {
  return /^y(?:es)?$/i.test(await askLine(`${question} [y/N]`));
}
