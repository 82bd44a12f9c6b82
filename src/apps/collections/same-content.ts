import { type ContentBlock, type ContentLine, parseContent } from "./content-tree.ts";
import { readRawLine } from "./content-values.ts";

/** Lines that say when and by which program something was written. */
const STAMPS = new Set(["DTSTAMP", "LAST-MODIFIED", "REV", "PRODID"]);
/** Set by a server that tells people of an event (RFC 6638). */
const SERVER_PARAM = "schedule-status";
/** Parameters whose values are the same in either case. */
const CASELESS = new Set(["type", "encoding", "value", "partstat", "role", "cutype", "rsvp", "related", "range"]);

/**
 * Whether two files of calendars or contacts say the same: line for line without regard to how a line is folded, escaped and
 * quoted, to the order of lines of different names, and to stamps of programs. False for bytes that cannot be read and differ.
 */
export function isSameContent(one: Buffer, other: Buffer): boolean {
  if (one.equals(other)) return true;
  try {
    return describe(parseContent(one)) === describe(parseContent(other));
  } catch {
    return false;
  }
}

function describe({ entries }: Pick<ContentBlock, "entries">): string {
  const all = entries.flatMap((entry): [name: string, text: string][] => {
    if (!("raw" in entry)) return [[`BEGIN:${entry.name}`, describe(entry)]];
    return entry.name === "" || STAMPS.has(entry.name) ? [] : [[entry.name, describeLine(entry)]];
  });
  // Those of one name stay in their order, which may mean something.
  return JSON.stringify(all.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}

function describeLine(line: ContentLine): string {
  const read = readRawLine(line);
  if (read === undefined) return line.raw.trim();
  const params = Object.entries(read.params)
    .filter(([name]) => name !== SERVER_PARAM)
    .map(([name, values]) => {
      const all = [values].flat();
      return [name, (CASELESS.has(name) ? all.map((value) => value.toLowerCase()) : all).toSorted()];
    })
    .toSorted();
  const value = read.value.replaceAll(/\\([,;:"\\])/g, "$1").replaceAll("\\N", "\\n");
  return JSON.stringify([line.group, params, value.trim()]);
}
