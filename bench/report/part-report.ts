import { median } from "./statistics.ts";

/** One thing that was measured, for this package and for what it is set beside. Samples are in `unit`. */
export interface Measure {
  readonly what: string;
  readonly unit: string;
  /** Of this package, one number per repetition. */
  readonly samples: readonly number[];
  readonly peers?: readonly { readonly name: string; readonly samples: readonly number[] }[] | undefined;
  readonly targets?: readonly Target[] | undefined;
}

/** A bound for the median of this package, or for its ratio to the median of a peer. */
export interface Target {
  readonly bound: "at most" | "at least";
  readonly limit: number;
  /** Name of the peer; without one the limit is in the measure's unit. */
  readonly ratioTo?: string | undefined;
}

/** What one part of the bench found. */
export interface PartReport {
  /** What the part measures, as a heading. */
  readonly title: string;
  readonly measures: readonly Measure[];
  /** What a reader needs to know besides, each a sentence. */
  readonly notes: readonly string[];
}

/** This package's median by the peer's; NaN where either is missing. */
export function findRatio(measure: Measure, peer: string | undefined): number {
  const found = measure.peers?.find(({ name }) => name === peer);
  return median(measure.samples) / median(found?.samples ?? []);
}

/** True when the medians are within the target. What was not measured has not met it. */
export function isMet(measure: Measure, { bound, limit, ratioTo }: Target): boolean {
  const value = ratioTo === undefined ? median(measure.samples) : findRatio(measure, ratioTo);
  return bound === "at most" ? value <= limit : value >= limit;
}
