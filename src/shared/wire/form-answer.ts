/**
 * Quickest answer of a person to a form that they first have to see, in milliseconds: reacting to a light takes some 250, and
 * reading one line and choosing a button more than as much again. Programs that answer for their human take a few.
 */
export const QUICKEST_PERSON_MS = 500;

/** `nobody`: no person can have given this answer, so the question is still open. */
export type FormVerdict = "approved" | "declined" | "nobody";

/**
 * Reads the answer to a form with the one required field `approve`, from a client that may answer without showing it. A yes
 * without the field is none, and a no that came sooner than a person can read is the client's.
 *
 * @param tookMs from the question to the answer
 */
export function readFormAnswer(
  { action, content }: { readonly action?: unknown; readonly content?: unknown },
  tookMs: number,
): FormVerdict {
  const chosen =
    action === "accept" ? readChoice(content) : action === "decline" || action === "cancel" ? false : undefined;
  if (chosen === undefined) return "nobody";
  if (chosen) return "approved";
  return tookMs >= QUICKEST_PERSON_MS ? "declined" : "nobody";
}

function readChoice(content: unknown): boolean | undefined {
  if (typeof content !== "object" || content === null || !("approve" in content)) return undefined;
  return typeof content.approve === "boolean" ? content.approve : undefined;
}
