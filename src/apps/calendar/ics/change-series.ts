import { refuseMissing, refuseValue } from "../../../service/service-error.ts";
import { toLocal, UTC, type Zone } from "../../../shared/base/zones.ts";
import { setLine, setText } from "../../collections/content-edit.ts";
import {
  type ContentBlock,
  type ContentFile,
  listBlocks,
  listLines,
  makeBlock,
  makeLine,
  replaceBlock,
  replaceLines,
} from "../../collections/content-tree.ts";
import { firstParam, readRawLine, readText } from "../../collections/content-values.ts";
import { type CalendarFile, isOverride, type Series } from "./calendar-file.ts";
import { createRoot, describeZones, markChanged } from "./edit-file.ts";
import type { Instance } from "./instances.ts";
import {
  type Moment,
  momentToInstant,
  readFirstMoment,
  toFormOf,
  toKey,
  writeMoment,
  writeMomentLine,
} from "./moment.ts";
import { createShift, readRuleText, setRule, setTimes, shiftDates, shiftOverride } from "./move-times.ts";
import { readTiming } from "./starts.ts";

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
export function composeEventFile(draft: EventDraft, uid: string, context: ChangeContext): ContentFile {
  const created = writeMoment({ at: Math.floor(context.now / 1000) * 1000, isDay: false, zone: UTC });
  const empty = makeBlock("VEVENT", [makeLine(`UID:${uid}`), makeLine(`CREATED:${created}`)]);
  const event = setTexts(setTimes(empty, draft), draft, false);
  const ruled = setRule(event, draft.rrule, draft.start, context.zone);
  const root = createRoot([markChanged(ruled, context.now, false)]);
  return withZones({ entries: [root], oddities: [] }, draft, { root, zone: context.zone });
}

/** The file after a change of a whole event or series. */
export function changeSeries(
  file: CalendarFile,
  series: Series,
  { change, context }: { readonly change: EventChange; readonly context: ChangeContext },
): ContentFile {
  const { master, timing } = needMaster(file, series, context.zone);
  const start = change.start ?? timing.start;
  const end = change.end ?? (change.start === undefined ? undefined : timing.endOf(start).end);
  if (start.isDay !== (end ?? start).isDay || (change.end === undefined && start.isDay !== timing.start.isDay))
    throw refuseValue("end", "is needed, too: start and end are both days, or both times.");
  const isMoved = change.start !== undefined;
  if (end !== undefined) checkTimesKnown(file, series, isMoved);
  if (change.rrule !== undefined || isMoved) checkOneRule(master, change.rrule);
  const timed = end === undefined ? master : setTimes(master, { ...(isMoved && { start }), end });
  const rrule = change.rrule ?? (isMoved ? readRuleText(master) : undefined);
  const ruled = setRule(timed, rrule, start, context.zone);
  const shift = isMoved ? createShift(timing.start, start, context.zone) : undefined;
  const shifted = shift === undefined ? ruled : shiftDates(ruled, file, { shift, event: master });
  const changed = markChanged(setTexts(shifted, change, isOldCalendar(file, master)), context.now, context.counts);
  let content = replaceBlock(file.content, master, [changed]);
  if (shift !== undefined)
    for (const event of series.overrides)
      content = replaceBlock(content, event, [shiftOverride(event, file, { shift, zone: context.zone })]);
  return withZones(content, change, { root: findRoot(content, changed), zone: context.zone });
}

/** Times of a zone that nobody knows cannot be moved, nor can what else the series says of them. */
function checkTimesKnown(file: CalendarFile, { master, overrides }: Series, isMoved: boolean): void {
  const events = [...(master === undefined ? [] : [master]), ...(isMoved ? overrides : [])];
  const guess = events.flatMap((event) =>
    ["DTSTART", "DTEND"].map((name) => readFirstMoment(event, name, file.zonesOf(event))),
  );
  const unknown = guess.find((moment) => moment?.isGuess);
  if (unknown === undefined) return;
  throw refuseValue(
    "start",
    `cannot be changed: the zone "${unknown.tzid || "X-WR-TIMEZONE"}" of the event is not known.`,
    "Set another zone with the program that made it.",
  );
}

function checkOneRule(master: ContentBlock, given: string | undefined): void {
  const rules = [...listLines(master, "RRULE"), ...listLines(master, "EXRULE")];
  if (rules.length < 2 || given === "") return;
  const field = given === undefined ? "start" : "rrule";
  throw refuseValue(field, "cannot be changed: the event has several rules.", "Change single instances.");
}

function isOldCalendar(file: CalendarFile, event: ContentBlock): boolean {
  return readText(file.rootOf(event), "VERSION") === "1.0";
}

/** The calendar of a file that an event stands in. */
function findRoot({ entries }: ContentFile, event: ContentBlock): ContentBlock {
  const roots = listBlocks({ entries }, "VCALENDAR");
  return roots.find((root) => root.entries.includes(event)) ?? (roots[0] as ContentBlock);
}

