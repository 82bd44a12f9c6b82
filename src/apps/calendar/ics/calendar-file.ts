import { shortenText } from "../../../shared/base/text.ts";
import { UTC } from "../../../shared/base/zones.ts";
import {
  type ContentBlock,
  type ContentFile,
  listBlocks,
  listLines,
  markBlock,
  parseContent,
} from "../../collections/content-tree.ts";
import { firstParam, readRawLine, readText } from "../../collections/content-values.ts";
import { createZoneFinder } from "./file-zones.ts";
import { type FindFileZone, NO_ZONE, readFirstMoment, toKey } from "./moment.ts";

/** A file of a calendar, of one VCALENDAR or several. */
export interface CalendarFile {
  readonly content: ContentFile;
  readonly series: readonly Series[];
  /** What of it is not shown, or guessed, in sentences. */
  readonly oddities: readonly string[];
  /** The VCALENDAR that an event stands in. */
  rootOf(event: ContentBlock): ContentBlock;
  /** The zones by which the times of an event are read. */
  zonesOf(event: ContentBlock): FindFileZone;
}

/** All that has one UID: an event that happens once, or a series with the instances that differ. */
export interface Series {
  /** Names it in its file, and stays the same while the file does. */
  readonly mark: string;
  /** Empty for none. */
  readonly uid: string;
  /** Undefined where only single instances of a series are known. */
  readonly master: ContentBlock | undefined;
  /** Instances that differ: each with a RECURRENCE-ID. */
  readonly overrides: readonly ContentBlock[];
  /** Versions of it that have a newer one in the file. */
  readonly older: readonly ContentBlock[];
}

type Group = Omit<Series, "mark">;

/** Reads a calendar file. Throws an Error for bytes that hold none. */
export function parseCalendarFile(bytes: Buffer): CalendarFile {
  const content = parseContent(bytes);
  const roots = listBlocks(content, "VCALENDAR");
  if (roots.length === 0) throw new Error("no VCALENDAR");
  const places = new Map<ContentBlock, { root: ContentBlock; zones: FindFileZone }>();
  for (const root of roots) {
    const place = { root, zones: createZoneFinder(root) };
    for (const event of listBlocks(root, "VEVENT")) places.set(event, place);
  }
  const zonesOf = (event: ContentBlock) => places.get(event)?.zones ?? NO_ZONE;
  const byUid = Map.groupBy(places.keys(), (event) => readText(event, "UID") ?? "");
  const groups = [...byUid].flatMap(([uid, events]) =>
    uid === "" ? events.map((event) => toGroup("", [event])) : groupVersions(uid, events, zonesOf),
  );
  const older = groups.flatMap((group) => group.older.map(sayOlder));
  const rootOf = (event: ContentBlock) => places.get(event)?.root ?? (roots[0] as ContentBlock);
  return { content, series: markSeries(groups), oddities: [...content.oddities, ...older], rootOf, zonesOf };
}

function toGroup(uid: string, events: readonly ContentBlock[], older: readonly ContentBlock[] = []): Group {
  // Some programs name an instance in the event that has the rule, too.
  const master =
    events.find((event) => !isOverride(event)) ?? events.find((event) => listLines(event, "RRULE").length > 0);
  return { uid, master, overrides: events.filter((event) => event !== master && isOverride(event)), older };
}

/**
 * Events of one UID. Of several versions the one with the highest SEQUENCE counts (RFC 5546, section 2.1.5); where that is
 * the same, they are events of their own.
 */
function groupVersions(
  uid: string,
  events: readonly ContentBlock[],
  zonesOf: (event: ContentBlock) => FindFileZone,
): Group[] {
  const master = events.find((event) => !isOverride(event));
  const start = master && readFirstMoment(master, "DTSTART", zonesOf(master));
  const versions = [...Map.groupBy(events, (event) => nameInstance(event, { start, zonesOf })).values()];
  const newest = versions.map((all) => {
    const last = Math.max(...all.map(readSequence));
    return all.filter((event) => readSequence(event) === last);
  });
  const kept = new Set(newest.flat());
  const first = newest.flatMap((all) => all.slice(0, 1));
  const others = newest.flatMap((all) => all.slice(1)).map((event) => toGroup(uid, [event]));
  return [
    toGroup(
      uid,
      first,
      events.filter((event) => !kept.has(event)),
    ),
    ...others,
  ];
}

/** The same for all that is said of one instance; empty for the series itself. */
function nameInstance(
  event: ContentBlock,
  o: { start: ReturnType<typeof readFirstMoment>; zonesOf: (event: ContentBlock) => FindFileZone },
): string {
  const [line] = listLines(event, "RECURRENCE-ID");
  if (line === undefined) return "";
  const original = readFirstMoment(event, "RECURRENCE-ID", o.zonesOf(event));
  const range = firstParam(readRawLine(line)?.params ?? {}, "range") ?? "";
  return original === undefined ? line.raw : `${toKey(original, o.start ?? original, UTC)} ${range.toUpperCase()}`;
}

function readSequence(event: ContentBlock): number {
  return Number(readText(event, "SEQUENCE")) || 0;
}

function sayOlder(event: ContentBlock): string {
  return `An older version of an event is not shown: "${shortenText(readText(event, "SUMMARY") ?? "", 100)}".`;
}

function markSeries(groups: readonly Group[]): Series[] {
  const used = new Set<string>();
  return groups.map((group) => {
    const isAlone = group.uid !== "" && groups.every((one) => one === group || one.uid !== group.uid);
    const [block] = [...(group.master === undefined ? [] : [group.master]), ...group.overrides];
    let mark = isAlone || block === undefined ? group.uid : markBlock(block);
    while (used.has(mark)) mark += "-";
    used.add(mark);
    return { ...group, mark };
  });
}

/** True for a block with a RECURRENCE-ID. */
export function isOverride(event: ContentBlock): boolean {
  return listLines(event, "RECURRENCE-ID").length > 0;
}
