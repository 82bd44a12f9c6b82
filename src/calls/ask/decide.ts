import { z } from "zod";
import { jsonObject } from "../journal/json-object.ts";
import type { ApprovalDecision, ApprovalRequest } from "./request.ts";

const binding = { id: z.string(), fingerprint: z.string() };
const decisionSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("approve"), ...binding, always: z.boolean().optional() }),
  z.object({ type: z.literal("edit"), ...binding, arguments: jsonObject }),
  z.object({ type: z.literal("decline"), ...binding, message: z.string().optional() }),
]);

/** Why a decision does not count. */
type RefusalReason = "malformed" | "wrong_id" | "wrong_fingerprint" | "replayed" | "expired";

/** Result of {@link decide}. */
export type Verdict =
  | { readonly accepted: true; readonly decision: ApprovalDecision }
  | { readonly accepted: false; readonly reason: RefusalReason; readonly message: string };

/** Ids of requests that already had their decision, with the time (ms) after which they may be forgotten. */
export type SpentRequests = Map<string, number>;

/**
 * Judges an answer to `request`: it counts only for the same id and fingerprint, once, before expiry.
 * Whatever an approver returned may be passed; anything that is not a decision is `malformed`. An accepted decision is
 * entered in `spent`. An accepted edit is not yet permission to send: the caller checks the new arguments and asks
 * again with a new fingerprint unless they pass unchanged, character for character as the human typed them, with the
 * same files on the same connection.
 */
export function decide(
  request: ApprovalRequest,
  answer: unknown,
  options: { readonly now: number; readonly spent: SpentRequests },
): Verdict {
  const parsed = decisionSchema.safeParse(answer);
  if (!parsed.success) return refuse("malformed", "The answer is not a decision.");
  const decision: ApprovalDecision = parsed.data;
  if (decision.id !== request.id) return refuse("wrong_id", "The answer belongs to another request.");
  if (decision.fingerprint !== request.fingerprint) {
    return refuse("wrong_fingerprint", "The answer was given for other arguments, files or another account.");
  }
  if (options.spent.has(request.id)) return refuse("replayed", "The answer was already used.");
  const expiresAt = Date.parse(request.expiresAt);
  if (!(options.now < expiresAt)) return refuse("expired", "The answer came after the request had expired.");
  forgetExpired(options.spent, options.now);
  options.spent.set(request.id, expiresAt);
  return { accepted: true, decision };
}

/** Looks from the oldest to the first that still counts, so that many open ones cost nothing. */
function forgetExpired(spent: SpentRequests, now: number): void {
  for (const [id, until] of spent) {
    if (until > now) return;
    spent.delete(id);
  }
}

function refuse(reason: RefusalReason, message: string): Verdict {
  return { accepted: false, reason, message };
}
