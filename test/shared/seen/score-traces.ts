import type { Origin } from "../../../src/shared/wire/origin.ts";
import type { Trace, TraceLabel } from "./trace-data.ts";
import { judgeTrace } from "./trace-evidence.ts";

const ORIGIN_OF = { owner: "you", known: "yours", outside: "somebody", unseen: "unseen" } as const;

/** A label with the origin that stands for it. */
export interface ScoredLabel {
  readonly trace: Trace;
  readonly label: TraceLabel;
  readonly decisive: boolean;
  readonly got: Origin | undefined;
  /** True for an origin that the label names. */
  readonly right: boolean;
}

/** Judges all traces, label by label; ids and chosen tools are no values. */
export function scoreTraces(traces: readonly Trace[]): ScoredLabel[] {
  return traces.flatMap((trace) => {
    const origins = judgeTrace(trace);
    return trace.labels
      .filter(({ argument }) => argument !== "$tool" && !argument.endsWith("s3key"))
      .map((label) => {
        const got = closest(label, origins);
        const wanted = [label.expect, ...label.also].map((word) => ORIGIN_OF[word as keyof typeof ORIGIN_OF]);
        const decisive = trace.decisive === label.argument && label.expect !== "owner";
        return { trace, label, decisive, got, right: got !== undefined && wanted.includes(got.origin) };
      });
  });
}

function closest({ argument, value }: TraceLabel, origins: readonly Origin[]): Origin | undefined {
  const scored = origins
    .filter((origin) => origin.argument === argument)
    .map((origin) => ({ origin, score: overlap(fold(value), fold(origin.value)) }))
    .filter(({ score }) => score > 0);
  return scored.toSorted((a, b) => b.score - a.score)[0]?.origin;
}

const fold = (text: string) => text.normalize("NFKC").toLowerCase();

/** The longest common piece of two texts, as a share of both. */
function overlap(one: string, other: string): number {
  let longest = 0;
  for (let at = 0; at < one.length; at++) {
    while (at + longest < one.length && other.includes(one.slice(at, at + longest + 1))) longest += 1;
  }
  return longest / (one.length + other.length - longest || 1);
}
