import type { SvcError } from "../errors.ts";
import { SIGN_IN_AGAIN, SIGN_IN_LATER } from "./access-token.ts";

/** What to do about a key the service does not accept. */
export const KEY_HINT =
  "The key of this device is missing, wrong or revoked. Pair it again (svc pair); calling again will not help.";

/** The same for a person at a terminal, who is told before it what the service said of the key. */
export const PAIR_AGAIN = 'To go on, pair this device again: "svc pair --again".';

/**
 * What to do when a call failed for want of a key or a sign-in; calling again never helps then, and this is what a
 * model has to be told. Undefined when it failed for another reason, or when a sign-in may still give a token.
 */
export function adviseOnCredential({ code, hint }: SvcError): string | undefined {
  if ((code !== "unauthorized" && code !== "credentials_missing") || hint === SIGN_IN_LATER) return undefined;
  const isOurOwn = hint !== undefined && (code === "credentials_missing" || hint === SIGN_IN_AGAIN);
  return isOurOwn ? `${hint} Calling again will not help.` : KEY_HINT;
}
