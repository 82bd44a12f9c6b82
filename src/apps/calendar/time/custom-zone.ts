import { DAY_MS, type LocalTime, type Zone } from "../../../shared/base/zones.ts";
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

/** More than a decade of the zones of the world has had. */
const MAX_STEPS = 5_000;
const YEAR_MS = 366 * DAY_MS;
const DECADE_MS = 10 * YEAR_MS;

/** A zone that a file describes itself. */
export function createCustomZone(id: string, observances: readonly Observance[]): Zone {
  const decades = new Map<number, readonly Onset[]>();
  const first = observances.toSorted((a, b) => a.start - a.from - (b.start - b.from))[0];

  return {
    id,
    offsetAt(instant) {
      const decade = Math.floor(instant / DECADE_MS);
      const onsets = decades.get(decade) ?? listOnsets(observances, decade * DECADE_MS);
      decades.set(decade, onsets);
      return onsets.findLast(({ at }) => at <= instant)?.to ?? first?.from ?? 0;
    },
  };
}

interface Onset {
  readonly at: number;
  readonly to: number;
}

/** When offsets begin to hold in a decade, and when those began that hold at its begin. */
function listOnsets(observances: readonly Observance[], begin: number): Onset[] {
  const onsets = observances.flatMap(({ start, from, to, rule, dates }) => {
    const end = rule === undefined ? 0 : findEnd(rule, (utc) => utc + from);
    const span = { from: Math.min(begin, end) - 2 * YEAR_MS, to: begin + DECADE_MS + DAY_MS, end };
    const repeated = rule === undefined ? [] : expandRule(rule, start, { ...span, budget: { steps: MAX_STEPS } });
    return [start, ...dates, ...repeated].map((local) => ({ at: local - from, to }));
  });
  return onsets.sort((a, b) => a.at - b.at);
}
