import type { SvcError } from "../errors.ts";

/** No answer, or one that is not the service's: a gateway's page says nothing about what the service did. */
export function isLostAnswer(error: SvcError): boolean {
  if (error.code === "bad_response") return error.status === undefined || error.status < 400 || error.status >= 500;
  return error.code === "unreachable" || error.code === "timeout" || error.code === "aborted";
}
