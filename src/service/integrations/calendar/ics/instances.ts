import { DAY_MS, type LocalTime, toDay, toLocal, UTC, type Zone } from "../../../../base/zones.ts";
import { type ContentBlock, listLines } from "../../collections/content-tree.ts";
import { type ContentDuration, firstParam, readDuration, readRawLine } from "../../collections/content-values.ts";
import { type Budget, expandRule } from "../time/expand-rule.ts";
import { findEnd } from "../time/recurrence-rule.ts";
import { type CalendarFile, readRule, type Series } from "./calendar-file.ts";
import { type Moment, momentToInstant, readFirstMoment, readMoment, readMoments } from "./moment.ts";

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

/** Which instances are wanted. */
export interface InstanceSpan {
  /** Milliseconds since the epoch; the end is not included. */
  readonly from: number;
  readonly to: number;
  /** For days and for times without a zone. */
  readonly zone: Zone;
  readonly budget: Budget;
}

/** What is known of an event's time. */
interface Timing {
  readonly start: Moment;
  /** The end of the instance that begins at `start`. */
  endOf(start: Moment): End;
  /** About how long it is, in milliseconds. */
  readonly length: number;
}

/** The end of an instance: as a clock shows it, and when that is, which differ where clocks are set back. */
interface End {
  readonly end: Moment;
  /** Milliseconds since the epoch. */
  readonly endsAt: number;
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
  const isTaken = createTakenTest(master, file, { start: timing?.start, zone });
  const changed = [...overrides.byKey.values()].flatMap(({ event, original }) => {
    const own = isTaken(original) ? undefined : readTiming(event, file, zone);
    return own === undefined ? [] : [createInstance({ series, event, timing: own, original }, zone)];
  });
  if (master === undefined || timing === undefined) return changed;
  if (!repeats(series))
    return [...changed, createInstance({ series, event: master, timing, original: undefined }, zone)];
  const regular = listStarts(master, timing, { file, span, overrides }).flatMap(({ start: original, end }) => {
    if (overrides.byKey.has(toKey(original, timing.start, zone)) || isTaken(original)) return [];
    const moved = moveByRange(overrides, original, { file, zone });
    const { event, timing: own, start } = moved ?? { event: master, timing, start: original };
    const fixed = end === undefined || moved !== undefined ? own.endOf(start) : end;
    return [createInstance({ series, event, timing: { ...own, start, endOf: () => fixed }, original }, zone)];
  });
  return [...changed, ...regular];
}

