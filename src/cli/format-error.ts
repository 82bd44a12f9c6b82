import { isSvcError } from "../errors.ts";
import { cleanForTerminal, type Terminal } from "./terminal.ts";
import { wrapWords } from "./wrap-words.ts";

/**
 * What a person reads of an error that ended a command: what failed, then what to do. Broken between words on a terminal
 * of `columns`, one line elsewhere. `isDebugging` adds where in the code an unexpected one arose.
 */
export function formatError(
  { style }: Pick<Terminal, "style">,
  error: unknown,
  { columns, isDebugging }: { readonly columns: number | undefined; readonly isDebugging: boolean },
): string {
  const text = isSvcError(error)
    ? [error.message, error.hint].filter(Boolean).join(" ")
    : describeUnexpected(error, isDebugging);
  return wrapWords(`${style("red", "Error:")} ${cleanForTerminal(text)}`, isDebugging ? undefined : columns, "  ");
}

function describeUnexpected(error: unknown, isDebugging: boolean): string {
  const message = error instanceof Error ? error.message : String(error);
  return `${message}${isDebugging && error instanceof Error ? `\n${error.stack}` : ""}`;
}
