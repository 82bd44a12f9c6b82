import type { CommanderError } from "commander";
import { toPlainText } from "../shared/card/plain-text.ts";
import { isSvcError } from "../shared/errors.ts";

/** An error as `--json` prints it, on one line of standard output; `code` is one of docs/errors.md, or `usage`. */
interface JsonError {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
  /** The flag, variable or setting that is wrong. */
  readonly field?: string | undefined;
}

/** One JSON object on one line: `{"error": …}`. */
export function writeJsonError({ code, message, hint, field }: JsonError): string {
  return toPlainText(JSON.stringify({ error: { code, message, hint, field } }));
}

/** What ended a command. */
export function describeError(error: unknown): string {
  if (isSvcError(error)) return writeJsonError(error);
  return writeJsonError({ code: "unexpected", message: error instanceof Error ? error.message : String(error) });
}

/** What is wrong with the command line. */
export function describeUsageError({ message, code }: CommanderError): string {
  if (code === "commander.help") return writeJsonError({ code: "usage", message: "No command was given.", hint: HELP });
  const [said = "", suggestion] = message.split("\n");
  const hint = [suggestion?.replace(/^\((.*)\)$/, "$1"), HELP].filter(Boolean).join(" ");
  return writeJsonError({ code: "usage", message: said.replace(/^error: /, ""), hint });
}

const HELP = '"svc help" shows the commands.';
