import type { IdempotencyKeys } from "../executions/idempotency-keys.ts";
import type { Store } from "../store/open-store.ts";
import { findDuplicate, fingerprintCall, type HeldCall, type HoldParts, refuseHeld } from "./hold-call.ts";

/**
 * Makes the start of a call that a rule allows the start of the same call that waits, which so runs once and has its result.
 *
 * @throws ServiceError 412 `confirmation_required` with the approval, when that call is under way already, or has run under the
 *   key of this one.
 */
export async function releaseHeld(
  parts: HoldParts & { readonly idempotencyKeys: Pick<IdempotencyKeys, "claim"> },
  transaction: Store,
  { call, executionId }: { readonly call: HeldCall; readonly executionId: string },
): Promise<void> {
  const held = await findDuplicate(transaction, parts, { call, fingerprint: fingerprintCall(call) });
  if (held === undefined) return;
  const { id, accountId, status, row } = held;
  if (status === "approved" || status === "running" || status === "done") throw refuseHeld(held, parts);
  if (status !== "pending") return;
  const by = call.entry.rule === undefined ? "a rule" : `the rule ${call.entry.rule.text}`;
  const { numUpdatedRows } = await transaction
    .updateTable("approvals")
    .set({ status: "running", execution_id: executionId, decided_at: new Date(parts.now()).toISOString() })
    .set({ decided_by: by, reason: null, behind: null })
    .where("id", "=", id)
    .where("status", "=", "pending")
    .executeTakeFirst();
  if (numUpdatedRows === 0n) throw refuseHeld(held, parts);
  const key = row.idempotency_key;
  // The canonical endpoint takes its own key by itself.
  if (key === null || (call.shape === "summary" && call.idempotency_key === key)) return;
  await parts.idempotencyKeys.claim(transaction, { accountId, key, inputHash: row.input_hash ?? "" }, executionId);
}
