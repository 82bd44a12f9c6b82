import { findZone, type Zone } from "../../../../base/zones.ts";
import { type ContentBlock, listBlocks, listLines, parseContent } from "../../collections/content-tree.ts";
import { readRawLine, readText } from "../../collections/content-values.ts";
import { createCustomZone, type Observance } from "../time/custom-zone.ts";
import { parseRule, type RecurrenceRule } from "../time/recurrence-rule.ts";
import { type FindFileZone, readFirstMoment, readMoments } from "./moment.ts";

/** A file of a calendar. */
export interface CalendarFile {
  readonly root: ContentBlock;
  readonly series: readonly Series[];
  readonly findZone: FindFileZone;
}

/** All that has one UID: an event that happens once, or a series with the instances that differ. */
export interface Series {
  readonly uid: string;
  /** Undefined where only single instances of a series are known. */
  readonly master: ContentBlock | undefined;
  /** Instances that differ: each with a RECURRENCE-ID. */
  readonly overrides: readonly ContentBlock[];
}

/** Reads a calendar file. Throws an Error for text that is none. */
export function parseCalendarFile(text: string): CalendarFile {
  const root = parseContent(text).find(({ name }) => name === "VCALENDAR");
  if (root === undefined) throw new Error("no VCALENDAR");
  const byUid = Map.groupBy(listBlocks(root, "VEVENT"), (event) => readText(event, "UID") ?? "");
  const series = [...byUid].map(([uid, events]) => ({
    uid,
    master: events.find((event) => !isOverride(event)),
    overrides: events.filter(isOverride),
  }));
  return { root, series, findZone: createZoneFinder(root) };
}

/** True for a block with a RECURRENCE-ID. */
export function isOverride(event: ContentBlock): boolean {
  return listLines(event, "RECURRENCE-ID").length > 0;
}

/**
 * A name with a region, such as Europe/Berlin, means the zone of the IANA database: what files say about such zones often
 * holds for some years only. Any other name means what the file says about it.
 */
function createZoneFinder(root: ContentBlock): FindFileZone {
  const custom = new Map<string, Zone>();
  let isRead = false;
  const read = () => {
    isRead = true;
    for (const block of listBlocks(root, "VTIMEZONE")) {
      const id = readText(block, "TZID");
      if (id !== undefined) custom.set(id, createCustomZone(id, readObservances(block)));
    }
  };
  return (name) => {
    if (name === "") return undefined;
    const [, region] = /(?:^|\/)([A-Za-z_]+(?:\/[A-Za-z0-9_+-]+){1,2})$/.exec(name) ?? [];
    const known = region === undefined ? undefined : (findZone(name) ?? findZone(region));
    if (known !== undefined) return known;
    if (!isRead) read();
    return custom.get(name) ?? findZone(name);
  };
}

function readObservances(zone: ContentBlock): Observance[] {
  const noZone = () => undefined;
  return [...listBlocks(zone, "STANDARD"), ...listBlocks(zone, "DAYLIGHT")].flatMap((block) => {
    const start = readFirstMoment(block, "DTSTART", noZone)?.at;
    const [from, to] = ["TZOFFSETFROM", "TZOFFSETTO"].map((name) => readOffset(block, name));
    if (start === undefined || from === undefined || to === undefined) return [];
    const dates = listLines(block, "RDATE").flatMap((line) => readMoments(line, noZone).map(({ at }) => at));
    return [{ start, from, to, rule: readRule(block), dates }];
  });
}

function readOffset(block: ContentBlock, name: string): number | undefined {
  const [line] = listLines(block, name);
  const text = line === undefined ? undefined : readRawLine(line)?.value;
  const [, sign, hours, minutes, seconds = "0"] = /^([+-])(\d\d):?(\d\d)(\d\d)?$/.exec(text?.trim() ?? "") ?? [];
  if (sign === undefined) return undefined;
  const size = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
  return sign === "-" ? -size : size;
}

/** The rule of an event; undefined without one, and for one that cannot be read. */
export function readRule(block: ContentBlock): RecurrenceRule | undefined {
  const [line] = listLines(block, "RRULE");
  const text = line === undefined ? undefined : readRawLine(line)?.value;
  try {
    return text === undefined ? undefined : parseRule(text);
  } catch {
    return undefined;
  }
}
