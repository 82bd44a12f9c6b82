import { DAY_MS, toInstant, toLocal, UTC, type Zone } from "../../../../base/zones.ts";
import { refuseMissing, refuseValue } from "../../../service-error.ts";
import { type ContentBlock, listLines, makeLine, replaceLines } from "../../collections/content-tree.ts";
import { firstParam, readRawLine } from "../../collections/content-values.ts";
import { expandRule } from "../time/expand-rule.ts";
import { findEnd, parseRule, type RecurrenceRule } from "../time/recurrence-rule.ts";
import { type CalendarFile, isOverride, type Series } from "./calendar-file.ts";
import { createRoot, describeZones, markChanged, replaceEvent, setText } from "./edit-file.ts";
import { type Instance, readTiming } from "./instances.ts";
import { type Moment, momentToInstant, readMoments, toFormOf, writeMoment, writeMomentLine } from "./moment.ts";

/** What of an event is set; what is undefined stays as it is, and an empty text is taken away. */
export interface EventChange {
  readonly title?: string | undefined;
  readonly location?: string | undefined;
  readonly description?: string | undefined;
  /** How it repeats. */
  readonly rrule?: string | undefined;
  readonly start?: Moment | undefined;
  /** Not included: for days the day after the last one. */
  readonly end?: Moment | undefined;
}

/** A new event. */
export interface EventDraft extends EventChange {
  readonly title: string;
  readonly start: Moment;
  readonly end: Moment;
}

/** The moment of a change, and the zone of times that name none. */
export interface ChangeContext {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly zone: Zone;
  /** True where the change is one of the organizer's, or there is none: its number goes up. */
  readonly counts: boolean;
}

/** A file with one new event. */
export function composeEventFile(draft: EventDraft, uid: string, context: ChangeContext): ContentBlock {
  const created = writeMoment({ at: Math.floor(context.now / 1000) * 1000, isDay: false, zone: UTC });
  const empty: ContentBlock = { name: "VEVENT", entries: [makeLine(`UID:${uid}`), makeLine(`CREATED:${created}`)] };
  const event = setTexts(setTimes(empty, draft), draft);
  const ruled = setRule(event, draft.rrule, draft.start, context.zone);
  return withZones(createRoot([markChanged(ruled, context.now, false)]), draft, context);
}

/** The file after a change of a whole event or series. */
export function changeSeries(
  file: CalendarFile,
  series: Series,
  { change, context }: { readonly change: EventChange; readonly context: ChangeContext },
): ContentBlock {
  const { master, timing } = needMaster(file, series, context.zone);
  const start = change.start ?? timing.start;
  const end = change.end ?? (change.start === undefined ? undefined : timing.endOf(start).end);
  if (start.isDay !== (end ?? start).isDay || (change.end === undefined && start.isDay !== timing.start.isDay))
    throw refuseValue("end", "is needed, too: start and end are both days, or both times.");
  const isMoved = change.start !== undefined;
  const timed = end === undefined ? master : setTimes(master, { start, end });
  const rrule = change.rrule ?? (isMoved ? readRuleText(master) : undefined);
  const ruled = setRule(timed, rrule, start, context.zone);
  const shift = isMoved ? createShift(timing.start, start, context.zone) : undefined;
  const changed = markChanged(
    setTexts(shift === undefined ? ruled : shiftDates(ruled, file, shift), change),
    context.now,
    context.counts,
  );
  let root = replaceEvent(file.root, master, [changed]);
  if (shift !== undefined)
    for (const event of series.overrides)
      root = replaceEvent(root, event, [shiftOverride(event, file, { shift, zone: context.zone })]);
  return withZones(root, change, context);
}

