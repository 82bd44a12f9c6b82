import { z } from "zod";

/** Statuses of an approval that the service holds. The first three are open, all others are final. */
export const APPROVAL_STATUSES = [
  "pending",
  "approved",
  "running",
  "done",
  "declined",
  "cancelled",
  "expired",
  "void",
] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];

/** Header by which a held call is recognised when it is sent again, also after its end; 1 to 200 characters. */
export const HOLD_KEY = "idempotency-key";

/** Longest wait of `GET /api/approvals/{id}`, in seconds. */
export const MAX_APPROVAL_WAIT_SECONDS = 30;

/** An approval that the service holds, as the key that asked sees it. Ours: not in the document. */
export const approvalSchema = z.looseObject({
  id: z.string(),
  status: z.string(),
  /** Page on which the owner decides. */
  url: z.string(),
  requestedAt: z.string().nullish(),
  expiresAt: z.string().nullish(),
  decidedAt: z.string().nullish(),
  /** The owner's reason, or the reason why it is void. */
  reason: z.string().nullish(),
  /** The arguments that run in place of those that were asked for, after a person has edited the call. */
  editedArguments: z.record(z.string(), z.unknown()).nullish(),
});
export type Approval = z.infer<typeof approvalSchema>;

/** `result` is the body that the execute endpoint would have answered with; null before the end, and after seven days. */
export const approvalReplySchema = z.looseObject({ approval: approvalSchema, result: z.unknown() });
/** Answer of `GET /api/approvals`. Ours: not in the document. */
export const approvalListSchema = z.looseObject({ approvals: z.array(approvalSchema) });
