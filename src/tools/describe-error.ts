import type { SvcError } from "../errors.ts";
import type { OutcomeDetails } from "./outcome.ts";
import { cleanText } from "./safe-text.ts";

const REPAIR =
  "The key of this device is missing, wrong or revoked. Pair it again (svc pair); calling again will not help.";

/** A thrown failure as the details of an outcome. */
export function describeSvcError(error: SvcError): OutcomeDetails {
  const isKeyProblem = error.code === "unauthorized" || error.code === "credentials_missing";
  return {
    code: error.serviceCode ?? error.code,
    message: cleanText(error.message),
    hint: isKeyProblem ? REPAIR : error.hint === undefined ? undefined : cleanText(error.hint),
    retryable: isKeyProblem ? false : error.retryable,
    retryAfterMs: error.retryAfterMs,
    nextAction: error.nextAction,
  };
}

/** What to do about a key the service does not accept. */
export const KEY_HINT = REPAIR;
