import { adviseOnCredential } from "../../client/failure.ts";
import type { SvcError } from "../../errors.ts";
import type { OutcomeDetails } from "../outcome.ts";
import { cleanText, limitAction } from "../safe-text.ts";

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

/**
 * What is told of a failure on this machine, such as a full disk under the journal: its code at most, since its text may
 * hold a path. SQLite has a fixed sentence for each of its codes.
 */
export function describeBreakdown(error: unknown): { code: string; message: string; hint: string; retryable: boolean } {
  const { code = "unexpected", errstr = code } = Object(error) as { code?: unknown; errstr?: unknown };
  return {
    code: "internal",
    message: `The call could not be carried out on this machine (${String(errstr)}).`,
    hint: "Tell the user; check the disk and the state folder.",
    retryable: false,
  };
}
