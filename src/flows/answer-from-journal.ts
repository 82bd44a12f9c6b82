import { isUnanswered, type JournalRecord } from "../approvals/journal-record.ts";
import { NOT_WATCHED } from "./describe-flow.ts";
import { createFlowOutcome, type FlowOutcome, isOutcome } from "./flow-outcome.ts";

/** What is kept of a call that was answered: its outcome, and while the flow is still watched, which flow that is. */
interface KeptOutcome extends FlowOutcome {
  readonly watching?: string;
}

const SENT_BEFORE = "It was sent earlier and never answered.";

/**
 * The answer to a call that was made before; undefined when it may be made. A watch that was cut off goes on by `watch`,
 * which gives undefined where the flow cannot be watched: it is shown as it was when the service answered then.
 */
export async function answerFromJournal(
  tool: string,
  known: JournalRecord,
  watch: (id: string) => Promise<FlowOutcome | undefined>,
): Promise<FlowOutcome | undefined> {
  if (isUnanswered(known)) return describeUnknown(tool, SENT_BEFORE);
  if (known.state !== "done" || !isOutcome(known.outcome)) return undefined;
  const { watching, ...outcome }: KeptOutcome = known.outcome;
  const at = new Date(known.at).toISOString();
  const note = `answered from the journal: this call was already answered at ${at} and was not made again`;
  if (outcome.status !== "succeeded") return addNotes(outcome, note);
  const watched = watching === undefined ? undefined : await watch(watching);
  if (watched !== undefined) return addNotes(watched, `${note}; the flow was watched on`);
  const notes = [`${note}; the flow is shown as it was then`, ...(watching === undefined ? [] : [NOT_WATCHED])];
  return addNotes(outcome, ...notes);
}

/** An outcome as the journal keeps it while flow `id` is watched. */
export function keepWatching(outcome: FlowOutcome, id: string): FlowOutcome {
  const kept: KeptOutcome = { ...outcome, watching: id };
  return kept;
}

/** The outcome of a call whose answer was lost. */
export function describeUnknown(tool: string, why: string): FlowOutcome {
  return createFlowOutcome("unknown", tool, {
    code: "outcome_unknown",
    message: `It is not known whether this took effect. ${why} It will not be sent again by itself.`,
    hint: "Look at the flow with svc_get_flow, or without its id at the list of flows, before doing it again.",
    retryable: false,
  });
}

function addNotes(outcome: FlowOutcome, ...notes: string[]): FlowOutcome {
  return { ...outcome, notes: [...outcome.notes, ...notes] };
}
