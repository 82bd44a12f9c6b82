import type { PreviewFile } from "../../apps/port/integration.ts";
import { finishPreview, type PreviewDraft } from "../../apps/port/preview.ts";
import { MAX_PREVIEW_MS, type Preview } from "../../shared/wire/preview.ts";
import { ServiceError } from "../service-error.ts";
import { type PreparedCall, previewByState, type RunParts } from "./run-action.ts";
import type { LookedCall } from "./tool-call.ts";
import { undoUntil } from "./undo/kept-writes.ts";

/** What a look at a call found. Both undefined: its action cannot tell. */
export interface Looked {
  readonly preview?: Preview;
  /** Why the present state could not be read. */
  readonly failure?: unknown;
}

/** Arguments of a call that is only looked at, and what is known of their files. */
export interface LookedFiles {
  readonly args: Record<string, unknown>;
  file(s3key: string): PreviewFile;
}

/**
 * Lets the app say what a call would do, for at most five seconds. A look never blocks a call: what fails is a finding, too.
 *
 * @throws ServiceError a refusal that the run would give: nobody needs to be asked.
 */
export async function previewCall(
  parts: RunParts,
  call: Pick<PreparedCall, "entry" | "connection" | "args"> & Pick<LookedCall, "clientGone" | "describeFiles">,
): Promise<Looked> {
  const { entry, args } = call;
  if (entry.action.preview === undefined) return {};
  const limited = { ...parts, providerTimeoutMs: Math.min(MAX_PREVIEW_MS, parts.providerTimeoutMs) };
  try {
    const looked = await call.describeFiles(entry, args);
    const preview = await previewByState(limited, { ...call, ...looked }, (draft) =>
      finishPreview(dateUndo(draft, parts)),
    );
    return preview === undefined ? {} : { preview };
  } catch (failure) {
    if (isRefusal(failure)) throw failure;
    return { failure };
  }
}

/** True for a failure that the same call has again, however often it is tried. */
function isRefusal(failure: unknown): boolean {
  if (!(failure instanceof ServiceError)) return false;
  const { status, options } = failure;
  return status < 500 && status !== 429 && options.retryable !== true;
}

const NOT_KEPT = { possible: false, why: "This service keeps nothing for it." };

/** Of what the service can undo, the draft leaves out until when. */
function dateUndo(draft: PreviewDraft, { now, canUndo = true }: RunParts): PreviewDraft {
  const { undo } = draft;
  if (undo.possible && !canUndo) return { ...draft, undo: NOT_KEPT };
  return undo.possible ? { ...draft, undo: { ...undo, until: undo.until ?? undoUntil(now()) } } : draft;
}
