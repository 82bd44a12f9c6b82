import type { RaisedLevel } from "../../../../shared/wire/call-level.ts";
import type { InspectedFile } from "../../../media/send/inspect-files.ts";
import { toFailure } from "../../ask/abort.ts";
import { cleanText, createOutcome } from "../../outcome.ts";
import { reportUpload } from "../attach.ts";
import { askForConnection, choose, findGivenConnection, forgetConnection } from "../choose.ts";
import { describeFailure, describeSvcError, isLostAnswer } from "../outcome.ts";
import {
  again,
  type CallContext,
  type CallPlan,
  findCallEffect,
  fingerprintRequest,
  isApproved,
  isPlainRead,
  proceed,
  type Step,
  stop,
} from "../plan.ts";
import { awaitConnection, toSafeLink } from "./await-connection.ts";
import { awaitOwner } from "./await-owner.ts";
import { type Failure, type Judgement, judgeReply, type Objection } from "./read-reply.ts";

/**
 * Step 9. Handles objections of the service, each once per call: the call goes back to the approval with a changed
 * plan. An answer without a remedy goes on to its outcome.
 */
export async function answer(context: CallContext, plan: CallPlan): Promise<Step<CallPlan>> {
  const { answered } = plan;
  if (answered === undefined) return proceed(plan);
  const judgement = judgeReply(answered);
  if (judgement.kind === "success") return proceed(plan);
  const { kind, failure } = judgement;
  if (kind === "held") {
    const { id = "", url = "" } = failure.approval ?? {};
    await context.record.withdraw();
    return awaitOwner(context, plan, { id, url: toSafeLink(url, context.client.baseUrl) });
  }
  const name = nameObjection(judgement);
  const isNew = !plan.objections.includes(name);
  const met: CallPlan = { ...plan, answered: undefined, objections: [...plan.objections, name] };
  if (kind === "needs_connection" && isNew) {
    await withdraw(context, plan);
    // The document says to repeat the call unchanged once the app can be used.
    const isConnected = await context.turn.stepAside(() => awaitConnection(context, plan, failure));
    return isConnected ? again(met) : proceed(plan);
  }
  if (!isNew || !isObjection(judgement, plan)) return proceed(plan);
  if (kind !== "arguments") await withdraw(context, plan);
  const next = await ANSWERS[judgement.kind](context, met, failure);
  return next.ok ? again(next.value) : next;
}

/** If the call was already confirmed as what it does, a request for confirmation is a refusal. */
function isObjection(judgement: Problem, plan: CallPlan): judgement is Problem & { readonly kind: Objection } {
  if (judgement.kind !== "confirmation") return judgement.kind in ANSWERS;
  const { failure } = judgement;
  return plan.answered?.confirmed === false || failure.isStale || raise(plan, failure) !== undefined;
}

/** What the service says beyond what the human was shown. */
function raise(plan: CallPlan, { raised }: Failure): RaisedLevel | undefined {
  return raised === undefined || findCallEffect(plan).effect === raised.level ? undefined : raised;
}

type Problem = Exclude<Judgement, { kind: "success" }>;

function nameObjection({ kind, failure }: Problem): string {
  // A human who looks as often as something changes is asked as often.
  if (failure.isStale) return `${kind} ${failure.preview?.state ?? ""}`;
  if (kind === "confirmation" && failure.raised !== undefined) return `${kind} ${failure.raised.level}`;
  if (kind !== "missing_bytes") return kind;
  return `${kind} ${failure.upload?.field ?? ""} ${failure.fields.join(" ")}`;
}

/**
 * No request is in flight while a human is asked, an app is connected or a file is uploaded, so an abort is safe. A
 * runtime that keeps the human's answers repeats them for the same questions in the same order.
 */
async function withdraw(context: CallContext, plan: CallPlan): Promise<void> {
  if (isPlainRead(plan)) return;
  const { call, record } = context;
  const keeps = !call.keepsAnswers && isApproved(context, plan);
  await record.withdraw();
  if (keeps) await record.save("approved", { approved: plan.approved });
}

const ANSWERS: Readonly<
  Record<Objection, (context: CallContext, plan: CallPlan, failure: Failure) => Promise<Step<CallPlan>>>
> = {
  confirmation: demandApproval,
  accounts: chooseAccount,
  envelope_refused: async (_, plan) => proceed({ ...plan, upload: "ingest" }),
  missing_bytes: uploadFile,
  arguments: explainArguments,
};

const CHANGED = "What it acts on was changed after you were shown it. Nothing was done: this is how it would be now.";

/**
 * Handles an unexpected demand for confirmation: the catalogue entry is stale, so it is refreshed for the human. A
 * runtime that repeats the call will then know the demand from the start and name the account; naming it now keeps the
 * question the same.
 */
