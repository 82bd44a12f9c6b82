import { isRecord } from "../../../shared/base/json.ts";
import type { CatalogEntry } from "../catalog/catalog-entry.ts";
import type { ToolOutcome } from "../outcome.ts";
import { createUnknownOutcome, settleReply } from "../steps/outcome.ts";
import { recallOwnCall } from "../steps/own-call.ts";
import { type CallContext, type CallPlan, findPinObjection, startPlan } from "../steps/plan.ts";
import { sendKeyed } from "../steps/send/keyed.ts";
import { isUnanswered, isWithin, type JournalRecord } from "./journal-record.ts";
import { awaitSender } from "./sender.ts";

/**
 * Asks for the answer of a request that an earlier process sent under an idempotency key: it acted at most once, and
 * this request acts only if that one never arrived and everything is still as it was approved.
 */
export async function askAgain(context: CallContext, entry: CatalogEntry): Promise<ToolOutcome | undefined> {
  const { known } = context.record;
  const repeatable = known?.state === "sending" ? known.repeatable : undefined;
  if (repeatable === undefined || known === undefined) return undefined;
  const note = "the answer of this call was lost; it was asked for again under the same idempotency key";
  const plan = startPlan(context, entry, { arguments: { ...repeatable.arguments }, notes: [note] });
  const sent = await sendKeyed(context, plan, { repeatable, sentAt: known.at, isRepeat: true });
  return sent.ok ? context.record.finish(await settleReply(context, plan, sent.value)) : sent.outcome;
}

/**
 * The outcome a journal entry stands for; undefined when the call may go on. A call that another run sends is waited for,
 * unless only its question is of interest.
 */
export async function answerFromJournal(
  context: CallContext,
  entry: CatalogEntry,
  record: JournalRecord,
  isPreview = false,
): Promise<ToolOutcome | undefined> {
  const known = isPreview || !isUnanswered(record) ? record : await awaitSender(context, record);
  if (known === undefined) return undefined;
  if (isUnanswered(known)) return createUnknownOutcome(context, entry, "It was sent earlier and never answered.");
  if (known.state !== "done" || !isOutcome(known.outcome)) return undefined;
  // A runtime that keeps the human's answers gives the same one again, or wants to hear another.
  if (context.call.keepsAnswers === true && known.outcome.status === "declined") return undefined;
  const at = new Date(known.at).toISOString();
  const { own } = context;
  if (own !== undefined && known.outcome.status === "succeeded") {
    return recallOwnCall(context, own, { kept: known.outcome, at });
  }
  const note = `answered from the journal: this call already ended at ${at} and was not made again`;
  return { ...known.outcome, notes: [...known.outcome.notes, note] };
}

/**
 * The plan with an approval that was given for it before a crash. Another try of a call that may have happened is asked
 * about first, also where nobody says what the tool does; a read may be repeated.
 */
export function bindRecord(context: CallContext, plan: CallPlan): CallPlan {
  const isRepeat = !context.record.duplicates.isEmpty && plan.entry.effect !== "read";
  const approved = isRepeat ? undefined : findUnusedApproval(context, plan.entry);
  return { ...plan, approved, mustAsk: plan.mustAsk || isRepeat };
}

/**
 * Fingerprint of an approval given before a crash that was not used yet and still counts. It was given for the tool as
 * it was: one that has changed since it was pinned is asked about again.
 */
function findUnusedApproval(context: CallContext, entry: CatalogEntry): string | undefined {
  const { known } = context.record;
  if (findPinObjection(context, entry) !== undefined) return undefined;
  if (known?.state !== "approved" || known.approval === undefined) return undefined;
  const isOpen = isWithin(context.now(), known.at, Date.parse(known.approval.expiresAt));
  return isOpen ? known.approval.fingerprint : undefined;
}

function isOutcome(value: unknown): value is ToolOutcome {
  return isRecord(value) && typeof value.status === "string" && Array.isArray(value.notes);
}
