import { DAY_MS, toDay, type Zone } from "../../../shared/base/zones.ts";
import { type ContentBlock, listLines } from "../../collections/content-tree.ts";
import type { Budget } from "../time/expand-rule.ts";
import { readRules } from "../time/recurrence-rule.ts";
import type { CalendarFile, Series } from "./calendar-file.ts";
import { type Moment, momentToInstant, readMoments, toKey } from "./moment.ts";
import {
  type InstanceSpan,
  listRuled,
  listStarts,
  moveByRange,
  readOverrides,
  readTiming,
  type Timing,
} from "./starts.ts";

/** One time that an event happens. */
export interface Instance {
  readonly series: Series;
  /** Holds its properties: the event, or what differs for this instance. */
  readonly event: ContentBlock;
  readonly start: Moment;
  readonly end: Moment;
  /** Milliseconds since the epoch. */
  readonly startsAt: number;
  readonly endsAt: number;
  /** When a series has it, before any change; undefined for an event that does not repeat. */
  readonly original: Moment | undefined;
}

/** True for an event with a rule or further dates. */
export function repeats({ master }: Series): boolean {
  return master !== undefined && (listLines(master, "RRULE").length > 0 || listLines(master, "RDATE").length > 0);
}

/** The instances of a series that touch a span, in no order. Those that cannot be read are left out. */
export function listInstances(file: CalendarFile, series: Series, span: InstanceSpan): Instance[] {
  return makeInstances(file, series, span).filter((one) => touches(one, span));
}

/** The instance that a series has at `original`, wherever it was moved to; without one the event itself, or its first instance. */
export function findInstance(
  file: CalendarFile,
  series: Series,
  o: { readonly original: Moment | undefined; readonly zone: Zone; readonly budget: Budget },
): Instance | undefined {
  const { original, zone, budget } = o;
  const [block] = series.master === undefined ? series.overrides : [series.master];
  const start = block === undefined ? undefined : readTiming(block, file, zone)?.start;
  if (block === undefined || start === undefined) return undefined;
  const at = momentToInstant(original ?? start, zone);
  const near = makeInstances(file, series, { from: at - DAY_MS, to: at + DAY_MS, zone, budget });
  if (original !== undefined)
    return near.find(
      (one) => one.original !== undefined && toKey(one.original, start, zone) === toKey(original, start, zone),
    );
  const first = near.find((one) => one.event === block);
  if (first !== undefined || series.master === undefined) return first;
  // Its first instance was taken out or changed: the series itself is shown with the time it began.
  const timing = readTiming(block, file, zone);
  return (
    timing && createInstance({ series, event: block, timing, original: repeats(series) ? start : undefined }, zone)
  );
}

/** All instances near a span, and all that differ. */
function makeInstances(file: CalendarFile, series: Series, span: InstanceSpan): Instance[] {
  const { master } = series;
  const { zone } = span;
  const overrides = readOverrides(file, series, zone);
  const timing = master === undefined ? undefined : readTiming(master, file, zone);
  // What an EXDATE takes away stays away, also where something else is known of it.
  const isTaken = createTakenTest(master, file, { start: timing?.start, span });
  const changed = overrides.all.flatMap(({ event, original }) => {
    const own = original !== undefined && isTaken(original) ? undefined : readTiming(event, file, zone);
    return own === undefined ? [] : [createInstance({ series, event, timing: own, original }, zone)];
  });
  if (master === undefined || timing === undefined) return changed;
  if (!repeats(series))
    return [...changed, createInstance({ series, event: master, timing, original: undefined }, zone)];
  const regular = listStarts(master, timing, { file, span, overrides }).flatMap(({ start: original, end }) => {
    if (overrides.keys.has(toKey(original, timing.start, zone)) || isTaken(original)) return [];
    const moved = moveByRange(overrides, original, { file, zone });
    const { event, timing: own, start } = moved ?? { event: master, timing, start: original };
    const fixed = end === undefined || moved !== undefined ? own.endOf(start) : end;
    return [createInstance({ series, event, timing: { ...own, start, endOf: () => fixed }, original }, zone)];
  });
  return [...changed, ...regular];
}

/** Whether an instance is taken out of its series: by a date, or by a rule. */
function createTakenTest(
  master: ContentBlock | undefined,
  file: CalendarFile,
  { start, span }: { readonly start: Moment | undefined; readonly span: InstanceSpan },
): (original: Moment) => boolean {
  if (master === undefined || start === undefined) return () => false;
  const { zone } = span;
  const moments = listLines(master, "EXDATE").flatMap((line) => readMoments(line, file.zonesOf(master)));
  const taken = new Set(
    moments.map((moment) => (moment.isDay && !start.isDay ? `D${moment.at}` : toKey(moment, start, zone))),
  );
  const { rules } = readRules(master, "EXRULE");
  return (original) => {
    if (taken.has(toKey(original, start, zone)) || taken.has(`D${toDay(original.at)}`)) return true;
    const [from, to] = [original.at, original.at];
    return rules.some((rule) => listRuled(rule, start, { from, to, span }).length > 0);
  };
}

function touches({ startsAt, endsAt }: Instance, { from, to }: InstanceSpan): boolean {
  return startsAt < to && (endsAt > from || (startsAt === endsAt && startsAt >= from));
}

function createInstance(
  o: { series: Series; event: ContentBlock; timing: Timing; original: Moment | undefined },
  zone: Zone,
): Instance {
  const { start } = o.timing;
  const { end, endsAt } = o.timing.endOf(start);
  const startsAt = momentToInstant(start, zone);
  return {
    series: o.series,
    event: o.event,
    start,
    end,
    startsAt,
    endsAt: Math.max(startsAt, endsAt),
    original: o.original,
  };
}
