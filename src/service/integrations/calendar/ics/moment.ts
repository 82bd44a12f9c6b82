import { DAY_MS, type LocalTime, makeLocal, toInstant, toLocal, UTC, type Zone } from "../../../../base/zones.ts";
import { type ContentBlock, type ContentLine, listLines } from "../../collections/content-tree.ts";
import { firstParam, readRawLine, writeRawLine } from "../../collections/content-values.ts";

/** A time as a calendar file names it. */
export interface Moment {
  readonly at: LocalTime;
  /** True for a whole day, in no zone. */
  readonly isDay: boolean;
  /** Undefined for a day, and for a time that is the same on every clock of the world. */
  readonly zone: Zone | undefined;
}

/** Finds the zone that a file means by a name. */
export type FindFileZone = (name: string) => Zone | undefined;

/** The instant of a moment; one without a zone counts in `zone`. */
export function momentToInstant({ at, zone: own }: Moment, zone: Zone): number {
  return toInstant(at, own ?? zone);
}

/** The moment as the form of another one has it: its kind and its zone. `zone` is for those that have none. */
export function toFormOf(form: Moment, moment: Moment, zone: Zone): Moment {
  if (form.isDay) return { at: Math.floor(moment.at / DAY_MS) * DAY_MS, isDay: true, zone: undefined };
  const instant = momentToInstant(moment, zone);
  return { at: toLocal(instant, form.zone ?? zone), isDay: false, zone: form.zone };
}

/** The moments of a line such as DTSTART or EXDATE; those that cannot be read are left out. */
export function readMoments(line: ContentLine, findZone: FindFileZone): Moment[] {
  const raw = readRawLine(line);
  if (raw === undefined) return [];
  const zone = findZone(firstParam(raw.params, "tzid") ?? "");
  return raw.value.split(",").flatMap((text) => readMoment(text, zone) ?? []);
}

/** The moment of the first line of this name. */
export function readFirstMoment(block: ContentBlock, name: string, findZone: FindFileZone): Moment | undefined {
  const [line] = listLines(block, name);
  return line === undefined ? undefined : readMoments(line, findZone)[0];
}

/** Reads `20261127` or `20261127T090000`, with a Z for UTC. */
export function readMoment(text: string, zone: Zone | undefined): Moment | undefined {
  const [, year, month, day, hour, minute, second, zulu] =
    /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z)?)?$/.exec(text.trim()) ?? [];
  if (year === undefined || Number(month) > 12 || Number(day) > 31) return undefined;
  const midnight = makeLocal(Number(year), Number(month), Number(day));
  if (hour === undefined) return { at: midnight, isDay: true, zone: undefined };
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return undefined;
  const at = midnight + ((Number(hour) * 60 + Number(minute)) * 60 + Math.min(Number(second), 59)) * 1000;
  return { at, isDay: false, zone: zulu === undefined ? zone : UTC };
}

/** A moment as files write it, without its zone. */
export function writeMoment({ at, isDay, zone }: Moment): string {
  const text = new Date(at).toISOString().replaceAll(/[-:]|\.\d+Z/g, "");
  return isDay ? text.slice(0, 8) : `${text}${zone === UTC ? "Z" : ""}`;
}

/** A line such as DTSTART, or EXDATE with several moments of one kind and zone. */
export function writeMomentLine(
  name: string,
  [first, ...others]: readonly [Moment, ...Moment[]],
  params: Readonly<Record<string, string>> = {},
): ContentLine {
  const { isDay, zone } = first;
  const tzid = zone === undefined || zone === UTC ? {} : { tzid: zone.id };
  const value = [first, ...others].map(writeMoment).join(",");
  return writeRawLine(name, value, { ...(isDay ? { value: "DATE" } : tzid), ...params });
}
