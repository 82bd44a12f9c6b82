import { DAY_MS, type LocalTime, toDay, toLocal, UTC, type Zone } from "../../../shared/base/zones.ts";
import { type ContentBlock, listLines } from "../../collections/content-tree.ts";
import { type ContentDuration, firstParam, readDuration, readRawLine } from "../../collections/content-values.ts";
import { type Budget, expandRule } from "../time/expand-rule.ts";
import { findEnd, type RecurrenceRule, readRules } from "../time/recurrence-rule.ts";
import type { CalendarFile, Series } from "./calendar-file.ts";
import {
  type FindFileZone,
  type Moment,
  momentToInstant,
  readFirstMoment,
  readMoment,
  readMoments,
  toKey,
  toSeriesTime,
} from "./moment.ts";

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
export interface Timing {
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

/** Start and length of an event; undefined for one without a start that can be read. */
export function readTiming(event: ContentBlock, file: CalendarFile, zone: Zone): Timing | undefined {
  const zones = file.zonesOf(event);
  const start = readFirstMoment(event, "DTSTART", zones);
  if (start === undefined) return undefined;
  const end = readFirstMoment(event, "DTEND", zones);
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
  return { start, endOf: (from) => addDuration(from, { days: 0, ms: length }, zone, end), length };
}

function toEnd(end: Moment, zone: Zone): End {
  return { end, endsAt: momentToInstant(end, zone) };
}

function addDuration(from: Moment, { days, ms }: ContentDuration, zone: Zone, form = from): End {
  const day = { ...from, at: from.at + days * DAY_MS };
  if (from.isDay) return toEnd({ ...day, at: toDay(day.at + ms) }, zone);
  const endsAt = momentToInstant(day, zone) + ms;
  return { end: { ...form, at: toLocal(endsAt, form.zone ?? zone) }, endsAt };
}

/** The occurrences of a rule of an event that begins at `start`, which counts as the first. */
export function listRuled(
  given: RecurrenceRule,
  start: Moment,
  { from, to, span }: { readonly from: number; readonly to: number; readonly span: InstanceSpan },
): number[] {
  const { BYHOUR: _, BYMINUTE: __, BYSECOND: ___, ...days } = given.by;
  const rule = start.isDay ? { ...given, by: days } : given;
  const zone = start.zone ?? span.zone;
  const end = findEnd(rule, (instant) => toLocal(instant, zone), { ofDays: start.isDay });
  const { budget } = span;
  const isCounted =
    rule.count !== undefined && expandRule(rule, start.at, { from: start.at, to: start.at, end, budget }).length === 0;
  const count = rule.count !== undefined && isCounted ? rule.count - 1 : rule.count;
  return count === 0 ? [] : expandRule({ ...rule, count }, start.at, { from, to, end, budget });
}

/** Start of one instance of a series. */
export interface Start {
  readonly start: Moment;
  /** Where RDATE names it as a period. */
  readonly end?: End;
}

/** The starts of a series near a span, each once: of its rule, its further dates, and the event itself. */
export function listStarts(
  master: ContentBlock,
  { start, length }: Timing,
  o: { readonly file: CalendarFile; readonly span: InstanceSpan; readonly overrides: Overrides },
): Start[] {
  const { file, span, overrides } = o;
  const zone = start.zone ?? span.zone;
  // An instance may be longer than usual, and moved by one that changes all later ones.
  const slack = length + overrides.reach + 2 * DAY_MS;
  const [from, to] = [toLocal(span.from, zone) - slack, toLocal(span.to, zone) + slack];
  const ruled = readRules(master, "RRULE").rules.flatMap((rule) => listRuled(rule, start, { from, to, span }));
  const all = [start.at, ...ruled].map((at): Start => ({ start: { ...start, at } }));
  const dates = listLines(master, "RDATE")
    .flatMap((line) => readDates(line, file.zonesOf(master)))
    .map((one) => ({ ...one, start: toSeriesTime(start, one.start, span.zone) }));
  const unique = new Map([...all, ...dates].map((one) => [toKey(one.start, start, span.zone), one]));
  return [...unique.values()];
}

/** The moments of an RDATE, which may be periods. */
function readDates(line: ReturnType<typeof listLines>[number], findZone: FindFileZone): Start[] {
  const raw = readRawLine(line);
  if (raw === undefined || firstParam(raw.params, "value")?.toUpperCase() !== "PERIOD")
    return readMoments(line, findZone).map((start) => ({ start }));
  const zone = findZone(firstParam(raw.params, "tzid") ?? "");
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
  /** Undefined where it cannot be read. */
  readonly original: Moment | undefined;
}

/** Events that stand in place of single instances of a series, or of one and all later ones. */
export interface Overrides {
  readonly all: readonly Override[];
  /** The instances that have an override, as {@link toKey} names them. */
  readonly keys: ReadonlySet<string>;
  /** Those that hold for all later instances, too, in the order of time. */
  readonly ranges: readonly Range[];
  /** How far these move an instance, in milliseconds. */
  readonly reach: number;
}

interface Range {
  readonly event: ContentBlock;
  readonly original: Moment;
  readonly shift: number;
}

/** Reads the overrides of a series. One whose RECURRENCE-ID cannot be read is in `all` only. */
export function readOverrides(file: CalendarFile, { master, overrides }: Series, zone: Zone): Overrides {
  const all: Override[] = [];
  const keys = new Set<string>();
  const ranges: Range[] = [];
  const start = master && readFirstMoment(master, "DTSTART", file.zonesOf(master));
  for (const event of overrides) {
    const named = readFirstMoment(event, "RECURRENCE-ID", file.zonesOf(event));
    const original = named && start ? toSeriesTime(start, named, zone) : named;
    all.push({ event, original });
    if (original === undefined) continue;
    keys.add(toKey(original, start ?? original, zone));
    const [line] = listLines(event, "RECURRENCE-ID");
    const range = line === undefined ? undefined : firstParam(readRawLine(line)?.params ?? {}, "range");
    const moved = readFirstMoment(event, "DTSTART", file.zonesOf(event));
    if (range?.toUpperCase() !== "THISANDFUTURE" || moved === undefined) continue;
    const there = toLocal(momentToInstant(original, zone), moved.zone ?? zone);
    ranges.push({ event, original, shift: moved.isDay ? moved.at - original.at : moved.at - there });
  }
  ranges.sort((a, b) => momentToInstant(a.original, zone) - momentToInstant(b.original, zone));
  return { all, keys, ranges, reach: Math.max(0, ...ranges.map(({ shift }) => Math.abs(shift))) };
}

/** How an instance looks after one that changed all later ones; undefined where there is none before it. */
export function moveByRange(
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