/** The file after a change of one instance of a series. */
export function changeInstance(
  file: CalendarFile,
  instance: Instance,
  { change, context }: { readonly change: EventChange; readonly context: ChangeContext },
): ContentFile {
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
  const times = change.start === undefined && change.end === undefined ? undefined : { start, end };
  if (times !== undefined) checkTimesKnown(file, { ...instance.series, overrides: [instance.event] }, true);
  const own = ownBlock(file, instance, context.zone);
  const timed = times === undefined ? own.block : setTimes(own.block, times);
  const texts = setTexts(timed, change, isOldCalendar(file, instance.event));
  const changed = markChanged(texts, context.now, context.counts);
  const content = own.isNew
    ? addAfter(file.content, instance, changed)
    : replaceBlock(file.content, own.block, [changed]);
  return withZones(content, change, { root: findRoot(content, changed), zone: context.zone });
}

/** The file with the rules of the zones of new times. */
function withZones(
  content: ContentFile,
  { start, end }: EventChange,
  { root, zone }: { readonly root: ContentBlock; readonly zone: Zone },
): ContentFile {
  const first = start ?? end;
  if (first === undefined) return content;
  const zones = [start, end].map((moment) => (moment?.tzid === undefined ? moment?.zone : undefined));
  return describeZones(content, root, { zones, instant: momentToInstant(first, zone) });
}

/** The file without one instance of a series; undefined when nothing is left in it. */
export function removeInstance(
  file: CalendarFile,
  instance: Instance,
  context: ChangeContext,
): ContentFile | undefined {
  const { series, original } = instance;
  const own = ownBlock(file, instance, context.zone);
  // One that holds for all later instances, too, is still needed for those.
  const [id] = listLines(own.block, "RECURRENCE-ID");
  const isRange = id !== undefined && firstParam(readRawLine(id)?.params ?? {}, "range") !== undefined;
  const content = own.isNew || isRange ? file.content : replaceBlock(file.content, own.block, []);
  const { master } = series;
  if (master === undefined || original === undefined) return withContent(content);
  const { timing } = needMaster(file, series, context.zone);
  const line = writeMomentLine("EXDATE", [toFormOf(timing.start, original, context.zone)]);
  const excluded = replaceLines(master, [], [line]);
  return replaceBlock(content, master, [markChanged(excluded, context.now, context.counts)]);
}

/** The file without a series; undefined when nothing is left in it. */
export function removeSeries({ content }: CalendarFile, { master, overrides, older }: Series): ContentFile | undefined {
  if (older.length > 0)
    throw refuseValue(
      "event_id",
      "names an event of which the file has older versions: one of them would be shown then.",
      "Remove those with another program first.",
    );
  const events = [...(master === undefined ? [] : [master]), ...overrides];
  return withContent(events.reduce((left, event) => replaceBlock(left, event, []), content));
}

/** Undefined where nothing is left that somebody could miss. */
function withContent(content: ContentFile): ContentFile | undefined {
  const roots = content.entries.filter((entry): entry is ContentBlock => !("raw" in entry));
  const isEmpty = roots.every(
    ({ name, entries }) =>
      name === "VCALENDAR" && entries.every((entry) => "raw" in entry || entry.name === "VTIMEZONE"),
  );
  return isEmpty ? undefined : content;
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
  if (event !== series.master && isOverride(event)) {
    const at = readFirstMoment(event, "RECURRENCE-ID", file.zonesOf(event));
    const isOwn = at !== undefined && toKey(at, form, zone) === toKey(original, form, zone);
    if (isOwn) return { block: event, isNew: false };
  }
  const dropped = new Set(["RRULE", "RDATE", "EXDATE", "EXRULE", "RECURRENCE-ID"]);
  const kept = event.entries.filter((entry) => !("raw" in entry) || !dropped.has(entry.name));
  const copy = setTimes({ ...event, entries: kept }, { start, end });
  const id = writeMomentLine("RECURRENCE-ID", [toFormOf(form, original, zone)]);
  return { block: setLine(copy, "RECURRENCE-ID", id), isNew: true };
}

/** The file with a block more, behind the others of its series. */
export function addAfter(content: ContentFile, { series, event }: Instance, block: ContentBlock): ContentFile {
  const last = series.overrides.at(-1) ?? series.master ?? event;
  return replaceBlock(content, last, [last, block]);
}

function setTexts(event: ContentBlock, { title, location, description }: EventChange, isOld: boolean): ContentBlock {
  const titled = setText(event, "SUMMARY", title, { field: "new_title", isOld });
  const placed = setText(titled, "LOCATION", location, { field: "location", isOld });
  const described = setText(placed, "DESCRIPTION", description, { field: "description", isOld });
  // The same as HTML, which Outlook shows before the other.
  return description === undefined ? described : replaceLines(described, listLines(described, "X-ALT-DESC"), []);
}
