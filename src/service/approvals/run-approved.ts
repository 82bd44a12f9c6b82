import { finished } from "node:stream/promises";
import { STATE_CHANGED } from "../../apps/port/preview.ts";
import { EXACT, toPlainText } from "../../shared/card/plain-text.ts";
import type { Access } from "../access/access-view.ts";
import { hasLostAccess } from "../auth/live-caller.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Executor } from "../executions/execute-tool.ts";
import type { ExecutionLog } from "../executions/execution-log.ts";
import type { IdempotencyKeys } from "../executions/idempotency-keys.ts";
import { createFileAccess, type FileAccessParts } from "../executions/resolve-files.ts";
import type { SecretBox } from "../secrets/secret-box.ts";
import { ServiceError, type ServiceLog } from "../service-error.ts";
import type { Store } from "../store/open-store.ts";
import { sendBack, takeLead } from "./approval-queue.ts";
import { type HeldApproval, readApproval, selectApprovals } from "./approval-rows.ts";
import { findRunState } from "./follow-own-changes.ts";
import { digestConnection, digestTool, type OnWaiting } from "./hold-call.ts";

/** Parts that run approved calls. */
export interface RunParts extends FileAccessParts {
  readonly store: Store;
  readonly box: SecretBox;
  readonly access: Access;
  readonly catalog: Catalog;
  readonly executor: Executor;
  readonly executionLog: Pick<ExecutionLog, "find" | "refuse">;
  readonly idempotencyKeys: IdempotencyKeys;
  readonly onWaiting: OnWaiting;
  readonly now: () => number;
  readonly log: ServiceLog;
  readonly checkEveryMs: number;
}

/** Code of a call that another process has started. */
const TAKEN = "approval_taken";
/** Code of a call that is not run because something changed. */
const VOID = "approval_void";

const CHANGED = "What it acts on was changed after this was asked.";

/**
 * Runs an approved call to its end, unless it is its turn no more. The start of the execution and the end of the approval are
 * one transaction, so that a call starts once however many processes try.
 *
 * @returns false when it may start later, or another process is at work on its queue.
 */
export async function runStored(parts: RunParts, id: string): Promise<boolean> {
  const row = await selectApprovals(parts.store).where("approvals.id", "=", id).executeTakeFirst();
  if (row?.status !== "approved") return true;
  const approval = readApproval(row, { box: parts.box, now: parts.now() });
  const error = await execute(parts, approval);
  if (error === undefined) return true;
  if (error.code === TAKEN || isTransient(error)) return false;
  // Its start is in the log already, where the app itself found another state than was shown.
  const was = error.code === STATE_CHANGED ? "running" : "approved";
  await parts.store.transaction().execute(async (transaction) => {
    const changed = await transaction
      .updateTable("approvals")
      .set({ status: "void", queue: null, reason: error.message })
      .where("id", "=", id)
      .where("status", "=", was)
      .executeTakeFirst();
    if (changed.numUpdatedRows === 0n) return;
    if (was === "approved") await logNotRun(parts, transaction, { ...approval, reason: error.message });
    await sendBack(parts, transaction, { row, end: "not_run" });
  });
  parts.onWaiting.wake();
  return true;
}

/** Writes a decided call that did not run into the log: declined, or void for a `reason`. */
export async function logNotRun(
  { catalog, executionLog }: Pick<RunParts, "catalog" | "executionLog">,
  transaction: Store,
  { id, accountId, apiKeyId, toolName, connectionId, level, status, reason, content, row }: HeldApproval,
): Promise<void> {
  const action = { id: catalog.find(toolName)?.action.id ?? toolName, level };
  const entry = { toolName, integration: { slug: row.integration }, action };
  const call = { principal: { accountId, apiKeyId }, entry, connectionId, arguments: content?.arguments };
  const why = reason === null ? "" : ` Reason: ${reason}`;
  const error =
    status === "declined"
      ? new ServiceError(409, "approval_declined", `The owner declined this call; it was not run.${why}`)
      : refuseVoid(reason ?? "");
  const { id: executionId } = await executionLog.refuse(call, error, transaction);
  await transaction.updateTable("approvals").set({ execution_id: executionId }).where("id", "=", id).execute();
}

