import type { FlowPreview } from "../wire/flow.ts";
import type { CardFact } from "./card-layout.ts";
import { drawPart, drawText } from "./card-text.ts";
import { drawPreview, PREVIEW_LABELS } from "./preview-facts.ts";

const [IN_SHORT] = PREVIEW_LABELS;

/**
 * What the calls that an approval lets a flow make would do, as the first facts of its card: of each what its own card would say,
 * below `Call 1`, `Call 2` and so on, or why that is not known. Escapes characters that match `also`.
 */
export function drawFlowPreviews(previews: readonly FlowPreview[], also?: RegExp): CardFact[] {
  return previews.flatMap((one, index) => {
    const label = labelCall(index);
    const { preview, missing, label: name } = one;
    if (preview === undefined) {
      const line = `${name === undefined ? "" : `${drawPart(name, also)}: `}${drawText(sayMissing(missing), also)}`;
      return [{ label, values: [{ line }] }];
    }
    return drawPreview({ preview }, also).map((fact) => (fact.label === IN_SHORT ? { ...fact, label } : fact));
  });
}

/** Labels of the facts of so many previews, beside {@link PREVIEW_LABELS}. */
export function listCallLabels({ length }: readonly FlowPreview[]): string[] {
  return Array.from({ length }, (_, index) => labelCall(index));
}

/** One line for each call: what it would do, or why that is not known. Text of the service. */
export function listFlowSummaries(previews: readonly FlowPreview[]): string[] {
  return previews.map(({ preview, missing, label }) => {
    if (preview !== undefined) return preview.summary;
    return label === undefined ? sayMissing(missing) : `${label}: ${sayMissing(missing)}`;
  });
}

function labelCall(index: number): string {
  return `Call ${index + 1}`;
}

/** A reason that cannot be read says nothing. */
function sayMissing(missing: FlowPreview["missing"]): string {
  return missing?.text ?? "What it would do is not known.";
}
