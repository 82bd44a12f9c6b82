import { isDeepStrictEqual } from "node:util";
import { levelOf } from "../catalog/catalog-entry.ts";
import { createFileAccess } from "../executions/resolve-files.ts";
import type { PreparedCall } from "../executions/run-action.ts";
import { findFileFields, findUrlFields } from "../files/file-fields.ts";
import { ServiceError } from "../service-error.ts";
import { type ApprovalContent, type HeldApproval, placeOf, readApproval, selectApprovals } from "./approval-rows.ts";
import type { ShownCall } from "./decide-call.ts";
import { describeCall, digestTool, fingerprintCall, fingerprintShown } from "./hold-call.ts";
import type { RunParts } from "./run-approved.ts";

/** Other arguments for a call that waits. */
export interface Edit {
  /** As the person wrote them; must turn out to be an object. */
  readonly args: unknown;
  /** The signed-in browser, which must have opened the call, and the name of its person. */
  readonly browser: string;
  readonly by: string;
}

/** The call after an edit. */
export interface Edited {
  readonly fingerprint: string;
  /** True where a check changed what the person wrote: it has to be looked at once more. */
  readonly isChanged: boolean;
}

/**
 * Gives a call that waits other arguments, which pass every check that a new call passes. It keeps its id, its place and its
 * files, and gets a new fingerprint: only the browser that wrote them has seen them.
 *
 * @returns undefined for a call that is not as it was shown any more, or that this browser has not opened.
 * @throws ServiceError the refusal of these arguments; nothing is changed then.
 */
export async function editCall(
  parts: RunParts,
  accountId: string,
  shown: ShownCall,
  { args, browser, by }: Edit,
): Promise<Edited | undefined> {
  const { store, box } = parts;
  const approval = await findShown(parts, accountId, shown, browser);
  if (approval?.content === undefined) return undefined;
  const prepared = await checkEdit(parts, approval, args);
  const principal = { accountId, apiKeyId: approval.apiKeyId };
  const callFingerprint = fingerprintCall({ ...prepared, principal });
  const fingerprint = fingerprintShown(callFingerprint, prepared);
  const level = levelOf(prepared.entry);
  // What does more than it did, such as overwriting, is shown before it is approved.
  const isChanged = level !== approval.level || !isDeepStrictEqual(prepared.args, args);
  const asked = approval.content.asked ?? approval.content.arguments;
  const content: ApprovalContent = { ...describeCall(prepared), stored: approval.content.stored, asked };
  const isDone = await store.transaction().execute(async (db) => {
    const { numUpdatedRows } = await db
      .updateTable("approvals")
      .set({ content: box.seal(JSON.stringify(content), placeOf(shown.id)), fingerprint, edited_by: by, level })
      .set((e) => ({
        call_fingerprint: callFingerprint,
        asked_fingerprint: e.fn.coalesce("asked_fingerprint", "call_fingerprint"),
      }))
      .where("id", "=", shown.id)
      .where("fingerprint", "=", shown.fingerprint)
      .where("status", "=", "pending")
      .where("expires_at", ">", new Date(parts.now()).toISOString())
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return false;
    await db.deleteFrom("opened_approvals").where("approval_id", "=", shown.id).execute();
    const mark = { browser, approval_id: shown.id, fingerprint, expires_at: approval.expiresAt };
    if (!isChanged) await db.insertInto("opened_approvals").values(mark).execute();
    return true;
  });
  return isDone ? { fingerprint, isChanged } : undefined;
}

async function findShown(
  { store, box, now }: RunParts,
  accountId: string,
  { id, fingerprint }: ShownCall,
  browser: string,
): Promise<HeldApproval | undefined> {
  const row = await selectApprovals(store)
    .innerJoin("opened_approvals", (join) =>
      join
        .onRef("opened_approvals.approval_id", "=", "approvals.id")
        .onRef("opened_approvals.fingerprint", "=", "approvals.fingerprint")
        .on("opened_approvals.browser", "=", browser),
    )
    .where("approvals.id", "=", id)
    .where("approvals.account_id", "=", accountId)
    .where("approvals.fingerprint", "=", fingerprint)
    .executeTakeFirst();
  const approval = row && readApproval(row, { box, now: now() });
  return approval?.status === "pending" ? approval : undefined;
}

/** A call that waits or waited, with these arguments, as it would run now. Throws ServiceError where it would be refused. */
export async function checkEdit(parts: RunParts, approval: HeldApproval, args: unknown): Promise<PreparedCall> {
  const { accountId, apiKeyId, toolName, connectionId, content, row } = approval;
  const { describeFiles, resolveFiles } = createFileAccess(parts, { account: accountId, toolName });
  const known = new Set(content?.files.map(({ s3key }) => s3key));
  return parts.executor.check({
    principal: { accountId, apiKeyId },
    toolName,
    connectionId,
    arguments: args,
    clientGone: new AbortController().signal,
    describeFiles,
    async resolveFiles(entry, checked, signal) {
      if (digestTool(entry) !== row.tool_digest) throw changed("The action changed after the request was made.");
      const { inputSchema } = entry.action;
      const references = [
        ...findFileFields(inputSchema, checked).map(({ value }) => String(value.s3key)),
        ...findUrlFields(inputSchema, checked).map(({ reference }) => reference),
      ];
      if (!references.every((s3key) => known.has(s3key))) {
        throw changed("The files of a call stay as they are: one can be left out, and none put in.");
      }
      const resolved = await resolveFiles(entry, checked, signal);
      const isSame = ({ s3key, sha256 }: ApprovalContent["files"][number]) =>
        !references.includes(s3key) || resolved.file(s3key).sha256 === sha256;
      if (content?.files.every(isSame) !== true) throw changed("A file changed after the request was made.");
      return resolved;
    },
  });
}

function changed(message: string): ServiceError {
  return new ServiceError(400, "invalid_arguments", message, { type: "validation" });
}
