import { refuseValue } from "../../../service/service-error.ts";
import { DAY_MS, toInstant, toLocal, UTC, type Zone } from "../../../shared/base/zones.ts";
import { changeLine, setLine } from "../../collections/content-edit.ts";
import { type ContentBlock, listLines, replaceLines } from "../../collections/content-tree.ts";
import { readRawLine } from "../../collections/content-values.ts";
import { expandRule } from "../time/expand-rule.ts";
import { findEnd, parseRule, type RecurrenceRule } from "../time/recurrence-rule.ts";
import type { CalendarFile } from "./calendar-file.ts";
import {
  listTimes,
  type Moment,
  momentToInstant,
  readFirstMoment,
  readMoments,
  toFormOf,
  writeMoment,
  writeMomentLine,
} from "./moment.ts";
import { readTiming } from "./starts.ts";

/** Sets DTSTART, if a start is given, and DTEND; a DURATION is replaced by the end. */
export function setTimes(event: ContentBlock, { start, end }: { start?: Moment; end: Moment }): ContentBlock {
  const [first] = listLines(event, "DTSTART");
  const started = start === undefined ? event : setLine(event, "DTSTART", writeMomentLine("DTSTART", [start], first));
  const [old] = listLines(started, "DTEND");
  const [length] = listLines(started, "DURATION");
  const ended = replaceLines(
    started,
    [old, length].filter((line) => line !== undefined),
    [writeMomentLine("DTEND", [end], old)],
    "DTEND",
  );
  return ended;
}

/** The value of the first RRULE as it is written; undefined without one, or for a line that cannot be read. */
export function readRuleText(event: ContentBlock): string | undefined {
  const [line] = listLines(event, "RRULE");
  return line === undefined ? undefined : readRawLine(line)?.value;
}

/**
 * Sets RRULE to a text; undefined changes nothing, and "" removes the rule with its further dates and exceptions.
 *
 * @throws ServiceError 400 `invalid_field_value` for a text that is no rule, and for a `start` that is not one of its
 * times
 */
export function setRule(event: ContentBlock, text: string | undefined, start: Moment, zone: Zone): ContentBlock {
  if (text === undefined) return event;
  if (text === "")
    return ["RRULE", "EXRULE", "RDATE", "EXDATE"].reduce(
      (one, name) => replaceLines(one, listLines(one, name), []),
      event,
    );
  const rule = readGivenRule(text);
  const own = start.zone ?? zone;
  const end = findEnd(rule, (instant) => toLocal(instant, own), { ofDays: start.isDay });
  const span = { from: start.at, to: start.at, end, budget: { steps: 10 } };
  if (expandRule(rule, start.at, span).length === 0)
    throw refuseValue("start", "is not one of the times that rrule names.", "Begin with the first time of the rule.");
  const [old] = listLines(event, "RRULE");
  return setLine(event, "RRULE", changeLine(old, "RRULE", { value: writeUntil(text, rule, { start, own }) }));
}

function readGivenRule(text: string): RecurrenceRule {
  try {
    const { rule, oddities } = parseRule(text);
    if (oddities[0] !== undefined) throw new Error(oddities[0]);
    return rule;
  } catch (error) {
    const why = error instanceof Error ? error.message : "";
    throw refuseValue("rrule", `cannot be used: ${why}.`, "For example FREQ=WEEKLY;BYDAY=MO;COUNT=10 (RFC 5545).");
  }
}

/** UNTIL is of the same kind as the start, and in UTC where that has a zone. */
function writeUntil(
  text: string,
  { until }: RecurrenceRule,
  o: { readonly start: Moment; readonly own: Zone },
): string {
  const plain = text.trim().toUpperCase();
  if (until === undefined || (until.isDay === o.start.isDay && (until.isDay || until.isUtc))) return plain;
  const at = until.isDay ? until.at + DAY_MS - 1000 : until.isUtc ? toLocal(until.at, o.own) : until.at;
  const moment = o.start.isDay
    ? { at, isDay: true, zone: undefined }
    : o.start.zone === undefined
      ? { at, isDay: false, zone: undefined }
      : { at: toInstant(at, o.own), isDay: false, zone: UTC };
  return plain.replace(/UNTIL=[^;]+/, `UNTIL=${writeMoment(moment)}`);
}

/** Moves a moment as the start of its series was moved. */
export type Shift = (moment: Moment) => Moment;

/**
 * The shift that moves `from` to `to`; each moment gets the kind and the zone of `to`. `zone`: for those without one.
 */
export function createShift(from: Moment, to: Moment, zone: Zone): Shift {
  const delta = to.at - toFormOf(to, from, zone).at;
  return (moment) => {
    const there = toFormOf(to, moment, zone);
    return { ...there, at: there.at + delta };
  };
}

/** What was taken out of a series or added to it stays so when the series is moved. */
export function shiftDates(
  block: ContentBlock,
  file: CalendarFile,
  { shift, event }: { readonly shift: Shift; readonly event: ContentBlock },
): ContentBlock {
  const lines = ["EXDATE", "RDATE"].flatMap((name) => listLines(block, name));
  return lines.reduce((changed, line) => {
    const moments = readMoments(line, file.zonesOf(event));
    if (moments.length !== listTimes(readRawLine(line)?.value ?? "").length)
      throw refuseValue(
        "start",
        "cannot be changed: the series has times of other lengths, or such that cannot be read.",
        "Change single instances.",
      );
    const [first, ...others] = moments.map(shift);
    const moved = first === undefined ? line : writeMomentLine(line.name, [first, ...others], line);
    return replaceLines(changed, [line], [moved]);
  }, block);
}

/** An instance that differs belongs to the moved one; its own time moves with it unless it was another one before. */
export function shiftOverride(
  event: ContentBlock,
  file: CalendarFile,
  { shift, zone }: { readonly shift: Shift; readonly zone: Zone },
): ContentBlock {
  const [line] = listLines(event, "RECURRENCE-ID");
  const original = readFirstMoment(event, "RECURRENCE-ID", file.zonesOf(event));
  const timing = readTiming(event, file, zone);
  if (line === undefined || original === undefined || timing === undefined) return event;
  const renamed = setLine(event, "RECURRENCE-ID", writeMomentLine("RECURRENCE-ID", [shift(original)], line));
  if (momentToInstant(timing.start, zone) !== momentToInstant(original, zone)) return renamed;
  return setTimes(renamed, { start: shift(timing.start), end: shift(timing.endOf(timing.start).end) });
}
