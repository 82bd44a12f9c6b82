import { UTC, type Zone } from "../../../shared/base/zones.ts";
import { changeLine, writeLine } from "../../collections/content-edit.ts";
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
import { readRawLine, readText } from "../../collections/content-values.ts";
import { describeZone } from "../time/describe-zone.ts";
import { writeMoment } from "./moment.ts";

const PRODUCT = "-//svc-agent-plugin//svc//EN";

/** A calendar with these events. */
export function createRoot(events: readonly ContentBlock[]): ContentBlock {
  return makeBlock("VCALENDAR", [makeLine("VERSION:2.0"), makeLine(`PRODID:${PRODUCT}`), ...events]);
}

/** The file with the rules of the zones that a calendar in it needs, before its first event; those it has stay as they are. */
export function describeZones(
  content: ContentFile,
  root: ContentBlock,
  { zones, instant }: { readonly zones: readonly (Zone | undefined)[]; readonly instant: number },
): ContentFile {
  const known = new Set(listBlocks(root, "VTIMEZONE").map((block) => readText(block, "TZID")));
  const missing = new Map(
    zones.flatMap((zone) => (zone && zone !== UTC && !known.has(zone.id) ? [[zone.id, zone]] : [])),
  );
  if (missing.size === 0) return content;
  const blocks = [...missing.values()].map((zone) => writeZone(zone, instant));
  const at = root.entries.findIndex((entry) => !("raw" in entry));
  const place = at < 0 ? root.entries.length : at;
  const entries = [...root.entries.slice(0, place), ...blocks, ...root.entries.slice(place)];
  return replaceBlock(content, root, [{ ...root, entries }]);
}

function writeZone(zone: Zone, instant: number): ContentBlock {
  const observances = describeZone(zone, instant).map(({ start, from, to, rule, dates }): ContentBlock => {
    const write = (at: number) => writeMoment({ at, isDay: false, zone: undefined });
    return makeBlock(to > from ? "DAYLIGHT" : "STANDARD", [
      makeLine(`DTSTART:${write(start)}`),
      makeLine(`TZOFFSETFROM:${writeOffset(from)}`),
      makeLine(`TZOFFSETTO:${writeOffset(to)}`),
      ...(rule === undefined ? [] : [makeLine(`RRULE:${rule}`)]),
      ...(dates.length === 0 ? [] : [makeLine(`RDATE:${dates.map(write).join(",")}`)]),
    ]);
  });
  return makeBlock("VTIMEZONE", [writeLine("TZID", zone.id), ...observances]);
}

function writeOffset(ms: number): string {
  const seconds = Math.abs(Math.round(ms / 1000));
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const [hours, minutes, rest] = parts.map((part) => String(part).padStart(2, "0"));
  return `${ms < 0 ? "-" : "+"}${hours}${minutes}${rest === "00" ? "" : rest}`;
}

/** The block as it is after a change at `now`: with new times of change, and the number of the change where `counts`. */
export function markChanged(block: ContentBlock, now: number, counts: boolean): ContentBlock {
  const value = writeMoment({ at: Math.floor(now / 1000) * 1000, isDay: false, zone: UTC });
  const mark = (one: ContentBlock, name: string, text: string) => {
    const [old] = listLines(one, name);
    return replaceLines(one, old === undefined ? [] : [old], [changeLine(old, name, { value: text })]);
  };
  const marked = mark(mark(block, "DTSTAMP", value), "LAST-MODIFIED", value);
  const [line] = listLines(block, "SEQUENCE");
  const number = Number(line && readRawLine(line)?.value);
  return counts ? mark(marked, "SEQUENCE", String((number || 0) + 1)) : marked;
}
