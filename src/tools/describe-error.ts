import { adviseOnCredential } from "../client/credential-advice.ts";
import type { SvcError } from "../errors.ts";
import type { OutcomeDetails } from "./outcome.ts";
import { cleanText, limitAction } from "./safe-text.ts";

/** A thrown failure as the details of an outcome. */
export function describeSvcError(error: SvcError): OutcomeDetails {
  const advice = adviseOnCredential(error);
  const hint = advice ?? error.hint;
  return {
    code: cleanText(error.serviceCode ?? error.code, 80),
    message: cleanText(error.message),
    hint: hint === undefined ? undefined : cleanText(hint),
    retryable: advice === undefined && error.retryable,
    retryAfterMs: error.retryAfterMs,
    nextAction: limitAction(error.nextAction),
  };
}
