import { refuseValue } from "../../../service/service-error.ts";
import { DAY_MS, findZone, makeLocal, toInstant, toLocal, type Zone } from "../../../shared/base/zones.ts";
import type { Moment } from "../ics/moment.ts";

/** The zone that an argument names; `fallback` without one. Throws ServiceError 400. */
export function readZone(name: string | undefined, fallback: Zone): Zone {
  if (name === undefined) return fallback;
  const zone = findZone(name);
  if (zone !== undefined) return zone;
  throw refuseValue(
    "zone",
    `is not the name of a time zone: "${name}".`,
    "For example Europe/Berlin or America/New_York.",
  );
}

/** The day or time that an argument names, in a zone. Throws ServiceError 400 for one that does not exist. */
export function readGivenTime(text: string, zone: Zone, field: string): Moment {
  const [, day = "", time, offset] =
    /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d(?::\d\d)?)(Z|[+-]\d\d:\d\d)?)?$/.exec(text) ?? [];
  const [year = 0, month = 0, date = 0] = day.split("-").map(Number);
  const midnight = makeLocal(year, month, date);
  if (day === "" || new Date(midnight).toISOString().slice(0, 10) !== day)
    throw refuseValue(field, `is not a day that exists: "${text}".`);
  if (time === undefined) return { at: midnight, isDay: true, zone: undefined };
  const [hours = 0, minutes = 0, seconds = 0] = time.split(":").map(Number);
  if (hours > 23 || minutes > 59 || seconds > 59) throw refuseValue(field, `is not a time that exists: "${text}".`);
  const at = midnight + ((hours * 60 + minutes) * 60 + seconds) * 1000;
  if (offset === undefined) return { at, isDay: false, zone };
  return { at: toLocal(at - readOffset(offset), zone), isDay: false, zone };
}

function readOffset(text: string): number {
  if (text === "Z") return 0;
  const [hours = 0, minutes = 0] = text.slice(1).split(":").map(Number);
  return (text.startsWith("-") ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}

/** A span of instants, the end not included. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** The span from one argument to another; a day as `to` is included. Throws ServiceError 400 for one of more than `most` days. */
export function readSpan(o: { readonly from: string; readonly to: string }, zone: Zone, most: number): Span {
  const [begin, end] = [readGivenTime(o.from, zone, "from"), readGivenTime(o.to, zone, "to")];
  const from = toInstant(begin.at, zone);
  const to = toInstant(end.isDay ? end.at + DAY_MS : end.at, zone);
  if (to <= from) throw refuseValue("to", "is not after from.");
  if (to - from > (most + 1) * DAY_MS)
    throw refuseValue("to", `is more than ${most} days after from.`, "Ask for several shorter ranges.");
  return { from, to };
}
