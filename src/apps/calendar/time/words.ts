import { DAY_MS, type LocalTime, toDay, toLocal, type Zone } from "../../../shared/base/zones.ts";

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"] as const;
const MONTHS = "January February March April May June July August September October November December".split(" ");

/** Name of the weekday of a local time. */
export function nameWeekday(local: LocalTime): (typeof DAYS)[number] {
  return DAYS[new Date(local).getUTCDay()] ?? "Sunday";
}

/** A day as `2026-11-27`. */
export function writeDay(local: LocalTime): string {
  return new Date(local).toISOString().slice(0, 10);
}

/** An instant with the offset of a zone, e.g. `2026-11-27T09:00:00+01:00`. */
export function writeTime(instant: number, zone: Zone): string {
  const local = toLocal(instant, zone);
  const minutes = Math.round((local - instant) / 60_000);
  const pad = (number: number) => String(Math.floor(Math.abs(number))).padStart(2, "0");
  const offset = `${minutes < 0 ? "-" : "+"}${pad(minutes / 60)}:${pad(minutes % 60)}`;
  return `${new Date(local).toISOString().slice(0, 19)}${offset}`;
}

function sayDay(local: LocalTime): string {
  const date = new Date(local);
  return `${nameWeekday(local)} ${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
}

function sayShortDay(local: LocalTime): string {
  const date = new Date(local);
  const month = MONTHS[date.getUTCMonth()]?.slice(0, 3);
  return `${nameWeekday(local).slice(0, 3)} ${date.getUTCDate()} ${month} ${date.getUTCFullYear()}`;
}

/** A day and a month for people, e.g. "27 November". */
export function sayDate(month: number, day: number | undefined): string {
  return [day, MONTHS[month - 1]].filter((part) => part !== undefined).join(" ");
}

/** A day or a time in few letters, e.g. "Fri 27 Nov 2026, 09:00"; `at` is local. */
export function sayShort(at: LocalTime, isDay: boolean): string {
  return isDay ? sayShortDay(at) : `${sayShortDay(at)}, ${sayClock(at)}`;
}

/** The same for a span; the end is not included. */
export function sayShortSpan(start: LocalTime, end: LocalTime, isDay: boolean): string {
  const begin = sayShort(start, isDay);
  const last = isDay ? end - DAY_MS : end;
  if (last <= start) return begin;
  return `${begin} to ${!isDay && toDay(start) === toDay(end) ? sayClock(end) : sayShort(last, isDay)}`;
}

function sayClock(local: LocalTime): string {
  return new Date(local).toISOString().slice(11, 16);
}

/** A span of days for people; the end is not included. */
export function sayDays(start: LocalTime, end: LocalTime): string {
  const last = end - DAY_MS;
  return last <= start ? `${sayDay(start)}, all day` : `${sayDay(start)} to ${sayDay(last)}, all day`;
}

/** A span of time for people, with its zone, e.g. "Friday 27 November 2026, 09:00 to 10:00 (Europe/Berlin)". */
export function sayTimes(startsAt: number, endsAt: number, zone: Zone): string {
  const [start, end] = [toLocal(startsAt, zone), toLocal(endsAt, zone)];
  const begin = `${sayDay(start)}, ${sayClock(start)}`;
  if (startsAt === endsAt) return `${begin} (${zone.id})`;
  const finish = toDay(start) === toDay(end) ? sayClock(end) : `${sayDay(end)}, ${sayClock(end)}`;
  return `${begin} to ${finish} (${zone.id})`;
}
