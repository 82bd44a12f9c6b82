import { DAY_MS, type LocalTime, type Zone } from "../../../../base/zones.ts";
import { expandRule } from "./expand-rule.ts";
import { findEnd, type RecurrenceRule } from "./recurrence-rule.ts";

/** A part of a zone's rules (RFC 5545, section 3.6.5): when one offset begins to hold. */
export interface Observance {
  /** Local time, by the offset that held before. */
  readonly start: LocalTime;
  /** Offsets before and after, in milliseconds. */
  readonly from: number;
  readonly to: number;
  readonly rule: RecurrenceRule | undefined;
  /** Further beginnings. */
  readonly dates: readonly LocalTime[];
}

/** More than the zones of the world have had. */
const MAX_STEPS = 5_000;
const YEAR_MS = 366 * DAY_MS;

/** A zone that a file describes itself. */
export function createCustomZone(id: string, observances: readonly Observance[]): Zone {
  let covered = Number.NEGATIVE_INFINITY;
  let onsets: { readonly at: number; readonly to: number }[] = [];
  const first = observances.toSorted((a, b) => a.start - a.from - (b.start - b.from))[0];

  function cover(instant: number): void {
    if (instant <= covered) return;
    covered = instant + 2 * YEAR_MS;
    const budget = { steps: MAX_STEPS };
    onsets = observances
      .flatMap(({ start, from, to, rule, dates }) => {
        const end = rule === undefined ? 0 : findEnd(rule, (utc) => utc + from);
        const span = { from: start, to: covered + DAY_MS, end, budget };
        const repeated = rule === undefined ? [] : expandRule(rule, start, span);
        return [start, ...dates, ...repeated].map((local) => ({ at: local - from, to }));
      })
      .sort((a, b) => a.at - b.at);
  }

  return {
    id,
    offsetAt(instant) {
      cover(instant);
      return onsets.findLast(({ at }) => at <= instant)?.to ?? first?.from ?? 0;
    },
  };
}