/** Whether an instance is taken out of its series. */
function createTakenTest(
  master: ContentBlock | undefined,
  file: CalendarFile,
  { start, zone }: { readonly start: Moment | undefined; readonly zone: Zone },
): (original: Moment) => boolean {
  if (master === undefined || start === undefined) return () => false;
  const moments = listLines(master, "EXDATE").flatMap((line) => readMoments(line, file.findZone));
  const taken = new Set(moments.map((moment) => toKey(moment, start, zone)));
  return (original) => taken.has(toKey(original, start, zone)) || taken.has(toDayKey(original));
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

/** The same for all ways to name one instance of a series that begins at `start`. */
function toKey(moment: Moment, start: Moment, zone: Zone): string {
  if (start.isDay || moment.isDay) return toDayKey(moment);
  return `T${momentToInstant(moment, zone)}`;
}

function toDayKey({ at }: Moment): string {
  return `D${toDay(at)}`;
}

/** Start and length of an event; undefined for one without a start that can be read. */
export function readTiming(event: ContentBlock, file: CalendarFile, zone: Zone): Timing | undefined {
  const start = readFirstMoment(event, "DTSTART", file.findZone);
  if (start === undefined) return undefined;
  const end = readFirstMoment(event, "DTEND", file.findZone);
  const [line] = listLines(event, "DURATION");
  const duration = line === undefined ? undefined : readDuration(readRawLine(line)?.value ?? "");
  if (end === undefined) {
    // Without both, a day is one day long and a time has no length (RFC 5545, section 3.6.1).
    const length = duration ?? { days: start.isDay ? 1 : 0, ms: 0 };
    const endOf = (from: Moment) => addDuration(from, length, zone);
    return { start, endOf, length: length.days * DAY_MS + length.ms };
  }
  if (start.isDay || end.isDay) {
    const length = Math.max(start.isDay ? DAY_MS : 0, toDay(end.at) - toDay(start.at));
    return { start, endOf: (from) => toEnd({ ...from, at: from.at + length }, zone), length };
  }
  // Named by its end, each instance is exactly as long as the first (RFC 5545, section 3.8.5.3).
  const length = Math.max(0, momentToInstant(end, zone) - momentToInstant(start, zone));
  return { start, endOf: (from) => addDuration(from, { days: 0, ms: length }, zone, end.zone), length };
}

function toEnd(end: Moment, zone: Zone): End {
  return { end, endsAt: momentToInstant(end, zone) };
}

function addDuration(from: Moment, { days, ms }: ContentDuration, zone: Zone, endZone = from.zone): End {
  const day = { ...from, at: from.at + days * DAY_MS };
  if (from.isDay) return toEnd({ ...day, at: toDay(day.at + ms) }, zone);
  const endsAt = momentToInstant(day, zone) + ms;
  return { end: { at: toLocal(endsAt, endZone ?? zone), isDay: false, zone: endZone }, endsAt };
}

interface Start {
  readonly start: Moment;
  /** Where RDATE names it as a period. */
  readonly end?: End;
}

/** The starts of a series near a span, each once: of its rule, its further dates, and the event itself. */
function listStarts(
  master: ContentBlock,
  { start, length }: Timing,
  o: { readonly file: CalendarFile; readonly span: InstanceSpan; readonly overrides: Overrides },
): Start[] {
  const { file, span, overrides } = o;
  const zone = start.zone ?? span.zone;
  // An instance may be longer than usual, and moved by one that changes all later ones.
  const slack = length + overrides.reach + 2 * DAY_MS;
  const [from, to] = [toLocal(span.from, zone) - slack, toLocal(span.to, zone) + slack];
  const rule = readRule(master);
  const end = rule === undefined ? 0 : findEnd(rule, (instant) => toLocal(instant, zone));
  const ruled = rule === undefined ? [] : expandRule(rule, start.at, { from, to, end, budget: span.budget });
  const all = [start.at, ...ruled].map((at): Start => ({ start: { ...start, at } }));
  const dates = listLines(master, "RDATE").flatMap((line) => readDates(line, file));
  const unique = new Map([...all, ...dates].map((one) => [toKey(one.start, start, span.zone), one]));
  return [...unique.values()];
}

/** The moments of an RDATE, which may be periods. */
function readDates(line: ReturnType<typeof listLines>[number], file: CalendarFile): Start[] {
  const raw = readRawLine(line);
  if (raw === undefined || firstParam(raw.params, "value")?.toUpperCase() !== "PERIOD")
    return readMoments(line, file.findZone).map((start) => ({ start }));
  const zone = file.findZone(firstParam(raw.params, "tzid") ?? "");
  return raw.value.split(",").flatMap((period) => {
    const [first = "", last = ""] = period.split("/");
    const start = readMoment(first, zone);
    if (start === undefined) return [];
    const length = readDuration(last);
    const named = readMoment(last, zone);
    const own = start.zone ?? UTC;
    const end = named === undefined ? length && addDuration(start, length, own) : toEnd(named, own);
    return [end === undefined ? { start } : { start, end }];
  });
}

interface Override {
  readonly event: ContentBlock;
  readonly original: Moment;
}

interface Overrides {
  readonly byKey: ReadonlyMap<string, Override>;
  /** Those that hold for all later instances, too, in the order of time. */
  readonly ranges: readonly (Override & { readonly shift: number })[];
  /** How far these move an instance, in milliseconds. */
  readonly reach: number;
}

function readOverrides(file: CalendarFile, { master, overrides }: Series, zone: Zone): Overrides {
  const byKey = new Map<string, Override>();
  const ranges: (Override & { readonly shift: number })[] = [];
  const start = master === undefined ? undefined : readFirstMoment(master, "DTSTART", file.findZone);
  for (const event of overrides) {
    const original = readFirstMoment(event, "RECURRENCE-ID", file.findZone);
    if (original === undefined) continue;
    byKey.set(toKey(original, start ?? original, zone), { event, original });
    const [line] = listLines(event, "RECURRENCE-ID");
    const range = line === undefined ? undefined : firstParam(readRawLine(line)?.params ?? {}, "range");
    const moved = readFirstMoment(event, "DTSTART", file.findZone);
    if (range?.toUpperCase() !== "THISANDFUTURE" || moved === undefined) continue;
    const there = toLocal(momentToInstant(original, zone), moved.zone ?? zone);
    ranges.push({ event, original, shift: moved.isDay ? moved.at - original.at : moved.at - there });
  }
  ranges.sort((a, b) => momentToInstant(a.original, zone) - momentToInstant(b.original, zone));
  return { byKey, ranges, reach: Math.max(0, ...ranges.map(({ shift }) => Math.abs(shift))) };
}

/** How an instance looks after one that changed all later ones; undefined where there is none before it. */
function moveByRange(
  { ranges }: Overrides,
  original: Moment,
  { file, zone }: { readonly file: CalendarFile; readonly zone: Zone },
): { event: ContentBlock; timing: Timing; start: Moment } | undefined {
  const at = momentToInstant(original, zone);
  const range = ranges.findLast((one) => momentToInstant(one.original, zone) <= at);
  const timing = range && readTiming(range.event, file, zone);
  if (range === undefined || timing === undefined) return undefined;
  const { start } = timing;
  const local: LocalTime = start.isDay ? toDay(original.at) : toLocal(at, start.zone ?? zone);
  return { event: range.event, timing, start: { ...start, at: local + range.shift } };
}
