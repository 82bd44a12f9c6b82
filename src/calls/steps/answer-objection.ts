import { isSvcError } from "../../errors.ts";
import type { InspectedFile } from "../../media/send/inspect-files.ts";
import { ingestFile } from "../../media/send/send-files.ts";
import { readUploadHint } from "../../media/send/upload-hint.ts";
import { throwIfAborted } from "../ask/abort.ts";
import { createOutcome } from "../outcome.ts";
import { type CallPlan, type Pipeline, proceed, type Step, stop, type ToolCall } from "../pipeline.ts";
import { cleanText } from "../safe-text.ts";
import { askForConnection, findConnection, findGivenConnection, forgetConnection } from "./choose-connection.ts";
import { describeSvcError } from "./describe-error.ts";
import { describeFailure } from "./describe-failure.ts";
import type { Failure, Objection } from "./judge-reply.ts";

/** An objection of the service, with what it said. */
export interface RaisedObjection {
  readonly kind: Objection;
  readonly failure: Failure;
}

/** Names the objection for counting: each is answered once per call, missing bytes once per file. */
export function nameObjection(objection: RaisedObjection): string {
  const { kind, failure } = objection;
  if (kind !== "missing_bytes") return kind;
  return `${kind} ${failure.upload?.field ?? ""} ${failure.fields.join(" ")}`;
}

/** Step 9. The plan changed so that it meets the objection, or the outcome when it cannot be met. */
export async function answerObjection(
  pipeline: Pipeline,
  call: ToolCall,
  plan: CallPlan,
  objection: RaisedObjection,
): Promise<Step<CallPlan>> {
  const { failure } = objection;
  switch (objection.kind) {
    case "confirmation":
      return demandApproval(pipeline, call, plan, failure);
    case "accounts":
      return chooseAccount(pipeline, call, plan, failure);
    case "envelope_refused":
      return proceed({ ...plan, upload: "ingest" });
    case "missing_bytes":
      return uploadFile(pipeline, call, plan, failure);
    case "arguments":
      return stop(await explainArguments(pipeline, plan, failure));
  }
}

/**
 * A confirmation nobody expected: what is known about the tool is stale, so it is read again for the human. A runtime
 * that makes the call again will know this from the start and name the account; so it is named now, and the question
 * stays the same.
 */
async function demandApproval(
  pipeline: Pipeline,
  call: ToolCall,
  plan: CallPlan,
  failure: Failure,
): Promise<Step<CallPlan>> {
  const refreshed = await pipeline.catalog.refresh(plan.entry.name).catch(() => undefined);
  const known = refreshed?.entry ?? plan.entry;
  const entry = { ...known, askBefore: known.askBefore.length > 0 ? known.askBefore : failure.askBefore };
  const reason = failure.policyReason ?? `The service wants a confirmation: ${cleanText(failure.message, 300)}`;
  const asked: CallPlan = { ...plan, entry, mustAsk: true, askReason: plan.askReason ?? reason };
  if (call.keepsAnswers !== true || plan.connectionId !== undefined) return proceed(asked);
  const connection = await findConnection(pipeline, call, entry);
  return connection.ok ? proceed({ ...asked, connectionId: connection.value.id }) : connection;
}

async function chooseAccount(
  pipeline: Pipeline,
  call: ToolCall,
  plan: CallPlan,
  failure: Failure,
): Promise<Step<CallPlan>> {
  await forgetConnection(pipeline, call, plan.entry.integration);
  const choices = failure.choices.length > 0 ? failure.choices : plan.entry.connections;
  // The account this call would have used is gone and one is left: there is nothing to choose, only to approve.
  const only = choices.length === 1 && findGivenConnection(call, plan.entry) === undefined ? choices[0] : undefined;
  const chosen =
    only === undefined ? await askForConnection(pipeline, call, plan.entry, choices, failure) : proceed(only.id);
  if (!chosen.ok) return stop({ ...chosen.outcome, notes: [...plan.notes] });
  // Another account is another call: the fingerprint no longer fits, so a human is asked again.
  const entry = { ...plan.entry, connections: choices };
  return proceed({ ...plan, entry, connectionId: chosen.value });
}

async function uploadFile(
  pipeline: Pipeline,
  call: ToolCall,
  plan: CallPlan,
  failure: Failure,
): Promise<Step<CallPlan>> {
  const file = findMissingFile(plan, failure);
  if (file === undefined) return stop(describeFailure(plan, failure));
  const { hint, upload } = failure;
  const reference = plan.upload === "envelope" ? file.pointer : file.reference;
  if (plan.upload === "ingest" && upload === undefined && !/\bcurl\b/.test(hint ?? "")) {
    return proceed({ ...plan, upload: "envelope" });
  }
  const reading = readUploadHint({ hint, upload, baseUrl: pipeline.client.baseUrl, reference });
  if (!reading.ok) {
    const outcome = describeFailure(plan, failure, [`the upload instruction was not followed: ${reading.reason}`]);
    return stop({ ...outcome, retryable: false });
  }
  pipeline.emit({ type: "uploading", callId: call.callId, toolName: plan.entry.name, field: file.field });
  const options = call.signal === undefined ? {} : { signal: call.signal };
  try {
    const key = await ingestFile(pipeline.client, pipeline.roots, file, reading.plan, options);
    return proceed({ ...plan, upload: "ingest", uploaded: new Map([...plan.uploaded, [file.reference, key]]) });
  } catch (error) {
    throwIfAborted(call.signal);
    if (!isSvcError(error)) throw error;
    if (error.status === 503 && plan.upload === "ingest") return proceed({ ...plan, upload: "envelope" });
    const details = describeSvcError(error);
    const message = `${details.message} The file was not uploaded and nothing was run.`;
    return stop(createOutcome("failed", plan.entry.name, { ...details, message }, plan.notes));
  }
}

/** The file of this call that the service is missing; by the field it names, else the only one not uploaded yet. */
function findMissingFile(plan: CallPlan, failure: Failure): InspectedFile | undefined {
  const named = [failure.upload?.field, ...failure.fields].flatMap((field) =>
    field === undefined ? [] : [field.replace(/^arguments\./, "").replace(/\.s3key$/, "")],
  );
  const waiting = plan.files.filter((file) => !plan.uploaded.has(file.reference));
  const match = waiting.find((file) => named.includes(file.field));
  return match ?? (waiting.length === 1 ? waiting[0] : undefined);
}

/** Arguments the service refused: when its schema changed since it was read, what changed is said. */
async function explainArguments(pipeline: Pipeline, plan: CallPlan, failure: Failure) {
  const refreshed = await pipeline.catalog.refresh(plan.entry.name).catch(() => undefined);
  const lines = refreshed?.change?.lines ?? [];
  const notes = lines.length === 0 ? [] : [`the tool's arguments have changed: ${cleanText(lines.join("; "), 400)}`];
  const outcome = describeFailure(plan, failure, notes);
  if (notes.length === 0) return outcome;
  const hint = "The tool changed since it was described. Describe it again with svc_describe_tool and adapt the call.";
  return { ...outcome, hint: outcome.hint === undefined ? hint : `${hint} ${outcome.hint}` };
}
