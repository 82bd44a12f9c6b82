import { isControlFlow, throwIfAborted } from "./ask/abort.ts";
import type { ApprovalRequest } from "./ask/request.ts";
import type { ConnectionQuestion, Pipeline, ToolCall } from "./pipeline.ts";
import { makePlan } from "./run.ts";
import { answerFromJournal, bindRecord } from "./steps/answer-from-journal.ts";
import { createCallKey, openCallRecord } from "./steps/call-record.ts";
import { fingerprintRequest, isApproved } from "./steps/plan-call.ts";
import { createFirstRequest } from "./steps/request-approval.ts";
import { resolveTool } from "./steps/resolve-tool.ts";
import { parseArguments } from "./steps/restore-arguments.ts";

/** Something only a human can answer. */
export type OpenQuestion =
  | { readonly kind: "approval"; readonly request: ApprovalRequest }
  | { readonly kind: "connection"; readonly question: ConnectionQuestion };

/**
 * The steps before sending, up to the first question. Nothing is sent, remembered or written down; a call that would
 * be refused, or that is answered from the journal, has no question.
 */
export async function previewCall(pipeline: Pipeline, call: ToolCall): Promise<OpenQuestion | undefined> {
  throwIfAborted(call.signal);
  try {
    return await findQuestion(pipeline, call);
  } catch (error) {
    throwIfAborted(call.signal);
    if (isControlFlow(error)) throw error;
    // The call itself will say what is wrong.
    return undefined;
  }
}

async function findQuestion(pipeline: Pipeline, call: ToolCall): Promise<OpenQuestion | undefined> {
  // A refusal of the local check must not count as given: the call itself has yet to be made.
  const apart: Pipeline = { ...pipeline, advised: new Set(pipeline.advised) };
  const resolved = await resolveTool(apart, call);
  if (!resolved.ok) return undefined;
  const entry = resolved.value;
  const parsed = parseArguments(entry.name, call.arguments);
  if (!parsed.ok) return undefined;
  const key = createCallKey(apart, call, { entry, args: parsed.value.args });
  const record = await openCallRecord(apart, call, entry, key);
  if ((await answerFromJournal(apart, call, entry, record)) !== undefined) return undefined;
  let asked: ConnectionQuestion | undefined;
  const chooseConnection: ToolCall["chooseConnection"] = async (question, options) => {
    const answer = await call.chooseConnection?.(question, options);
    if (answer === undefined) asked = question;
    return answer;
  };
  const planned = await makePlan(apart, { ...call, chooseConnection }, { entry, ...parsed.value });
  if (asked !== undefined) return { kind: "connection", question: asked };
  if (!planned.ok) return undefined;
  const plan = bindRecord(apart, planned.value, record);
  if (!plan.mustAsk || isApproved(apart, plan)) return undefined;
  await record.doubts.look(fingerprintRequest(apart, plan));
  const request = createFirstRequest(apart, call, plan, record);
  return request === undefined ? undefined : { kind: "approval", request };
}
