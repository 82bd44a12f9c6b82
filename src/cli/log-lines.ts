import type { ServiceOptions } from "../service/service-options.ts";
import { toPlainText } from "../shared/card/plain-text.ts";

/** How `svc serve` writes what its operator should know: a line for people, or one JSON object on each line. */
export type LogFormat = "text" | "json";

/**
 * Writes the entries of a service's log as lines: time, level, message and reason. `json` adds what an entry says for
 * programs, and escapes nothing but what JSON does; a line of text holds no control characters.
 */
export function createLogPrinter(
  format: LogFormat,
  print: (line: string) => void,
  now: () => number = Date.now,
): NonNullable<ServiceOptions["log"]> {
  return ({ level, message, cause, facts }) => {
    const time = new Date(now()).toISOString();
    const reason = findReason(cause);
    if (format === "json") {
      print(JSON.stringify({ time, level, ...facts, message, reason }));
      return;
    }
    print(toPlainText(`${time} ${level}: ${message}${reason === undefined ? "" : ` (${reason})`}`));
  };
}

/** The first line of the innermost reason; stacks are not shown. */
function findReason(cause: unknown): string | undefined {
  if (cause instanceof Error) return findReason(cause.cause) ?? cause.message.split("\n")[0];
  return typeof cause === "string" ? cause : undefined;
}
