import { createFingerprint } from "../approvals/fingerprint.ts";
import type { CallJournal } from "../approvals/journal.ts";
import {
  hasLeft,
  isUnanswered,
  isWithin,
  type JournalKey,
  type JournalRecord,
  type JournalState,
} from "../approvals/journal-record.ts";
import type { ApprovalRequest } from "../approvals/request.ts";
import { isRecord } from "../schema/json-schema.ts";
import type { CatalogEntry } from "./catalog-entry.ts";
import { findGivenConnection } from "./choose-connection.ts";
import { createOutcome, type ToolOutcome } from "./outcome.ts";
import type { CallPlan, Pipeline, ToolCall } from "./pipeline.ts";
import { findPinObjection } from "./plan-call.ts";
import { retireKey } from "./send-keyed.ts";

/** What the journal knows and is told about one call. Plain reads are never saved. */
export interface CallRecord {
  readonly key: JournalKey;
  readonly known: JournalRecord | undefined;
  /** An equal call under another id that was sent and never answered. */
  readonly earlierUnanswered: JournalRecord | undefined;
  /** Durable once it resolves; nothing may be sent before. Throws when it cannot be written. */
  save(state: JournalState, change?: RecordChange): Promise<void>;
  /** Records how the call ended. */
  finish(outcome: ToolOutcome): Promise<ToolOutcome>;
}

/** What a new state brings along. */
interface RecordChange {
  /** What a human is asked. */
  readonly request?: ApprovalRequest | undefined;
  /** Fingerprint that was agreed to; another one than the request's after an edit. */
  readonly approved?: string | undefined;
  readonly repeatable?: JournalRecord["repeatable"];
}

/** The key of a call: what the caller asked for, not what became of it on the way. */
export function createCallKey(
  pipeline: Pipeline,
  call: ToolCall,
  subject: { readonly entry: CatalogEntry; readonly args: Record<string, unknown> },
): JournalKey {
  const { entry, args } = subject;
  const { principal } = pipeline.client;
  const connection = findGivenConnection(call, entry);
  const fingerprint = createFingerprint({ tool: entry.name, arguments: args, connection, files: [], principal });
  return { callId: call.callId, fingerprint };
}

/** Opens the record of a call in the journal its runtime brought along, else in the session's. */
export async function openCallRecord(
  pipeline: Pipeline,
  call: ToolCall,
  entry: CatalogEntry,
  key: JournalKey,
): Promise<CallRecord> {
  const journal: CallJournal = call.journal ?? pipeline.journal;
  // Plain reads are never in it.
  if (entry.effect !== "read" || entry.needsConfirmation === true) await journal.refresh?.();
  let last: JournalRecord | undefined = await journal.find(key);
  const known = last;
  const isNew = known === undefined || !hasLeft(known);
  const earlier = isNew ? await journal.findUnanswered(key.fingerprint) : undefined;
  return {
    key,
    known,
    earlierUnanswered: earlier,
    async save(state, { request, approved, repeatable } = {}) {
      const asked = request ?? last?.approval;
      const approval = asked && {
        id: asked.id,
        fingerprint: approved ?? asked.fingerprint,
        expiresAt: asked.expiresAt,
      };
      last = {
        ...key,
        state,
        at: pipeline.now(),
        tool: entry.name,
        ...(approval === undefined ? {} : { approval }),
        ...(repeatable === undefined ? {} : { repeatable }),
      };
      await journal.record(last);
    },
    async finish(outcome) {
      if (last === undefined || outcome.status === "unknown") return outcome;
      const comesAgain = mayComeAgain(outcome, last);
      // Any other call is answered from the journal, or by the service under the same key.
      if (comesAgain && last.repeatable !== undefined) retireKey(pipeline, last.repeatable.key);
      const settled = { ...key, state: "done" as const, at: pipeline.now(), tool: entry.name, outcome };
      try {
        await (comesAgain ? journal.forget(key) : journal.record(settled));
        const hasEnded = outcome.status === "succeeded" || outcome.status === "failed";
        // A human was warned of it before this call; the next equal one need not be asked about because of it.
        if (earlier !== undefined && hasEnded && !comesAgain) {
          await journal.record({ ...earlier, warnedAt: pipeline.now() });
        }
        return outcome;
      } catch {
        const note = "the end of this call could not be written to the journal";
        return { ...outcome, notes: [...outcome.notes, note] };
      }
    },
  };
}

/** The outcome a journal entry stands for; undefined when the call may go on. */
export function answerFromJournal(
  pipeline: Pipeline,
  call: ToolCall,
  entry: CatalogEntry,
  record: CallRecord,
): ToolOutcome | undefined {
  const { known } = record;
  if (known === undefined) return undefined;
  if (isUnanswered(known)) return createUnknownOutcome(pipeline, entry, "It was sent earlier and never answered.");
  if (known.state !== "done" || !isOutcome(known.outcome)) return undefined;
  // A runtime that keeps the human's answers gives the same one again, or wants to hear another.
  if (call.keepsAnswers === true && known.outcome.status === "declined") return undefined;
  const at = new Date(known.at).toISOString();
  const note = `answered from the journal: this call already ended at ${at} and was not made again`;
  return { ...known.outcome, notes: [...known.outcome.notes, note] };
}

/**
 * The plan with an approval that was given for it before a crash. Another try of a call that may have happened is asked
 * about first, also where nobody says what the tool does; a read may be repeated.
 */
export function bindRecord(pipeline: Pipeline, plan: CallPlan, record: CallRecord): CallPlan {
  const isRepeat = record.earlierUnanswered !== undefined && plan.entry.effect !== "read";
  return {
    ...plan,
    approved: findUnusedApproval(pipeline, plan.entry, record),
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

/** The outcome of a call that was sent and not answered; names read tools that can tell what happened. */
export function createUnknownOutcome(pipeline: Pipeline, entry: CatalogEntry, why: string): ToolOutcome {
  const reads = pipeline.catalog
    .list()
    .filter((other) => other.integration === entry.integration && other.effect === "read")
    .slice(0, 3)
    .map((other) => other.name);
  const tools = reads.length === 0 ? "a read tool of this app" : reads.join(", ");
  return createOutcome("unknown", entry.name, {
    code: "outcome_unknown",
    message: `It is not known whether this call took effect. ${why} It will not be sent again by itself.`,
    hint: `Check with ${tools} whether it happened before making the call again.`,
    retryable: false,
  });
}

/** True when the call provably did nothing, or the service asked for another try. */
function mayComeAgain(outcome: ToolOutcome, last: JournalRecord): boolean {
  if (outcome.status === "needs_approval" || outcome.status === "needs_connection") return true;
  return outcome.status === "failed" && (outcome.retryable === true || !isUnanswered(last));
}

function isOutcome(value: unknown): value is ToolOutcome {
  return isRecord(value) && typeof value.status === "string" && Array.isArray(value.notes);
}
