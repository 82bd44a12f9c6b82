/** Rules by which local time and UTC belong together. */
export interface Zone {
  /** Name for people and files, e.g. "Europe/Berlin". */
  readonly id: string;
  /** What is added to UTC to get local time, in milliseconds. `instant` in milliseconds since the epoch. */
  offsetAt(instant: number): number;
}

/**
 * A time as a wall clock shows it, in no zone: the milliseconds since the epoch of the same numbers in UTC. A day is that
 * of its midnight.
 */
export type LocalTime = number;

/** Milliseconds of 24 hours. */
export const DAY_MS = 24 * 60 * 60_000;

/** UTC. */
export const UTC: Zone = { id: "UTC", offsetAt: () => 0 };

const zones = new Map<string, Zone | undefined>();
/** More names than there are; a stranger's file may name any. */
const MAX_KNOWN = 2_000;

/** The zone of a name in the IANA database; undefined for any other name. */
export function findZone(name: string): Zone | undefined {
  if (zones.has(name)) return zones.get(name);
  const zone = name.toUpperCase() === "UTC" ? UTC : createZone(name);
  if (zones.size < MAX_KNOWN) zones.set(name, zone);
  return zone;
}

function createZone(name: string): Zone | undefined {
  if (!/^[A-Za-z]/.test(name)) return undefined;
  try {
    const format = new Intl.DateTimeFormat("en-US", {
      timeZone: name,
      calendar: "gregory",
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
      era: "short",
    });
    return {
      id: format.resolvedOptions().timeZone === name ? name : fixCase(name, format),
      offsetAt: cacheHours(format),
    };
  } catch {
    return undefined;
  }
}

/** The name as it was written, unless only its case was wrong. */
function fixCase(name: string, format: Intl.DateTimeFormat): string {
  const { timeZone } = format.resolvedOptions();
  return timeZone.toLowerCase() === name.toLowerCase() ? timeZone : name;
}

/** Zones change at full quarters of an hour, so that one answer holds for a quarter. */
const SPAN_MS = 15 * 60_000;
const MAX_SPANS = 20_000;

function cacheHours(format: Intl.DateTimeFormat): Zone["offsetAt"] {
  const known = new Map<number, number>();
  return (instant) => {
    const span = Math.floor(instant / SPAN_MS) * SPAN_MS;
    const old = known.get(span);
    if (old !== undefined) return old;
    const offset = readOffset(format, span);
    if (known.size >= MAX_SPANS) known.clear();
    known.set(span, offset);
    return offset;
  };
}

function readOffset(format: Intl.DateTimeFormat, instant: number): number {
  const parts: Record<string, number> = {};
  let isBefore = false;
  for (const { type, value } of format.formatToParts(instant)) {
    if (type === "era") isBefore = value.startsWith("B");
    else parts[type] = Number(value);
  }
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return makeLocal(isBefore ? 1 - year : year, month, day) + ((hour * 60 + minute) * 60 + second) * 1000 - instant;
}

/** Midnight of a day; months count from 1, and what is out of range carries over. */
export function makeLocal(year: number, month: number, day: number): LocalTime {
  // Date.UTC takes years below 100 for those of the last century.
  return new Date(0).setUTCFullYear(year, month - 1, day);
}

/** Midnight of the day of a local time. */
export function toDay(local: LocalTime): LocalTime {
  return Math.floor(local / DAY_MS) * DAY_MS;
}

/** The wall clock of a zone at an instant. */
export function toLocal(instant: number, zone: Zone): LocalTime {
  return instant + zone.offsetAt(instant);
}

/**
 * The instant of a wall clock (RFC 5545, section 3.3.5): a time that occurs twice is the first one, and one that is skipped
 * counts with the offset before the gap.
 */
export function toInstant(local: LocalTime, zone: Zone): number {
  const before = zone.offsetAt(local - DAY_MS);
  const early = local - before;
  if (zone.offsetAt(early) === before) return early;
  const late = local - zone.offsetAt(local + DAY_MS);
  return toLocal(late, zone) === local ? late : early;
}
