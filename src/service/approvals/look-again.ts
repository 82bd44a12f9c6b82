import { isRecord } from "../../shared/base/json.ts";
import { ServiceError } from "../service-error.ts";
import { readApproval, selectApprovals } from "./approval-rows.ts";
import { checkEdit } from "./edit-call.ts";
import { type HoldParts, holdCall } from "./hold-call.ts";
import type { RunParts } from "./run-approved.ts";

/**
 * Asks once more about a call that was not run because what it acts on was changed: it waits as a new one, as it would run now.
 *
 * @returns the id of that approval; undefined for a call that did not end so.
 * @throws ServiceError the refusal of a call that cannot run any more.
 */
export async function lookAgain(
  parts: RunParts & Pick<HoldParts, "urlOf">,
  accountId: string,
  id: string,
): Promise<string | undefined> {
  const row = await selectApprovals(parts.store)
    .where("approvals.id", "=", id)
    .where("approvals.account_id", "=", accountId)
    .where("approvals.status", "=", "void")
    .executeTakeFirst();
  const approval = row && readApproval(row, { box: parts.box, now: parts.now() });
  if (approval?.content === undefined) return undefined;
  const { apiKeyId, content } = approval;
  const call = await checkEdit(parts, approval, content.arguments);
  const { shape } = approval.row;
  const { extra } = (await holdCall(parts, { ...call, principal: { accountId, apiKeyId }, shape })).options;
  if (isRecord(extra?.approval)) return String(extra.approval.id);
  throw new ServiceError(409, "conflict", "This call cannot wait once more.");
}
