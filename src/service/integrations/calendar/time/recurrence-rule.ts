import { DAY_MS, type LocalTime, makeLocal } from "../../../../base/zones.ts";

export const WEEKDAYS = ["SU", "MO", "TU", "WE", "TH", "FR", "SA"] as const;
const FREQUENCIES = ["SECONDLY", "MINUTELY", "HOURLY", "DAILY", "WEEKLY", "MONTHLY", "YEARLY"] as const;

/** A value of RRULE (RFC 5545, section 3.3.10). */
export interface RecurrenceRule {
  readonly freq: (typeof FREQUENCIES)[number];
  readonly interval: number;
  readonly count: number | undefined;
  /** Last day, or last moment, as it stands in the rule. */
  readonly until: { readonly at: LocalTime; readonly isDay: boolean; readonly isUtc: boolean } | undefined;
  /** First day of the week: 0 is Sunday. */
  readonly wkst: number;
  /** Undefined, or not empty; ascending where order means nothing. */
  readonly by: Readonly<Partial<Record<NumberPart, readonly number[]>>>;
  /** `nth` is 0 for each such day. */
  readonly byDay: readonly { readonly nth: number; readonly day: number }[] | undefined;
}

type NumberPart = keyof typeof RANGES;

/** The least and the greatest value of each part; true where a negative value counts from the end. */
const RANGES = {
  BYSECOND: [0, 60, false],
  BYMINUTE: [0, 59, false],
  BYHOUR: [0, 23, false],
  BYMONTHDAY: [1, 31, true],
  BYYEARDAY: [1, 366, true],
  BYWEEKNO: [1, 53, true],
  BYMONTH: [1, 12, false],
  BYSETPOS: [1, 366, true],
} as const;

const MAX_INTERVAL = 100_000;

/** Reads a rule such as `FREQ=WEEKLY;BYDAY=MO,WE;COUNT=10`. Throws an Error whose message says what is wrong with it. */
export function parseRule(text: string): RecurrenceRule {
  const parts = new Map<string, string>();
  for (const part of text.trim().toUpperCase().split(";")) {
    const [, name, value] = /^([A-Z-]+)=(.+)$/.exec(part) ?? [];
    if (name === undefined || value === undefined) throw new Error(`"${part}" is not of the form NAME=VALUE`);
    if (parts.has(name)) throw new Error(`${name} occurs twice`);
    parts.set(name, value);
  }
  const freq = FREQUENCIES.find((one) => one === parts.get("FREQ"));
  if (freq === undefined) throw new Error(`FREQ must be one of ${FREQUENCIES.join(", ")}`);
  const by: Partial<Record<NumberPart, readonly number[]>> = {};
  for (const name of Object.keys(RANGES) as NumberPart[]) {
    const value = parts.get(name);
    if (value !== undefined) by[name] = readNumbers(name, value);
  }
  const byDay = parts.get("BYDAY")?.split(",").map(readDay);
  checkParts(freq, by);
  const count = readCount("COUNT", parts.get("COUNT"));
  const until = parts.get("UNTIL");
  if (count !== undefined && until !== undefined) throw new Error("COUNT and UNTIL exclude each other");
  return {
    freq,
    interval: Math.min(readCount("INTERVAL", parts.get("INTERVAL")) ?? 1, MAX_INTERVAL),
    count,
    until: until === undefined ? undefined : readUntil(until),
    wkst: readDay(parts.get("WKST") ?? "MO").day,
    by,
    byDay,
  };
}

function readNumbers(name: NumberPart, value: string): number[] {
  const [least, greatest, isSigned] = RANGES[name];
  const numbers = value.split(",").map((text) => {
    const number = /^[+-]?\d{1,3}$/.test(text) ? Number(text) : Number.NaN;
    const size = isSigned ? Math.abs(number) : number;
    if (!(size >= least && size <= greatest)) throw new Error(`${name} cannot be ${text}`);
    return number;
  });
  return [...new Set(numbers)].sort((a, b) => a - b);
}

function readDay(text: string): { nth: number; day: number } {
  const [, nth = "0", name] = /^([+-]?\d{1,2})?(SU|MO|TU|WE|TH|FR|SA)$/.exec(text) ?? [];
  const day = WEEKDAYS.findIndex((one) => name !== undefined && one === name);
  if (day < 0) throw new Error(`"${text}" is not a weekday such as MO or -1FR`);
  return { nth: Number(nth), day };
}

/** Combinations that the standard forbids. */
function checkParts(freq: RecurrenceRule["freq"], by: RecurrenceRule["by"]): void {
  if (by.BYWEEKNO !== undefined && freq !== "YEARLY") throw new Error("BYWEEKNO goes with FREQ=YEARLY only");
  if (by.BYYEARDAY !== undefined && /^(?:DAILY|WEEKLY|MONTHLY)$/.test(freq))
    throw new Error(`BYYEARDAY does not go with FREQ=${freq}`);
  if (by.BYMONTHDAY !== undefined && freq === "WEEKLY") throw new Error("BYMONTHDAY does not go with FREQ=WEEKLY");
}

function readCount(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,9}$/.test(text) || Number(text) === 0) throw new Error(`${name} must be a positive number`);
  return Number(text);
}

function readUntil(text: string): NonNullable<RecurrenceRule["until"]> {
  const [, year, month, day, time, zulu] = /^(\d{4})(\d\d)(\d\d)(?:T(\d{6})(Z)?)?$/.exec(text) ?? [];
  if (year === undefined) throw new Error("UNTIL must be a day or a time such as 20261231T225959Z");
  const midnight = makeLocal(Number(year), Number(month), Number(day));
  if (time === undefined) return { at: midnight, isDay: true, isUtc: false };
  const [hours = 0, minutes = 0, seconds = 0] = (time.match(/../g) ?? []).map(Number);
  const at = midnight + ((hours * 60 + minutes) * 60 + seconds) * 1000;
  return { at, isDay: false, isUtc: zulu !== undefined };
}

/** The last local time that UNTIL allows; Infinity without one. `toLocal` makes local time of UTC. */
export function findEnd({ until }: RecurrenceRule, toLocal: (instant: number) => LocalTime): LocalTime {
  if (until === undefined) return Number.POSITIVE_INFINITY;
  if (until.isDay) return until.at + DAY_MS - 1;
  return until.isUtc ? toLocal(until.at) : until.at;
}
