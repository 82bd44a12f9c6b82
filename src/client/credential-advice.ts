import type { SvcError } from "../errors.ts";
import { SIGN_IN_AGAIN } from "./access-token.ts";

/** What to do about a key the service does not accept. */
export const KEY_HINT =
  "The key of this device is missing, wrong or revoked. Pair it again (svc pair); calling again will not help.";

/**
 * What to do when a call failed for want of a key or a sign-in; undefined when it failed for another reason. Calling
 * again never helps then, and this is what a model has to be told.
 */
export function adviseOnCredential({ code, hint }: SvcError): string | undefined {
  if (code !== "unauthorized" && code !== "credentials_missing") return undefined;
  const isOurOwn = hint !== undefined && (code === "credentials_missing" || hint === SIGN_IN_AGAIN);
  return isOurOwn ? `${hint} Calling again will not help.` : KEY_HINT;
}
