import {
  DAY_MS,
  type LocalTime,
  makeLocal,
  toDay,
  toInstant,
  toLocal,
  UTC,
  type Zone,
} from "../../../shared/base/zones.ts";
import { changeLine } from "../../collections/content-edit.ts";
import { type ContentBlock, type ContentLine, listLines } from "../../collections/content-tree.ts";
import { firstParam, readRawLine } from "../../collections/content-values.ts";

/** A time as a calendar file names it. */
export interface Moment {
  readonly at: LocalTime;
  /** True for a whole day, in no zone. */
  readonly isDay: boolean;
  /** Undefined for a day, for a time that is the same on every clock of the world, and for one of a zone that is not known. */
  readonly zone: Zone | undefined;
  /** The zone as the file writes it, empty for none; undefined where the zone has no other name than its own. */
  readonly tzid?: string | undefined;
  /** True where nobody knows the zone of `tzid`: the time is a guess then. */
  readonly isGuess?: boolean | undefined;
}

/** Finds the zone that a file means by a name; empty for times that name none. */
export type FindFileZone = (name: string) => Pick<Moment, "zone" | "tzid" | "isGuess">;

/** The zones of times that have none. */
export const NO_ZONE: FindFileZone = () => ({ zone: undefined });

/** The instant of a moment; one without a zone counts in `zone`. */
export function momentToInstant({ at, zone: own }: Moment, zone: Zone): number {
  return toInstant(at, own ?? zone);
}

/** The moment as the form of another one has it: its kind and its zone. `zone` is for those that have none. */
export function toFormOf(form: Moment, moment: Moment, zone: Zone): Moment {
  if (form.isDay) return { at: toSeriesDay(moment, zone), isDay: true, zone: undefined };
  const own = toSeriesTime(form, moment, zone);
  return { ...form, at: toLocal(momentToInstant(own, zone), form.zone ?? zone) };
}

/**
 * A time that a series says of itself, such as an EXDATE, in whatever form: one without a zone counts in the zone of the
 * series, and a day is that of its instance.
 */
export function toSeriesTime(start: Moment, moment: Moment, zone: Zone): Moment {
  if (start.isDay) return { ...start, at: toSeriesDay(moment, zone) };
  if (moment.isDay) return { ...start, at: moment.at + (start.at - toDay(start.at)) };
  return moment.zone === undefined || moment.isGuess ? { ...moment, zone: start.zone, isGuess: start.isGuess } : moment;
}

/** Days are written as midnight in UTC, or as that of a zone. */
function toSeriesDay({ at, isDay, zone: own }: Moment, zone: Zone): LocalTime {
  return toDay(isDay || own !== UTC || at % DAY_MS === 0 ? at : toLocal(at, zone));
}

/** The same for all ways to name one instance of a series that begins at `start`. */
export function toKey(moment: Moment, start: Moment, zone: Zone): string {
  const own = toSeriesTime(start, moment, zone);
  return own.isDay ? `D${own.at}` : `T${momentToInstant(own, zone)}`;
}

/** The moments of a line such as DTSTART or EXDATE; those that cannot be read are left out. */
export function readMoments(line: ContentLine, findZone: FindFileZone): Moment[] {
  const raw = readRawLine(line);
  if (raw === undefined) return [];
  const zone = findZone(firstParam(raw.params, "tzid") ?? "");
  return listTimes(raw.value).flatMap((text) => readMoment(text, zone) ?? []);
}

/** The values of a line with several times; semicolons divide them in vCalendar 1.0. */
export function listTimes(value: string): string[] {
  return value.split(/[,;]/).filter((text) => text.trim() !== "");
}

/** The moment of the first line of this name. */
export function readFirstMoment(block: ContentBlock, name: string, findZone: FindFileZone): Moment | undefined {
  const [line] = listLines(block, name);
  return line === undefined ? undefined : readMoments(line, findZone)[0];
}

const TIME = /^(\d{4})-?(\d\d)-?(\d\d)(?:[T ](\d\d):?(\d\d)(?::?(\d\d)(?:\.\d+)?)?(Z)?)?$/i;

/** Reads `20261127` or `20261127T090000`, with a Z for UTC; also as ISO 8601 writes them, and without seconds. */
export function readMoment(text: string, zone: ReturnType<FindFileZone>): Moment | undefined {
  const [, year, month, day, hour, minute, second = "0", zulu] = TIME.exec(text.trim()) ?? [];
  const midnight = makeLocal(Number(year), Number(month), Number(day));
  if (year === undefined || new Date(midnight).getUTCDate() !== Number(day)) return undefined;
  if (hour === undefined) return { at: midnight, isDay: true, zone: undefined };
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return undefined;
  const at = midnight + ((Number(hour) * 60 + Number(minute)) * 60 + Math.min(Number(second), 59)) * 1000;
  return { at, isDay: false, ...(zulu === undefined ? zone : { zone: UTC }) };
}

/** A moment as files write it, without its zone. */
export function writeMoment({ at, isDay, zone, tzid }: Moment): string {
  const text = new Date(at).toISOString().replaceAll(/[-:]|\.\d+Z/g, "");
  return isDay ? text.slice(0, 8) : `${text}${zone === UTC && tzid === undefined ? "Z" : ""}`;
}

/** A line such as DTSTART, or EXDATE with several moments of one kind and zone, in the place of an old one. */
export function writeMomentLine(
  name: string,
  [first, ...others]: readonly [Moment, ...Moment[]],
  old?: ContentLine,
): ContentLine {
  const { isDay, zone, tzid = zone === UTC ? "" : zone?.id } = first;
  const value = [first, ...others].map(writeMoment).join(",");
  const params = isDay ? { value: "DATE" } : tzid ? { tzid } : {};
  return changeLine(old, name, { value, params, drops: ["value", "tzid"] });
}
