import { WINDOWS_TO_IANA_MAP } from "windows-iana";
import { findZone, UTC, type Zone } from "../../../shared/base/zones.ts";
import { type ContentBlock, listBlocks, listLines } from "../../collections/content-tree.ts";
import { readRawLine, readText } from "../../collections/content-values.ts";
import { createCustomZone, type Observance } from "../time/custom-zone.ts";
import { readRules } from "../time/recurrence-rule.ts";
import { type FindFileZone, type Moment, NO_ZONE, readFirstMoment, readMoment, readMoments } from "./moment.ts";

/** Zones of Windows as the table of CLDR has them, by name in lower case. */
const windowsZones = new Map(
  WINDOWS_TO_IANA_MAP.flatMap(({ windowsName, territory, iana }) =>
    territory === "001" && iana[0] !== undefined ? [[windowsName.toLowerCase(), iana[0]]] : [],
  ),
);

/**
 * The zones of a calendar. A name with a region, such as Europe/Berlin, or one of Windows means the zone of the IANA database:
 * what files say about such zones often holds for some years only. Any other name means what the file says about it, or else
 * an offset. Times that name none are in the zone of the calendar, where it says one.
 */
export function createZoneFinder(root: ContentBlock): FindFileZone {
  let custom: ReadonlyMap<string, Zone> | undefined;
  const find = (name: string): Zone | undefined => {
    const known = findRegion(name) ?? findRegion(windowsZones.get(name.toLowerCase()) ?? "");
    if (known !== undefined) return known;
    custom ??= readZones(root);
    return custom.get(name.toLowerCase()) ?? findOffset(name);
  };
  const found = new Map<string, ReturnType<FindFileZone>>();
  const own = readText(root, "X-WR-TIMEZONE") ?? readText(root, "TZ") ?? "";
  return (given) => {
    const old = found.get(given);
    if (old !== undefined) return old;
    const name = clean(given === "" ? own : given);
    const zone = name === "" ? undefined : find(name);
    const result = name === "" ? { zone } : { zone, tzid: given, isGuess: zone === undefined };
    found.set(given, result);
    return result;
  };
}

function clean(name: string): string {
  return name.trim().replaceAll(/^"|"$/g, "").trim();
}

/** The zone of the IANA database at the end of a longer name. */
function findRegion(name: string): Zone | undefined {
  const parts = name.split("/");
  for (let from = 0; from < Math.min(parts.length - 1, 8); from += 1) {
    const zone = findZone(parts.slice(from).join("/"));
    if (zone !== undefined) return zone;
  }
  return undefined;
}

function findOffset(name: string): Zone | undefined {
  if (/^(?:Z|tzone:\/\/Microsoft\/Utc)$/i.test(name)) return UTC;
  const [, sign, hours, minutes = "0"] = /^(?:(?:GMT|UTC)\s*)?([+-])(\d{1,2})(?::?(\d\d))?$/i.exec(name) ?? [];
  if (sign === undefined || Number(hours) > 14 || Number(minutes) > 59) return findZone(name);
  const offset = (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
  return { id: name, offsetAt: () => offset };
}

/** The zones that a calendar describes, by name in lower case. */
function readZones(root: ContentBlock): ReadonlyMap<string, Zone> {
  const zones = new Map<string, Zone>();
  const old = readOldObservances(root);
  const name = clean(readText(root, "TZ") ?? "");
  if (old.length > 0) zones.set(name.toLowerCase(), createCustomZone(name, old));
  for (const block of listBlocks(root, "VTIMEZONE")) {
    const id = clean(readText(block, "TZID") ?? "");
    const observances = readObservances(block);
    const known = findRegion(readText(block, "X-LIC-LOCATION") ?? "");
    const zone = known ?? (observances.length > 0 ? createCustomZone(id, observances) : undefined);
    if (zone !== undefined) zones.set(id.toLowerCase(), zone);
  }
  return zones;
}

/** What vCalendar 1.0 says of its one zone, such as `DAYLIGHT:TRUE;-04;19960407T020000;19961027T020000;EST;EDT`. */
function readOldObservances(root: ContentBlock): Observance[] {
  const standard = findOffset(clean(readText(root, "TZ") ?? ""))?.offsetAt(0);
  return listLines(root, "DAYLIGHT").flatMap((line) => {
    const [isOn = "", offset = "", ...times] = (readRawLine(line)?.value ?? "").split(";");
    const summer = findOffset(offset.trim())?.offsetAt(0);
    const [begin, end] = times.map((text) => readMoment(text, { zone: undefined }));
    if (!/^TRUE$/i.test(isOn) || standard === undefined || summer === undefined || !begin || !end) return [];
    const change = ({ at, zone }: Moment, from: number, to: number) => {
      return { start: zone === UTC ? at + from : at, from, to, rule: undefined, dates: [] };
    };
    return [change(begin, standard, summer), change(end, summer, standard)];
  });
}

function readObservances(zone: ContentBlock): Observance[] {
  return [...listBlocks(zone, "STANDARD"), ...listBlocks(zone, "DAYLIGHT")].flatMap((block) => {
    const start = readFirstMoment(block, "DTSTART", NO_ZONE)?.at;
    const [from, to] = ["TZOFFSETFROM", "TZOFFSETTO"].map((name) => readOffset(block, name));
    if (start === undefined || to === undefined) return [];
    const dates = listLines(block, "RDATE").flatMap((line) => readMoments(line, NO_ZONE).map(({ at }) => at));
    const [rule] = readRules(block, "RRULE").rules;
    return [{ start, from: from ?? to, to, rule, dates }];
  });
}

function readOffset(block: ContentBlock, name: string): number | undefined {
  const [line] = listLines(block, name);
  const text = line === undefined ? undefined : readRawLine(line)?.value;
  const [, sign, hours, minutes, seconds = "0"] = /^([+-])(\d\d):?(\d\d):?(\d\d)?$/.exec(text?.trim() ?? "") ?? [];
  if (sign === undefined) return undefined;
  const size = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
  return sign === "-" ? -size : size;
}