/** The refusal of a call that did not start; undefined once it has started, however it ends. */
async function execute(parts: RunParts, approval: HeldApproval): Promise<ServiceError | undefined> {
  const { accountId, apiKeyId, toolName, connectionId, content, decidedBy, editedBy, row } = approval;
  if (content === undefined) return refuseVoid("The call cannot be decrypted: the key of the service was replaced.");
  if (Date.parse(approval.expiresAt) <= parts.now()) return refuseVoid("The approval expired before the call started.");
  const refusal = await refuseNarrowed(parts, approval);
  if (refusal !== undefined) return refusal;
  const files = createFileAccess(parts, { account: accountId, toolName });
  const outcome = await parts.executor.execute({
    principal: { accountId, apiKeyId },
    toolName,
    arguments: content.arguments,
    connectionId,
    confirmed: true,
    // What is there now may have changed: it does no more than the owner was shown.
    confirmedLevel: approval.level,
    previewState: await findRunState(parts, approval),
    agreedAt: approval.decidedAt ?? undefined,
    permission: {
      by: "person",
      name: decidedBy ?? "",
      approval: approval.id,
      ...(editedBy !== null && { editedBy }),
      ...(content.preview !== undefined && { says: toPlainText(content.preview.summary, EXACT) }),
    },
    findHold: undefined,
    // The caller waits elsewhere, if at all.
    clientGone: new AbortController().signal,
    keepFile: files.keepFile,
    describeFiles: files.describeFiles,
    async resolveFiles(entry, args, signal) {
      if (digestTool(entry) !== row.tool_digest) throw refuseVoid("The action changed after the request was made.");
      const resolved = await files.resolveFiles(entry, args, signal);
      const isSame = content.files.every(({ s3key, sha256 }) => resolved.file(s3key).sha256 === sha256);
      if (!isSame) throw refuseVoid("A file changed after the request was made.");
      // Read once before the app hears of the call: not even a part of other bytes reaches it.
      for (const { s3key } of content.files) await finished(resolved.file(s3key).open().resume());
      return resolved;
    },
    onStart: (transaction, executionId) => claim(parts, transaction, { approval, executionId }),
  });
  if (outcome.status === "blocked" && outcome.isStale) {
    const { idempotency_key: key } = row;
    if (key !== null) await parts.idempotencyKeys.free({ accountId, key });
    return new ServiceError(412, STATE_CHANGED, CHANGED);
  }
  if (outcome.status !== "blocked" || outcome.error?.code !== "confirmation_required")
    return outcome.status === "blocked" ? outcome.error : undefined;
  return refuseVoid(`What it acts on has changed, so that it does more than was approved. ${outcome.error.message}`);
}

/** The refusal of a call that its key could ask for, and may not make any more. */
async function refuseNarrowed(parts: RunParts, approval: HeldApproval): Promise<ServiceError | undefined> {
  const { toolName, connectionId, row } = approval;
  try {
    const { catalog, connections, isLimited } = await parts.access.view(approval);
    if (!isLimited) return undefined;
    const isAllowed = catalog.find(toolName) !== undefined;
    const accounts = await connections.list(row.integration);
    if (isAllowed && accounts.some(({ id }) => id === connectionId)) return undefined;
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  return refuseVoid("The key or app that asked may not use this tool or account any more.");
}

/** Belongs to the start of the execution: both happen, or neither. */
async function claim(
  { idempotencyKeys, now }: RunParts,
  transaction: Store,
  { approval, executionId }: { approval: HeldApproval; executionId: string },
): Promise<void> {
  const { accountId, apiKeyId, connectionId, row } = approval;
  if (!(await takeLead(transaction, row, executionId))) {
    throw new ServiceError(409, TAKEN, "Another process has started this call, or one before it.");
  }
  if ((await digestConnection(transaction, connectionId)) !== row.connection_digest) {
    throw refuseVoid("The account was changed after the request was made.");
  }
  if (await hasLostAccess(transaction, apiKeyId, new Date(now()).toISOString()))
    throw refuseVoid("The key or app that asked has lost its access.");
  if (Date.parse(approval.expiresAt) <= now()) throw refuseVoid("The approval expired before the call started.");
  if (row.idempotency_key === null) return;
  const use = { accountId, key: row.idempotency_key, inputHash: row.input_hash ?? "" };
  await idempotencyKeys.claim(transaction, use, executionId);
}

/** The same call may start later. */
function isTransient({ status }: ServiceError): boolean {
  return status === 503 || status === 429;
}

function refuseVoid(message: string): ServiceError {
  return new ServiceError(409, VOID, message);
}
