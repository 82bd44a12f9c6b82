import type { ExpressionBuilder } from "kysely";
import { z } from "zod";
import { STATE_CHANGED } from "../../apps/port/preview.ts";
import { parseExactly } from "../../shared/base/exact-number.ts";
import type { ApprovalStatus } from "../../shared/wire/approval.ts";
import type { SideEffectLevel } from "../../shared/wire/catalog.ts";
import { previewOfRefusalSchema } from "../../shared/wire/preview.ts";
import { restoreError } from "../executions/outcome.ts";
import type { SecretBox } from "../secrets/secret-box.ts";
import type { ServiceError } from "../service-error.ts";
import type { Store } from "../store/open-store.ts";
import type { ApprovalRow, Tables } from "../store/schema.ts";

/** A file of a held call: the bytes are in the store under `s3key`. */
const fileSchema = z.object({
  /** As a caller writes it: `file`, `attachments[0]`. */
  field: z.string(),
  s3key: z.string(),
  name: z.string(),
  mimetype: z.string(),
  size: z.number(),
  sha256: z.string(),
});

/** The call as the owner sees it and as it runs. */
const contentSchema = z.object({
  arguments: z.record(z.string(), z.unknown()),
  /** The arguments as they were asked, of a call that a person has edited. */
  asked: z.record(z.string(), z.unknown()).optional(),
  files: z.array(fileSchema),
  /** Storage keys of what was stored with the call itself, and so goes with it. */
  stored: z.array(z.string()).default([]),
  app: z.string(),
  title: z.string(),
  description: z.string(),
  account: z.string(),
  /** What the call does beyond what its action says, in words that follow "it". */
  does: z.string().optional(),
  policyReason: z.string().optional(),
  /** What it would do to what was there when it was asked, which is all it may do. */
  preview: previewOfRefusalSchema,
  /** True where the present state could not be read. */
  previewFailed: z.boolean().optional(),
  askBefore: z.array(z.string()),
});
export type ApprovalContent = z.output<typeof contentSchema>;

/** A held call with its state. */
export interface HeldApproval {
  readonly id: string;
  readonly accountId: string;
  /** The key, or the OAuth client, that asked. */
  readonly apiKeyId: string;
  readonly toolName: string;
  readonly connectionId: string;
  readonly level: SideEffectLevel;
  readonly status: ApprovalStatus;
  /** Of all that the owner decides about; see `fingerprintShown`. */
  readonly fingerprint: string;
  readonly requestedAt: string;
  readonly expiresAt: string;
  readonly decidedAt: string | null;
  readonly decidedBy: string | null;
  /** The owner's reason, or the reason why it is void, or why it waits again. */
  readonly reason: string | null;
  /** Person who edited it; null while it is as it was asked. */
  readonly editedBy: string | null;
  readonly executionId: string | null;
  /** Why its execution did not succeed. */
  readonly failure: ServiceError | undefined;
  readonly row: ApprovalRow;
  /** Undefined when the key that it was encrypted with is lost. */
  readonly content: ApprovalContent | undefined;
}

/** Where the content of an approval is sealed. */
export function placeOf(id: string): string {
  return `approvals.${id}`;
}

/** Rows of approvals with the end of their executions. */
export function selectApprovals(store: Store) {
  return store
    .selectFrom("approvals")
    .leftJoin("executions", "executions.id", "approvals.execution_id")
    .selectAll("approvals")
    .select(["executions.finished_at as ended_at", "executions.error as ended_with"]);
}

/** How long the owner may take, in milliseconds. */
export const LIFETIME_MS = 24 * 60 * 60 * 1000;

/** Condition of the rows that wait for the owner at a time (ISO 8601). */
export function waitsAt(time: string) {
  // Follows from the lifetime: expired rows, which stay pending, are not even looked at.
  const oldest = new Date(Date.parse(time) - LIFETIME_MS).toISOString();
  return (e: ExpressionBuilder<Tables, "approvals">) =>
    e.and([
      e("approvals.status", "=", "pending"),
      e("approvals.requested_at", ">", oldest),
      e("approvals.expires_at", ">", time),
    ]);
}

/** How many calls of an account wait for the owner at a time (ISO 8601). */
export async function countWaiting(store: Store, accountId: string, time: string): Promise<number> {
  const { count } = await store
    .selectFrom("approvals")
    .select((e) => e.fn.countAll<number | string>().as("count"))
    .where("account_id", "=", accountId)
    .where(waitsAt(time))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Reads a row as it stands at `now` (milliseconds since the epoch). */
export function readApproval(
  row: ApprovalRow & { readonly ended_at: string | null; readonly ended_with: string | null },
  { box, now }: { box: SecretBox; now: number },
): HeldApproval {
  const { ended_at: endedAt, ended_with: error, ...own } = row;
  const failure = error === null ? undefined : restoreError(error);
  const opened = box.open(row.content, placeOf(row.id));
  return {
    id: row.id,
    accountId: row.account_id,
    apiKeyId: row.api_key_id,
    toolName: row.tool_name,
    connectionId: row.connection_id,
    level: row.level,
    status: findStatus(own, { at: endedAt, failure }, now),
    fingerprint: row.fingerprint,
    requestedAt: row.requested_at,
    expiresAt: row.expires_at,
    decidedAt: row.decided_at,
    decidedBy: row.decided_by,
    reason: row.reason ?? (failure?.code === STATE_CHANGED ? failure.message : null),
    editedBy: row.edited_by,
    executionId: row.execution_id,
    failure,
    row: own,
    content: opened === undefined ? undefined : contentSchema.parse(parseExactly(opened)),
  };
}

/** True while it is not known how the call ends. */
export function isOpen(status: ApprovalStatus): boolean {
  return status === "pending" || status === "approved" || status === "running";
}

/** The status at `now`, with the end of its execution (ISO 8601, null while it runs). */
export function findStatus(
  { status, expires_at }: Pick<ApprovalRow, "status" | "expires_at">,
  end: { readonly at: string | null; readonly failure?: ServiceError | undefined },
  now: number,
): ApprovalStatus {
  // The app found another state than was shown: nothing was done, which its row is about to say.
  if (status === "running" && end.failure?.code === STATE_CHANGED) return "void";
  if (status === "running") return end.at === null ? "running" : "done";
  return status === "pending" && Date.parse(expires_at) <= now ? "expired" : status;
}
