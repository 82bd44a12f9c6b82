import { fillFileArguments, type InspectedFile, inspectFiles } from "../../media/send/inspect-files.ts";
import { throwIfAborted } from "../ask/abort.ts";
import { createFingerprint, type FingerprintSubject } from "../ask/fingerprint.ts";
import type { ApprovalFile } from "../ask/request.ts";
import { type CatalogEntry, mustAskFirst } from "../catalog/catalog-entry.ts";
import { createOutcome } from "../outcome.ts";
import { type CallPlan, type Pipeline, proceed, type Step, stop, type ToolCall } from "../pipeline.ts";
import { cleanText } from "../safe-text.ts";
import type { PreparedCall } from "./prepare-call.ts";

/** Why a human has to agree to the tool itself before its next call; undefined when it is as they know it. */
export function findPinObjection(pipeline: Pipeline, entry: CatalogEntry): string | undefined {
  return entry.own === undefined && pipeline.pins.mode === "ask" ? pipeline.pins.judge(entry)?.reason : undefined;
}

function mustAskAbout(pipeline: Pipeline, entry: CatalogEntry): boolean {
  return mustAskFirst(entry) || findPinObjection(pipeline, entry) !== undefined;
}

/**
 * The plan with what the catalogue knows of the tool's effect by now: one that came to delete while a human was asked
 * whether it may write needs another answer. The same plan when nothing has changed.
 */
export function followEffect(pipeline: Pipeline, plan: CallPlan): CallPlan {
  const effect = pipeline.catalog.peek(plan.entry.name)?.effect ?? plan.entry.effect;
  if (effect === plan.entry.effect) return plan;
  const entry = { ...plan.entry, effect };
  return { ...plan, entry, mustAsk: plan.mustAsk || mustAskAbout(pipeline, entry) };
}

/**
 * Opens and hashes the local files, so that a human can see what would be sent. A refused file ends the call; nothing
 * was sent and no file stays open.
 */
export async function planCall(
  pipeline: Pipeline,
  call: ToolCall,
  parts: { entry: CatalogEntry; prepared: PreparedCall; connectionId: string | undefined; notes: readonly string[] },
): Promise<Step<CallPlan>> {
  const { entry, prepared, connectionId } = parts;
  const options = call.signal === undefined ? {} : { signal: call.signal };
  const inspected = await inspectFiles(pipeline.roots, prepared.files, options);
  throwIfAborted(call.signal);
  if (!inspected.ok) {
    const { code, message, hint } = inspected.refusal;
    return stop(
      createOutcome("failed", entry.name, {
        code,
        message: `${cleanText(message)} Nothing was sent.`,
        hint: cleanText(hint),
        retryable: false,
      }),
    );
  }
  const fileNotes = inspected.files.flatMap(({ field, note }) => (note === undefined ? [] : [`${field}: ${note}`]));
  return proceed({
    entry,
    // The name and type that are sent, which the look into the file may have corrected.
    arguments: fillFileArguments(prepared.arguments, inspected.files.map(keepReference)),
    files: inspected.files,
    connectionId,
    mustAsk: mustAskAbout(pipeline, entry),
    askReason:
      prepared.problems.length === 0 ? undefined : `The local check disagrees: ${prepared.problems.join("; ")}`,
    approved: undefined,
    upload: pipeline.settings.upload,
    uploaded: new Map(),
    notes: [...parts.notes, ...prepared.notes, ...fileNotes].map((note) => cleanText(note, 240)),
  });
}

function keepReference(file: InspectedFile): InspectedFile {
  return { ...file, pointer: file.reference };
}

/** The plan of a request that was sent before, for reading its answer; nothing is inspected. */
export function restorePlan(
  pipeline: Pipeline,
  entry: CatalogEntry,
  sent: { readonly arguments: Record<string, unknown>; readonly note: string },
): CallPlan {
  return {
    entry,
    arguments: sent.arguments,
    files: [],
    connectionId: undefined,
    mustAsk: false,
    askReason: undefined,
    approved: undefined,
    upload: pipeline.settings.upload,
    uploaded: new Map(),
    notes: [sent.note],
  };
}

/** Fingerprint of a plan as it would be sent now: tool and effect, arguments, account, file digests and principal. */
export function fingerprintPlan(pipeline: Pipeline, plan: CallPlan): string {
  return createFingerprint({ ...describeRequest(pipeline, plan), effect: plan.entry.effect });
}

/** Fingerprint of what a plan sends. Unlike the one of a decision it stays the same when the tool changes its effect. */
export function fingerprintRequest(pipeline: Pipeline, plan: CallPlan): string {
  return createFingerprint(describeRequest(pipeline, plan));
}

function describeRequest(pipeline: Pipeline, plan: CallPlan): FingerprintSubject {
  return {
    tool: plan.entry.name,
    arguments: plan.arguments,
    connection: plan.connectionId,
    files: plan.files,
    principal: pipeline.client.principal,
  };
}

/** True when somebody said yes to exactly this plan: any change since makes it false. */
export function isApproved(pipeline: Pipeline, plan: CallPlan): boolean {
  return plan.approved !== undefined && plan.approved === fingerprintPlan(pipeline, plan);
}

/** The file as an approval names it. */
export function toApprovalFile({ field, name, mimetype, size, md5, sha256, reference }: InspectedFile): ApprovalFile {
  return { field, name, mimetype, size, md5, sha256, reference };
}
