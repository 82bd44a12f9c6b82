import { UTC, type Zone } from "../../../../base/zones.ts";
import { type ContentBlock, listBlocks, listLines, makeLine, replaceLines } from "../../collections/content-tree.ts";
import { readRawLine, readText, writeLine } from "../../collections/content-values.ts";
import { describeZone } from "../time/describe-zone.ts";
import { writeMoment } from "./moment.ts";

const PRODUCT = "-//svc-agent-plugin//svc//EN";

/** A calendar file with these events. */
export function createRoot(events: readonly ContentBlock[]): ContentBlock {
  return { name: "VCALENDAR", entries: [makeLine("VERSION:2.0"), makeLine(`PRODID:${PRODUCT}`), ...events] };
}

/** The file with other events in the place of one: none takes it away, several follow each other. */
export function replaceEvent(root: ContentBlock, old: ContentBlock, events: readonly ContentBlock[]): ContentBlock {
  return { ...root, entries: root.entries.flatMap((entry) => (entry === old ? [...events] : [entry])) };
}

/** The file with the rules of the zones that it needs, each before the first event; those it has stay as they are. */
export function describeZones(root: ContentBlock, zones: readonly (Zone | undefined)[], instant: number): ContentBlock {
  const known = new Set(listBlocks(root, "VTIMEZONE").map((block) => readText(block, "TZID")));
  const missing = new Map(
    zones.flatMap((zone) => (zone && zone !== UTC && !known.has(zone.id) ? [[zone.id, zone]] : [])),
  );
  const blocks = [...missing.values()].map((zone) => writeZone(zone, instant));
  const at = root.entries.findIndex((entry) => !("raw" in entry));
  const place = at < 0 ? root.entries.length : at;
  return { ...root, entries: [...root.entries.slice(0, place), ...blocks, ...root.entries.slice(place)] };
}

function writeZone(zone: Zone, instant: number): ContentBlock {
  const observances = describeZone(zone, instant).map(({ start, from, to, rule, dates }): ContentBlock => {
    const write = (at: number) => writeMoment({ at, isDay: false, zone: undefined });
    return {
      name: to > from ? "DAYLIGHT" : "STANDARD",
      entries: [
        makeLine(`DTSTART:${write(start)}`),
        makeLine(`TZOFFSETFROM:${writeOffset(from)}`),
        makeLine(`TZOFFSETTO:${writeOffset(to)}`),
        ...(rule === undefined ? [] : [makeLine(`RRULE:${rule}`)]),
        ...(dates.length === 0 ? [] : [makeLine(`RDATE:${dates.map(write).join(",")}`)]),
      ],
    };
  });
  return { name: "VTIMEZONE", entries: [writeLine("TZID", zone.id), ...observances] };
}

function writeOffset(ms: number): string {
  const seconds = Math.abs(Math.round(ms / 1000));
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const [hours, minutes, rest] = parts.map((part) => String(part).padStart(2, "0"));
  return `${ms < 0 ? "-" : "+"}${hours}${minutes}${rest === "00" ? "" : rest}`;
}

/** The block with this text; without the line where the text is empty. */
export function setText(block: ContentBlock, name: string, text: string | undefined): ContentBlock {
  if (text === undefined) return block;
  // A line keeps its parameters, such as the language or another form of the same text, only while its text stays.
  const [old] = listLines(block, name);
  if (old !== undefined && readText(block, name) === text) return block;
  return replaceLines(block, name, text === "" ? [] : [writeLine(name, text)]);
}

/** The block as it is after a change at `now`: with new times of change, and the number of the change where `counts`. */
export function markChanged(block: ContentBlock, now: number, counts: boolean): ContentBlock {
  const stamp = writeMoment({ at: Math.floor(now / 1000) * 1000, isDay: false, zone: UTC });
  const [line] = listLines(block, "SEQUENCE");
  const number = Number(line && readRawLine(line)?.value);
  const marked = replaceLines(replaceLines(block, "DTSTAMP", [makeLine(`DTSTAMP:${stamp}`)]), "LAST-MODIFIED", [
    makeLine(`LAST-MODIFIED:${stamp}`),
  ]);
  return counts ? replaceLines(marked, "SEQUENCE", [makeLine(`SEQUENCE:${(number || 0) + 1}`)]) : marked;
}
