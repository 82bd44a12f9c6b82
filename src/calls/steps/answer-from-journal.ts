import { isRecord } from "../../base/json.ts";
import type { CatalogEntry } from "../catalog/catalog-entry.ts";
import { explainUnanswered, isUnanswered, isWithin } from "../journal/journal-record.ts";
import type { ToolOutcome } from "../outcome.ts";
import type { CallPlan, Pipeline, ToolCall } from "../pipeline.ts";
import type { CallRecord } from "./call-record.ts";
import { createUnknownOutcome } from "./describe-failure.ts";
import { recallOwnCall } from "./own-call.ts";
import { findPinObjection } from "./plan-call.ts";

/** The outcome a journal entry stands for; undefined when the call may go on. */
export async function answerFromJournal(
  pipeline: Pipeline,
  call: ToolCall,
  entry: CatalogEntry,
  record: CallRecord,
  known = record.known,
): Promise<ToolOutcome | undefined> {
  if (known === undefined) return undefined;
  if (isUnanswered(known)) return createUnknownOutcome(pipeline, entry, explainUnanswered(known));
  if (known.state !== "done" || !isOutcome(known.outcome)) return undefined;
  // A runtime that keeps the human's answers gives the same one again, or wants to hear another.
  if (call.keepsAnswers === true && known.outcome.status === "declined") return undefined;
  const at = new Date(known.at).toISOString();
  const isFollowed = entry.own !== undefined && known.outcome.status === "succeeded";
  if (isFollowed) return recallOwnCall(entry.own, record, { kept: known.outcome, at });
  const note = `answered from the journal: this call already ended at ${at} and was not made again`;
  return { ...known.outcome, notes: [...known.outcome.notes, note] };
}

/**
 * The plan with an approval that was given for it before a crash. Another try of a call that may have happened is asked
 * about first, also where nobody says what the tool does; a read may be repeated.
 */
export function bindRecord(pipeline: Pipeline, plan: CallPlan, record: CallRecord): CallPlan {
  const isRepeat = !record.doubts.isEmpty && plan.entry.effect !== "read";
  return {
    ...plan,
    approved: isRepeat ? undefined : findUnusedApproval(pipeline, plan.entry, record),
    mustAsk: plan.mustAsk || isRepeat,
  };
}

/**
 * Fingerprint of an approval given before a crash that was not used yet and still counts. It was given for the tool as
 * it was: one that is not as it was pinned is asked about again.
 */
function findUnusedApproval(pipeline: Pipeline, entry: CatalogEntry, record: CallRecord): string | undefined {
  const { known } = record;
  if (findPinObjection(pipeline, entry) !== undefined) return undefined;
  if (known?.state !== "approved" || known.approval === undefined) return undefined;
  const isOpen = isWithin(pipeline.now(), known.at, Date.parse(known.approval.expiresAt));
  return isOpen ? known.approval.fingerprint : undefined;
}

function isOutcome(value: unknown): value is ToolOutcome {
  return isRecord(value) && typeof value.status === "string" && Array.isArray(value.notes);
}
