import { isRecord } from "../../../shared/base/json.ts";
import { type AccountFailure, nameAccount } from "../call-queue.ts";
import type { ToolOutcome } from "../outcome.ts";
import type { CallContext, CallPlan } from "../steps/plan.ts";
import type { CallJournal } from "./journal.ts";
import { isUnanswered } from "./journal-record.ts";

/** The fingerprint under which the last failure on an account is kept. */
const FAILURE = "failure on an account";

/** The account of a plan, as the queue names it. */
export function nameAccountOf({ entry, connectionId }: Pick<CallPlan, "entry" | "connectionId">): string {
  return nameAccount(entry.integration, connectionId);
}

/** The last failure on an account that the journal knows of. */
export async function findFailure(journal: CallJournal, account: string): Promise<AccountFailure | undefined> {
  const found = (await journal.find({ callId: account, fingerprint: FAILURE }))?.outcome;
  const isRead = isRecord(found) && typeof found.stamp === "string" && typeof found.status === "string";
  return isRead
    ? { stamp: found.stamp as string, status: found.status as string, tool: String(found.tool) }
    : undefined;
}

/** Ends of an approved call that let what was approved behind it on the account wait again. */
const BAD_ENDS: ReadonlySet<ToolOutcome["status"]> = new Set([
  "failed",
  "unknown",
  "needs_connection",
  "needs_approval",
]);

/** Code of a call that waits again, since a call before it did not succeed. */
export const BEHIND_FAILURE = "behind_failure";

/** Takes note of how a call ended that a human or a standing permission has allowed. */
export async function noteEnd(
  { call, journal, own, record, turn }: CallContext,
  { code, status, toolName }: Pick<ToolOutcome, "code" | "status" | "toolName">,
): Promise<void> {
  const account = turn.account ?? call.asked?.account;
  const { known } = record;
  const isLost = known !== undefined && isUnanswered(known);
  const isAllowed = turn.isAllowed || call.asked !== undefined || record.marks.grantedAfter !== undefined || isLost;
  if (own !== undefined || account === undefined || !isAllowed) return;
  if (!BAD_ENDS.has(status) || code === BEHIND_FAILURE) return;
  // What somebody has changed is shown to them as it would be sent, which is no failure.
  if (status === "needs_approval" && call.asked?.isYes === false) return;
  const at = record.begunAt;
  const failure = { stamp: `${at} ${call.callId}`, tool: toolName, status };
  turn.account = account;
  turn.fail(failure);
  const key = { callId: account, fingerprint: FAILURE };
  // Of a call that is made again it is not news.
  if (((await journal.find(key))?.at ?? 0) > at) return;
  await journal.record({ ...key, state: "done", at, tool: toolName, outcome: failure });
}

const ENDS: Readonly<Record<string, string>> = {
  failed: "failed",
  unknown: "ended, and it is not known whether it took effect",
};

/** Why a call waits again, for whoever is asked and for the model. */
function explainFailure({ tool, status }: AccountFailure): string {
  return `It waits again, and was not run: a call of ${tool} before it on the same account ${ENDS[status] ?? "could not be run"}.`;
}

/**
 * Why a yes that was given to this call does not count any more: since then, a call before it on its account has not
 * succeeded. The record says then, too, after which failure the call is asked about.
 */
export async function findReasonToWait(
  context: CallContext,
  plan: CallPlan,
  isByRule: boolean,
): Promise<string | undefined> {
  const { call, journal, own, record, turn } = context;
  if (own !== undefined) return undefined;
  const account = nameAccountOf(plan);
  turn.account = account;
  const last = await findFailure(journal, account);
  if (call.keepsAnswers === "until_declined") record.marks.askedAfter = call.asked ? call.asked.after : last?.stamp;
  const after = call.asked?.after ?? record.marks.grantedAfter ?? turn.askedAfter;
  // A runtime that keeps answers has none before the journal has it.
  const mayHaveYes = after !== undefined || call.keepsAnswers !== true || isByRule;
  const failure =
    (mayHaveYes ? turn.failure : undefined) ?? (after === undefined || after === last?.stamp ? undefined : last);
  // A call that is tried again is not behind itself.
  if (failure === undefined || failure.stamp.endsWith(` ${call.callId}`)) return undefined;
  record.marks.askedAfter = failure.stamp;
  return explainFailure(failure);
}
