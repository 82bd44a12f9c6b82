import { createProviderError } from "../integrations/provider-failure.ts";
import { ServiceError } from "../service-error.ts";
import type { StoredAction } from "./source-content.ts";

/**
 * What a failure comes to that was met only after the app has said that it did what it was asked for, such as an answer that
 * is too long: of a write it must not sound as if nothing had been done.
 */
export function toDoneAlready(error: unknown, call: { readonly app: string; readonly action: StoredAction }): unknown {
  const { level, idempotent } = call.action;
  if (level === "read" || idempotent || !(error instanceof ServiceError)) return error;
  return error.code === "outcome_unknown"
    ? error
    : createProviderError({ kind: "garbage", message: error.message }, call);
}
