import type { SvcError } from "../errors.ts";

/** True when a request that changes a flow was sent, and nothing says that it was refused. */
export function mayHaveActed({ sent, status }: SvcError): boolean {
  const isRefused = status !== undefined && status >= 400 && status < 500;
  return sent !== false && !isRefused;
}
