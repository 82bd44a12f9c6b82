import { throwIfAborted } from "../approvals/abort.ts";
import { inspectFiles } from "../media/inspect-files.ts";
import { type CatalogEntry, mustAskFirst } from "./catalog-entry.ts";
import { createOutcome } from "./outcome.ts";
import { type CallPlan, type Pipeline, proceed, type Step, stop, type ToolCall } from "./pipeline.ts";
import type { PreparedCall } from "./prepare-call.ts";
import { cleanText } from "./safe-text.ts";

/** Why a human has to agree to the tool itself before its next call; undefined when it is as they know it. */
export function findPinObjection(pipeline: Pipeline, entry: CatalogEntry): string | undefined {
  return pipeline.pins.mode === "ask" ? pipeline.pins.judge(entry)?.reason : undefined;
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
    arguments: prepared.arguments,
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