/** The file after a change of one instance of a series. */
export function changeInstance(
  file: CalendarFile,
  instance: Instance,
  { change, context }: { readonly change: EventChange; readonly context: ChangeContext },
): ContentBlock {
  if (change.rrule !== undefined)
    throw refuseValue("rrule", "cannot be set for one instance.", "Change the whole series, or leave rrule out.");
  const start = change.start ?? instance.start;
  const length = instance.endsAt - instance.startsAt;
  const moved = {
    ...start,
    at: start.isDay
      ? start.at + length
      : toLocal(momentToInstant(start, context.zone) + length, start.zone ?? context.zone),
  };
  const end = change.end ?? (change.start === undefined ? instance.end : moved);
  if (
    start.isDay !== end.isDay ||
    (change.start !== undefined && change.end === undefined && start.isDay !== instance.start.isDay)
  )
    throw refuseValue("end", "is needed, too: start and end are both days, or both times.");
  const own = ownBlock(file, instance, context.zone);
  const changed = markChanged(setTexts(setTimes(own.block, { start, end }), change), context.now, context.counts);
  const root = own.isNew ? addAfter(file.root, instance, changed) : replaceEvent(file.root, own.block, [changed]);
  return withZones(root, change, context);
}

/** The file with the rules of the zones of new times. */
function withZones(root: ContentBlock, { start, end }: EventChange, { zone }: ChangeContext): ContentBlock {
  const first = start ?? end;
  return first === undefined ? root : describeZones(root, [start?.zone, end?.zone], momentToInstant(first, zone));
}

/** The file without one instance of a series; undefined when nothing is left in it. */
export function removeInstance(
  file: CalendarFile,
  instance: Instance,
  context: ChangeContext,
): ContentBlock | undefined {
  const { series, original } = instance;
  const own = ownBlock(file, instance, context.zone);
  // One that holds for all later instances, too, is still needed for those.
  const [id] = listLines(own.block, "RECURRENCE-ID");
  const isRange = id !== undefined && firstParam(readRawLine(id)?.params ?? {}, "range") !== undefined;
  const root = own.isNew || isRange ? file.root : replaceEvent(file.root, own.block, []);
  const { master } = series;
  if (master === undefined || original === undefined) return withContent(root);
  const { timing } = needMaster(file, series, context.zone);
  const line = writeMomentLine("EXDATE", [toFormOf(timing.start, original, context.zone)]);
  const excluded = replaceLines(master, "EXDATE", [...listLines(master, "EXDATE"), line]);
  return replaceEvent(root, master, [markChanged(excluded, context.now, context.counts)]);
}

/** The file without a series; undefined when nothing is left in it. */
export function removeSeries({ root }: CalendarFile, { master, overrides }: Series): ContentBlock | undefined {
  const gone = new Set<unknown>([...(master === undefined ? [] : [master]), ...overrides]);
  return withContent({ ...root, entries: root.entries.filter((entry) => !gone.has(entry)) });
}

function withContent(root: ContentBlock): ContentBlock | undefined {
  return root.entries.some((entry) => !("raw" in entry) && entry.name !== "VTIMEZONE") ? root : undefined;
}

function needMaster(file: CalendarFile, { master, uid }: Series, zone: Zone) {
  const timing = master === undefined ? undefined : readTiming(master, file, zone);
  if (master !== undefined && timing !== undefined) return { master, timing };
  throw refuseMissing(`Only single instances of the series "${uid}" are in this calendar.`, "Name one by instance.");
}

/** The block of an instance alone; a copy of what holds for it where there is none yet. */
export function ownBlock(file: CalendarFile, instance: Instance, zone: Zone): { block: ContentBlock; isNew: boolean } {
  const { event, original, series, start, end } = instance;
  if (original === undefined) return { block: event, isNew: false };
  const form = readTiming(series.master ?? event, file, zone)?.start ?? original;
  if (isOverride(event)) {
    const [at] = listLines(event, "RECURRENCE-ID").flatMap((line) => readMoments(line, file.findZone));
    const isOwn = at !== undefined && momentToInstant(at, zone) === momentToInstant(original, zone);
    if (isOwn) return { block: event, isNew: false };
  }
  const dropped = new Set(["RRULE", "RDATE", "EXDATE", "EXRULE", "RECURRENCE-ID"]);
  const kept = event.entries.filter((entry) => !("raw" in entry) || !dropped.has(entry.name));
  const copy = setTimes({ ...event, entries: kept }, { start, end });
  const id = writeMomentLine("RECURRENCE-ID", [toFormOf(form, original, zone)]);
  return { block: replaceLines(copy, "RECURRENCE-ID", [id]), isNew: true };
}

