import { type JournalRecord, toMapKey } from "../journal/journal-record.ts";
import { createOutcome, type ToolOutcome } from "../outcome.ts";
import { type CallPlan, type Pipeline, proceed, type Step, stop, type ToolCall } from "../pipeline.ts";
import { answerFromJournal } from "./answer-from-journal.ts";
import { answerObjection, nameObjection, type RaisedObjection } from "./answer-objection.ts";
import { awaitConnection } from "./await-connection.ts";
import type { CallRecord } from "./call-record.ts";
import { settleReply } from "./describe-failure.ts";
import { type Judgement, judgeReply } from "./judge-reply.ts";
import { planAgain } from "./own-call.ts";
import { findPinObjection, followEffect, isApproved } from "./plan-call.ts";
import { requestApproval } from "./request-approval.ts";
import { type Answered, isPlainRead, sendCall } from "./send-call.ts";
import { planKeyedSend } from "./send-keyed.ts";

/** How often a tool may change its effect between the yes and the request, of one call. */
const MAX_CHANGES = 8;

/** Steps 6 to 10: approve, send, answer objections, each at most once. */
export async function carryOut(
  pipeline: Pipeline,
  call: ToolCall,
  first: CallPlan,
  record: CallRecord,
): Promise<ToolOutcome> {
  const answered = new Set<string>();
  let plan = first;
  let toldOfPin: string | undefined;
  for (let changes = 0; ; ) {
    plan = followEffect(pipeline, plan);
    if (plan.mustAsk && !isApproved(pipeline, plan)) {
      toldOfPin = findPinObjection(pipeline, plan.entry);
      const approval = await requestApproval(pipeline, call, plan, record);
      if (!approval.ok) return approval.outcome;
      plan = approval.value;
      continue;
    }
    const repeatable = isApproved(pipeline, plan) ? await planKeyedSend(pipeline, call, plan, record) : undefined;
    const { own } = plan.entry;
    const same = own === undefined ? proceed(plan) : await planAgain(pipeline, call, plan, own);
    if (!same.ok) return same.outcome;
    if (followEffect(pipeline, plan) !== plan) {
      changes += 1;
      if (changes > MAX_CHANGES) return describeRestless(plan);
      continue;
    }
    const pinObjection = findPinObjection(pipeline, plan.entry);
    if (pinObjection !== undefined && pinObjection !== toldOfPin) {
      // Pinned otherwise while the human was asked: they agreed to the tool without knowing.
      plan = withoutApproval(plan);
      continue;
    }
    if (pinObjection !== undefined) await pipeline.pins.accept(plan.entry);
    const sent = await sendCall(pipeline, call, plan, record, repeatable);
    if ("obstacle" in sent) {
      const overtaken = await answerOvertaken(pipeline, call, plan, record, sent.obstacle);
      if (overtaken !== undefined) return overtaken;
      plan = withoutApproval(plan);
      continue;
    }
    if (!sent.ok) return sent.outcome;
    const next = await meetReply(pipeline, call, plan, { record, sent: sent.value, answered });
    if (!next.ok) return next.outcome;
    plan = next.value;
  }
}

/** The plan as it was, for a human to be asked about once more. */
function withoutApproval(plan: CallPlan): CallPlan {
  return { ...plan, approved: undefined, mustAsk: true };
}

/** What is sent next, or the outcome when nothing more is done about the reply; `answered` is told what it was. */
async function meetReply(
  pipeline: Pipeline,
  call: ToolCall,
  plan: CallPlan,
  { record, sent, answered }: { readonly record: CallRecord; readonly sent: Answered; readonly answered: Set<string> },
): Promise<Step<CallPlan>> {
  const judgement = judgeReply(sent.reply, sent);
  const objection = findObjection(judgement, sent, answered);
  if (objection !== undefined) {
    answered.add(nameObjection(objection));
    if (objection.kind !== "arguments") await rest(pipeline, call, plan, record);
    return answerObjection(pipeline, call, plan, objection);
  }
  const canConnect = judgement.kind === "needs_connection" && !answered.has(judgement.kind);
  answered.add(judgement.kind);
  if (canConnect) await rest(pipeline, call, plan, record);
  // Made again unchanged, as the document says, once the app can be used.
  if (canConnect && (await awaitConnection(pipeline, call, plan, judgement.failure))) return proceed(plan);
  return stop(await settleReply(pipeline, call, plan, judgement));
}

/**
 * While a human is asked, connects the app, or a file is uploaded, nothing is under way: whoever stops here leaves no
 * doubt behind. A runtime that keeps the human's answers gives them again, to the same questions in the same order.
 */
async function rest(pipeline: Pipeline, call: ToolCall, plan: CallPlan, record: CallRecord): Promise<void> {
  if (isPlainRead(plan)) return;
  const keeps = call.keepsAnswers !== true && isApproved(pipeline, plan);
  await record.withdraw();
  if (keeps) await record.save("approved", { approved: plan.approved });
}

/** What another process has made of this call in the meantime; undefined when an equal call is in the way. */
async function answerOvertaken(
  pipeline: Pipeline,
  call: ToolCall,
  plan: CallPlan,
  record: CallRecord,
  obstacle: JournalRecord,
): Promise<ToolOutcome | undefined> {
  if (toMapKey(obstacle) !== toMapKey(record.key)) return undefined;
  return answerFromJournal(pipeline, call, plan.entry, record, obstacle);
}

/** The objection that is still worth an answer. A confirmation asked for after it was given is a refusal. */
function findObjection(judgement: Judgement, sent: Answered, answered: Set<string>): RaisedObjection | undefined {
  switch (judgement.kind) {
    case "success":
    case "needs_connection":
    case "key":
    case "failure":
      return undefined;
    default: {
      const objection = { kind: judgement.kind, failure: judgement.failure };
      if (objection.kind === "confirmation" && sent.confirmed) return undefined;
      return answered.has(nameObjection(objection)) ? undefined : objection;
    }
  }
}

/** A tool whose effect is another one each time it is looked at. */
function describeRestless(plan: CallPlan): ToolOutcome {
  const told = {
    code: "approval_wrong_fingerprint",
    message: "What this tool does changed each time before it could be sent. Nothing was run.",
    hint: "Tell the user that the service cannot say what this tool does.",
    retryable: false,
  };
  return createOutcome("needs_approval", plan.entry.name, told, plan.notes);
}
