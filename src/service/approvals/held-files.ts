import { sql } from "kysely";
import type { PreparedCall } from "../executions/run-action.ts";
import type { BlobStore } from "../files/blob-store.ts";
import type { SecretBox } from "../secrets/secret-box.ts";
import { ServiceError } from "../service-error.ts";
import type { Store } from "../store/open-store.ts";
import {
  type ApprovalContent,
  findStatus,
  type HeldApproval,
  isOpen,
  readApproval,
  selectApprovals,
} from "./approval-rows.ts";

/** Bytes of files in the calls of one key or app that wait for the owner, or are about to run. */
export const MAX_HELD_BYTES = 1024 ** 3;

const MEGABYTE = 1024 ** 2;

/** Parts that keep and free the files of held calls. */
export interface HeldFilesParts {
  readonly store: Store;
  readonly box: SecretBox;
  readonly blobs: Pick<BlobStore, "remove">;
  readonly now: () => number;
}

/** Bytes of the files of a call, each file once. */
export function countBytes({ files }: Pick<ApprovalContent, "files">): number {
  const sizes = new Map(files.map(({ s3key, size }) => [s3key, size]));
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}

/** Calls with files that are kept, those that have ended by `now` apart. */
async function listFiled(store: Store, now: number) {
  const rows = await store
    .selectFrom("approvals")
    .leftJoin("executions", "executions.id", "approvals.execution_id")
    .select([
      "approvals.id",
      "approvals.api_key_id",
      "approvals.file_bytes",
      "approvals.status",
      "approvals.expires_at",
    ])
    .select("executions.finished_at as ended_at")
    // Not as a parameter: only so is it the condition of the index.
    .where("approvals.file_bytes", ">", sql.lit(0))
    .execute();
  const isKept = (row: (typeof rows)[number]) => isOpen(findStatus(row, { at: row.ended_at }, now));
  return { open: rows.filter(isKept), ended: rows.filter((row) => !isKept(row)) };
}

/**
 * Belongs to the transaction that lets a call wait.
 *
 * @throws ServiceError 429 `held_files_full` when the files of its key would take more than `MAX_HELD_BYTES`.
 */
export async function checkHeldBytes(
  store: Store,
  { apiKeyId, bytes, now }: { readonly apiKeyId: string; readonly bytes: number; readonly now: number },
): Promise<void> {
  if (bytes === 0) return;
  const { open } = await listFiled(store, now);
  const held = open.reduce((sum, row) => sum + (row.api_key_id === apiKeyId ? row.file_bytes : 0), 0);
  if (held + bytes <= MAX_HELD_BYTES) return;
  const size = (count: number) => `${Math.ceil(count / MEGABYTE).toLocaleString("en-US")} MB`;
  const message = `The files of calls that wait for the owner may take ${size(MAX_HELD_BYTES)} for each key or app: this call has ${size(bytes)}, and ${size(held)} wait already.`;
  throw new ServiceError(429, "held_files_full", message, {
    type: "rate_limit",
    retryable: true,
    retryAfterSeconds: 600,
    hint: "Stop, and tell the human. There is room again when the owner decides in the inbox, or when you withdraw a call of yours that is not wanted any more: POST /api/approvals/{id}/cancel.",
  });
}

/** Removes what was stored with a call that is not held itself: refused, or the duplicate of `held`. */
export async function dropUnheld(
  { blobs }: Pick<HeldFilesParts, "blobs">,
  { principal, stored }: Pick<PreparedCall, "stored"> & { readonly principal: { readonly accountId: string } },
  held: HeldApproval | undefined,
): Promise<void> {
  const kept = new Set(held?.content?.stored);
  for (const s3key of stored) if (!kept.has(s3key)) await blobs.remove(principal.accountId, s3key).catch(() => {});
}

/**
 * Removes the files that were stored with held calls which have ended, however they did. A file that a call only names by
 * its storage key stays as long as that key. Never rejects: what could not be removed is tried at the next look.
 */
export async function freeHeldFiles(parts: HeldFilesParts): Promise<void> {
  try {
    for (const { id } of (await listFiled(parts.store, parts.now())).ended) {
      const row = await selectApprovals(parts.store).where("approvals.id", "=", id).executeTakeFirst();
      if (row === undefined) continue;
      const { content } = readApproval(row, { box: parts.box, now: parts.now() });
      for (const s3key of content?.stored ?? []) await parts.blobs.remove(row.account_id, s3key);
      await parts.store.updateTable("approvals").set({ file_bytes: 0 }).where("id", "=", id).execute();
    }
  } catch {
    // The rows still say that there is something to remove.
  }
}