/** The file with a block more, behind the others of its series. */
export function addAfter(root: ContentBlock, { series, event }: Instance, block: ContentBlock): ContentBlock {
  const last = series.overrides.at(-1) ?? series.master ?? event;
  return replaceEvent(root, last, [last, block]);
}

function setTexts(event: ContentBlock, { title, location, description }: EventChange): ContentBlock {
  return setText(setText(setText(event, "SUMMARY", title), "LOCATION", location), "DESCRIPTION", description);
}

function setTimes(event: ContentBlock, { start, end }: { start: Moment; end: Moment }): ContentBlock {
  const started = replaceLines(event, "DTSTART", [writeMomentLine("DTSTART", [start])]);
  const ended = replaceLines(started, "DTEND", [writeMomentLine("DTEND", [end])]);
  return replaceLines(ended, "DURATION", []);
}

function readRuleText(event: ContentBlock): string | undefined {
  const [line] = listLines(event, "RRULE");
  return line === undefined ? undefined : readRawLine(line)?.value;
}

function setRule(event: ContentBlock, text: string | undefined, start: Moment, zone: Zone): ContentBlock {
  if (text === undefined) return event;
  if (text === "") return ["RRULE", "RDATE", "EXDATE"].reduce((one, name) => replaceLines(one, name, []), event);
  const rule = readGivenRule(text);
  const own = start.zone ?? zone;
  const end = findEnd(rule, (instant) => toLocal(instant, own));
  const span = { from: start.at, to: start.at, end, budget: { steps: 10 } };
  if (expandRule(rule, start.at, span).length === 0)
    throw refuseValue("start", "is not one of the times that rrule names.", "Begin with the first time of the rule.");
  return replaceLines(event, "RRULE", [makeLine(`RRULE:${writeUntil(text, rule, { start, own })}`)]);
}

function readGivenRule(text: string): RecurrenceRule {
  try {
    return parseRule(text);
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
type Shift = (moment: Moment) => Moment;

function createShift(from: Moment, to: Moment, zone: Zone): Shift {
  const delta = to.at - toFormOf(to, from, zone).at;
  return (moment) => {
    const there = toFormOf(to, moment, zone);
    return { ...there, at: there.at + delta };
  };
}

/** What was taken out of a series or added to it stays so when the series is moved. */
function shiftDates(event: ContentBlock, file: CalendarFile, shift: Shift): ContentBlock {
  return ["EXDATE", "RDATE"].reduce((block, name) => {
    const lines = listLines(block, name);
    if (lines.some((line) => readRawLine(line)?.value.includes("/")))
      throw refuseValue(
        "start",
        "cannot be changed: the series has times of other lengths.",
        "Change single instances.",
      );
    const [first, ...others] = lines.flatMap((line) => readMoments(line, file.findZone)).map(shift);
    return first === undefined ? block : replaceLines(block, name, [writeMomentLine(name, [first, ...others])]);
  }, event);
}

/** An instance that differs belongs to the moved one; its own time moves with it unless it was another one before. */
function shiftOverride(
  event: ContentBlock,
  file: CalendarFile,
  { shift, zone }: { readonly shift: Shift; readonly zone: Zone },
): ContentBlock {
  const [line] = listLines(event, "RECURRENCE-ID");
  const original = line && readMoments(line, file.findZone)[0];
  const timing = readTiming(event, file, zone);
  if (line === undefined || original === undefined || timing === undefined) return event;
  const range = firstParam(readRawLine(line)?.params ?? {}, "range");
  const id = writeMomentLine("RECURRENCE-ID", [shift(original)], range === undefined ? {} : { range });
  const renamed = replaceLines(event, "RECURRENCE-ID", [id]);
  if (momentToInstant(timing.start, zone) !== momentToInstant(original, zone)) return renamed;
  return setTimes(renamed, { start: shift(timing.start), end: shift(timing.endOf(timing.start).end) });
}
