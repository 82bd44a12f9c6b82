import { z } from "zod";
import { parseExactly } from "../../shared/base/exact-number.ts";
import { isRecord } from "../../shared/base/json.ts";
import { type FlowPreview, flowPreviewSchema } from "../../shared/wire/flow.ts";
import type { Preview } from "../../shared/wire/preview.ts";
import type { LoadedFlow } from "./flow-rows.ts";
import type { PlannedCall } from "./flow-template.ts";

/*
 * The row of an approval step keeps, as `previews` of its output, what it showed of the calls that follow it. Templates and
 * clients see the output without them.
 */

const keptSchema = z.array(flowPreviewSchema).catch([]);

/** What an approval step shows, as its row keeps it. */
export function joinShown(output: Readonly<Record<string, unknown>>, previews: readonly FlowPreview[]): string {
  return JSON.stringify({ ...output, ...(previews.length > 0 && { previews }) });
}

/** The output of an approval step and its previews, from its row. */
export function splitShown(kept: unknown): { readonly output: unknown; readonly previews: FlowPreview[] } {
  if (!isRecord(kept) || kept.previews === undefined) return { output: kept, previews: [] };
  const { previews, ...output } = kept;
  return { output, previews: keptSchema.parse(previews) };
}

/** Those of the items at some positions, in their order, by which items are counted from then on; default: all. */
export function keepPreviews(
  previews: readonly FlowPreview[],
  positions: readonly number[] | undefined,
): readonly FlowPreview[] {
  if (positions === undefined) return previews;
  return previews.flatMap((one) => {
    if (one.item === undefined) return [one];
    const item = positions.indexOf(one.item);
    return item === -1 ? [] : [{ ...one, item }];
  });
}

/** What was shown of a call before it was approved. */
export interface ShownLook {
  readonly preview: Preview;
  /** ISO 8601: when the approval began to wait, shortly before it was looked at. */
  readonly since: string;
}

/** What the approval of a call showed of it; undefined where it showed none. */
export function findShownLook(
  { steps }: LoadedFlow,
  stepKey: string,
  call: Pick<PlannedCall, "key" | "item">,
): ShownLook | undefined {
  const isOf = ({ stepKey: of, key, item }: FlowPreview) =>
    of === stepKey && (call.item === undefined ? key === call.key : item === call.item);
  for (const step of steps) {
    if (step.step_type !== "approval" || step.status !== "completed") continue;
    const found = splitShown(parseExactly(step.output ?? "null")).previews.find(isOf);
    if (found?.preview !== undefined) return { preview: found.preview, since: step.started_at ?? "" };
  }
  return undefined;
}