async function demandApproval(context: CallContext, plan: CallPlan, failure: Failure): Promise<Step<CallPlan>> {
  const refreshed = await context.catalog.refresh(plan.entry.name).catch(() => undefined);
  const known = refreshed?.entry ?? plan.entry;
  const entry = { ...known, askBefore: known.askBefore.length > 0 ? known.askBefore : failure.askBefore };
  const reason = failure.policyReason ?? `The service wants a confirmation: ${cleanText(failure.message, 300)}`;
  const asked: CallPlan = {
    ...plan,
    entry,
    mustAsk: true,
    raised: failure.raised ?? plan.raised,
    look: failure.preview && { of: fingerprintRequest(context, plan), preview: failure.preview },
    askReason: failure.isStale ? CHANGED : (plan.askReason ?? reason),
  };
  return context.call.keepsAnswers && plan.connectionId === undefined ? choose(context, asked) : proceed(asked);
}

async function chooseAccount(context: CallContext, plan: CallPlan, failure: Failure): Promise<Step<CallPlan>> {
  await forgetConnection(context, plan.entry.integration);
  const choices = failure.choices.length > 0 ? failure.choices : plan.entry.connections;
  // The call's account is gone and one is left: no choice is needed, only an approval.
  const only =
    choices.length === 1 && findGivenConnection(context.call, plan.entry) === undefined ? choices[0] : undefined;
  const chosen = only === undefined ? await askForConnection(context, plan.entry, choices, failure) : proceed(only.id);
  if (!chosen.ok) return stop({ ...chosen.outcome, notes: [...plan.notes] });
  // A different account changes the fingerprint, so a human is asked again.
  const entry = { ...plan.entry, connections: choices };
  return proceed({ ...plan, entry, connectionId: chosen.value });
}

async function uploadFile(context: CallContext, plan: CallPlan, failure: Failure): Promise<Step<CallPlan>> {
  const file = findMissingFile(plan, failure);
  if (file === undefined) return stop(describeFailure(plan, failure));
  const { hint, upload } = failure;
  const reference = plan.upload === "envelope" ? file.pointer : file.reference;
  if (plan.upload === "ingest" && upload === undefined && !/\bcurl\b/.test(hint ?? "")) {
    return proceed({ ...plan, upload: "envelope" });
  }
  // Few calls ever need them.
  const [{ ingestFile }, { readUploadHint }] = await Promise.all([
    import("../../../media/send/ingest-file.ts"),
    import("../../../media/send/upload-hint.ts"),
  ]);
  const reading = readUploadHint({ hint, upload, baseUrl: context.client.baseUrl, reference });
  if (!reading.ok) {
    const outcome = describeFailure(plan, failure, [`the upload instruction was not followed: ${reading.reason}`]);
    return stop({ ...outcome, retryable: false });
  }
  try {
    const onBytes = reportUpload(context, plan, "ingest");
    const options = { signal: context.signal, timeoutMs: context.settings.timeoutMs, onBytes };
    const key = await ingestFile(context.client, context.roots, file, reading.plan, options);
    return proceed({ ...plan, upload: "ingest", uploaded: new Map([...plan.uploaded, [file.reference, key]]) });
  } catch (error) {
    const refusal = toFailure(error, context.signal);
    if (refusal.status === 503 && plan.upload === "ingest") return proceed({ ...plan, upload: "envelope" });
    const details = describeSvcError(refusal);
    const isLost = refusal.sent !== false && isLostAnswer(refusal);
    const what = isLost
      ? "The upload may have arrived or not; nothing was run."
      : "The file was not uploaded and nothing was run.";
    const hint = isLost ? "The call may be made again: it uploads the file once more." : details.hint;
    return stop(
      createOutcome("failed", plan.entry.name, { ...details, message: `${details.message} ${what}`, hint }, plan.notes),
    );
  }
}

/** The file of this call that the service is missing: the named field's, else the only one not uploaded yet. */
function findMissingFile(plan: CallPlan, failure: Failure): InspectedFile | undefined {
  const named = [failure.upload?.field, ...failure.fields].flatMap((field) =>
    field === undefined ? [] : [field.replace(/^arguments\./, "").replace(/\.s3key$/, "")],
  );
  const waiting = plan.files.filter((file) => !plan.uploaded.has(file.reference));
  const match = waiting.find((file) => named.includes(file.field));
  return match ?? (waiting.length === 1 ? waiting[0] : undefined);
}

/** Handles refused arguments; if the schema has changed since it was read, the outcome lists the changes. */
async function explainArguments(context: CallContext, plan: CallPlan, failure: Failure): Promise<Step<CallPlan>> {
  const refreshed = await context.catalog.refresh(plan.entry.name).catch(() => undefined);
  const lines = refreshed?.change?.lines ?? [];
  const notes = lines.length === 0 ? [] : [`the tool's arguments have changed: ${cleanText(lines.join("; "), 400)}`];
  const outcome = describeFailure(plan, failure, notes);
  if (notes.length === 0) return stop(outcome);
  const hint = "The tool changed since it was described. Describe it again with svc_describe_tool and adapt the call.";
  return stop({ ...outcome, hint: outcome.hint === undefined ? hint : `${hint} ${outcome.hint}` });
}
