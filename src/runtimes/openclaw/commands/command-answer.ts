import { isSvcError, type SvcError } from "../../../errors.ts";
import { ASK_TO_PAIR } from "../setup/explain-pairing.ts";

/** What a command gives back, for a terminal, a chat and a script alike. Holds no secret. */
export interface CommandAnswer {
  /** Exit code of the command line; 0 when the command did what it says. */
  readonly exit: number;
  readonly text: string;
  /** The same as data, for `--json`. */
  readonly data: unknown;
}

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
  const isPairing = error.code === "credentials_missing" || error.code === "unauthorized";
  return refuse([error.message, findHint(error)].filter(Boolean).join(" "), isPairing ? EXIT.notPaired : EXIT.failed);
}

/** A command is read by the user, whom a model's hint would tell to ask the user. */
function findHint({ code, hint }: SvcError): string | undefined {
  return code === "unauthorized" || hint === ASK_TO_PAIR ? PAIR : hint;
}

/** How commands are written where an answer is read. */
export type CommandForm = "/svc" | "openclaw svc";

/** In a chat with the agent. */
export const CHAT: CommandForm = "/svc";

/** In a terminal. */
export const TERMINAL: CommandForm = "openclaw svc";
