import type { ServiceOptions } from "../../service/service-options.ts";

/** Prints what the operator of a service should know, one line each, to stderr: time, level, message and reason. */
export const printLog: NonNullable<ServiceOptions["log"]> = ({ level, message, cause }) => {
  const reason = findReason(cause);
  console.error(`${new Date().toISOString()} ${level}: ${message}${reason === undefined ? "" : ` (${reason})`}`);
};

/** The first line of the innermost reason; stacks are not shown. */
function findReason(cause: unknown): string | undefined {
  if (cause instanceof Error) return findReason(cause.cause) ?? cause.message.split("\n")[0];
  return typeof cause === "string" ? cause : undefined;
}
