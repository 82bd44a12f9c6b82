import type { StoredExecution } from "../executions/outcome.ts";

/** How an outcome is written into an answer. */
export interface RenderOptions {
  /** True when the caller asked for large outputs to be left out. */
  readonly offload?: boolean;
}

/** Request header and value by which a caller opts in to {@link StoredResult}. */
export const RESULT_HEADER = "x-svc-result";
export const RESULT_OFFLOAD = "offload";
/** Outputs whose JSON is longer, in bytes, are replaced. */
const OFFLOAD_ABOVE_BYTES = 64 * 1024;
const PREVIEW_CHARS = 2000;

/** What stands for a large output ("compact offload envelope"); `GET /api/executions/{id}` has the output itself. */
interface StoredResult {
  readonly svc_result: "stored";
  readonly execution_id: string;
  /** Size of the output as JSON. */
  readonly bytes: number;
  /** The beginning of that JSON. */
  readonly preview: string;
}

/** Reads the opt-in of a request. */
export function readRenderOptions(headers: Headers): RenderOptions {
  return { offload: headers.get(RESULT_HEADER)?.trim().toLowerCase() === RESULT_OFFLOAD };
}

/** Replaces a large output when the caller opted in; everything else stays as it is. */
export function shrinkOutput<T extends StoredExecution>(outcome: T, { offload }: RenderOptions): T {
  if (!offload || outcome.status !== "succeeded" || outcome.executionId === null) return outcome;
  const json = JSON.stringify(outcome.output);
  const bytes = Buffer.byteLength(json);
  if (bytes <= OFFLOAD_ABOVE_BYTES) return outcome;
  const output: StoredResult = {
    svc_result: "stored",
    execution_id: outcome.executionId,
    bytes,
    preview: json.slice(0, PREVIEW_CHARS).toWellFormed(),
  };
  return { ...outcome, output };
}
