import { DAY_MS, type LocalTime, makeLocal } from "../../../shared/base/zones.ts";
import { type ContentBlock, listLines } from "../../collections/content-tree.ts";
import { readRawLine } from "../../collections/content-values.ts";

/** Days of the week in the spelling of RFC 5545, numbered as by `Date.getUTCDay`. */
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

/** Parts of other calendars than the Gregorian, which the engine does not know (RFC 7529). */
const OTHER_CALENDARS = /^(?:RSCALE=(?!GREGORIAN$)|SKIP=(?!OMIT$))/;

/**
 * Reads a rule such as `FREQ=WEEKLY;BYDAY=MO,WE;COUNT=10`, also one that other programs wrote against the standard, and says
 * what of it has no place there. Throws an Error whose message says why it cannot be used at all.
 */
export function parseRule(text: string): { readonly rule: RecurrenceRule; readonly oddities: readonly string[] } {
  const parts = new Map<string, string>();
  const oddities: string[] = [];
  for (const part of text.replaceAll("\\", "").toUpperCase().split(";")) {
    const [, name, value = ""] = /^\s*([A-Z-]+)=\s*(.*?)\s*$/.exec(part) ?? [];
    if (name === undefined && part.trim() !== "") throw new Error(`"${part}" is not of the form NAME=VALUE`);
    if (OTHER_CALENDARS.test(part.trim())) throw new Error(`${part.trim()} is not known`);
    if (name === undefined || value === "") oddities.push(`"${part}" is empty`);
    else if (parts.has(name)) throw new Error(`${name} occurs twice`);
    else parts.set(name, value);
  }
  const unknown = [...parts.keys()].filter((name) => !KNOWN.has(name));
  oddities.push(...unknown.map((name) => `${name} is not known`));
  const freq = FREQUENCIES.find((one) => one === parts.get("FREQ"));
  if (freq === undefined) throw new Error(`FREQ must be one of ${FREQUENCIES.join(", ")}`);
  const by: Partial<Record<NumberPart, readonly number[]>> = {};
  for (const name of Object.keys(RANGES) as NumberPart[]) {
    const value = parts.get(name);
    if (value !== undefined) by[name] = readNumbers(name, value);
  }
  oddities.push(...listMisfits(freq, by));
  const count = readCount("COUNT", parts.get("COUNT"));
  const until = parts.get("UNTIL");
  if (count !== undefined && until !== undefined) oddities.push("COUNT and UNTIL exclude each other");
  const rule = {
    freq,
    interval: Math.min(readCount("INTERVAL", parts.get("INTERVAL")) ?? 1, MAX_INTERVAL),
    count,
    until: until === undefined ? undefined : readUntil(until),
    wkst: readDay(parts.get("WKST") ?? "MO").day,
    by,
    byDay: parts.get("BYDAY")?.split(",").map(readDay),
  };
  return { rule, oddities };
}

const KNOWN = new Set([
  "FREQ",
  "COUNT",
  "UNTIL",
  "INTERVAL",
  "WKST",
  "BYDAY",
  "RSCALE",
  "SKIP",
  ...Object.keys(RANGES),
]);

/**
 * The rules of a block, by the name of their lines. `oddities` are those of which instances may be missing or wrong; `failed`
 * are the texts that cannot be used.
 */
export function readRules(block: Pick<ContentBlock, "entries">, name: "RRULE" | "EXRULE") {
  const rules: RecurrenceRule[] = [];
  const [oddities, failed]: [string[], string[]] = [[], []];
  for (const line of listLines(block, name)) {
    const text = readRawLine(line)?.value ?? "";
    try {
      const read = parseRule(translateOldRule(text.trim().toUpperCase()) ?? text.replaceAll(/\s+/g, ""));
      rules.push(read.rule);
      oddities.push(...read.oddities.filter((one) => one.endsWith("is not known") || one.startsWith("BYWEEKNO")));
    } catch (error) {
      failed.push(text);
      oddities.push(error instanceof Error ? error.message : "");
    }
  }
  return { rules, oddities, failed };
}

const OLD_FORMS: Readonly<Record<string, readonly [freq: string, part: string, needsOne?: true]>> = {
  D: ["DAILY", "BYDAY"],
  W: ["WEEKLY", "BYDAY"],
  MP: ["MONTHLY", "BYDAY", true],
  MD: ["MONTHLY", "BYMONTHDAY"],
  YM: ["YEARLY", "BYMONTH"],
  YD: ["YEARLY", "BYYEARDAY", true],
};

/** A rule of vCalendar 1.0 such as `MP1 1+ 3+ TU #10` as iCalendar writes it; undefined for any other text. */
function translateOldRule(text: string): string | undefined {
  const [, form = "", interval, rest = ""] = /^(D|W|MP|MD|YM|YD)(\d{1,5})((?:\s+\S+)*)$/.exec(text) ?? [];
  const [freq, part, needsOne = false] = OLD_FORMS[form] ?? [];
  if (freq === undefined) return undefined;
  const words = rest.split(/\s+/).filter((word) => word !== "");
  const [end] = /^#\d+$|^\d{8}(?:T\d+Z?)?$/.exec(words.at(-1) ?? "") ?? [];
  const given = words.slice(0, end === undefined ? undefined : -1).map((word) => word.replace(/^LD$/, "1-"));
  const numbers = given.map((word) =>
    word.replace(/^(\d+)([+-])$/, (_, digits, sign) => `${sign === "-" ? "-" : ""}${digits}`),
  );
  // Each day has the positions that stand before it.
  const list =
    form === "MP" ? numbers.flatMap((word, at) => (/\d/.test(word) ? [] : listPlaces(numbers, at))) : numbers;
  if (needsOne && list.length === 0) throw new Error(`"${text}" names no day`);
  const limit = end === "#0" ? "" : end?.startsWith("#") === false ? `;UNTIL=${end}` : `;COUNT=${end?.slice(1) ?? 2}`;
  return `FREQ=${freq};INTERVAL=${interval}${list.length === 0 ? "" : `;${part}=${list.join(",")}`}${limit}`;
}

/** The day at a place of a rule of vCalendar 1.0, with each of its positions. */
function listPlaces(words: readonly string[], at: number): string[] {
  const last = words.slice(0, at).findLastIndex((word) => /\d/.test(word));
  const first = words.slice(0, last + 1).findLastIndex((word) => !/\d/.test(word)) + 1;
  return words.slice(first, last + 1).map((position) => `${position}${words[at]}`);
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

/** Combinations that the standard forbids; the engine takes each part as a limit then, as others do. */
function listMisfits(freq: RecurrenceRule["freq"], by: RecurrenceRule["by"]): string[] {
  return [
    ...(by.BYWEEKNO !== undefined && freq !== "YEARLY" ? ["BYWEEKNO goes with FREQ=YEARLY only"] : []),
    ...(by.BYYEARDAY !== undefined && /^(?:DAILY|WEEKLY|MONTHLY)$/.test(freq)
      ? [`BYYEARDAY does not go with FREQ=${freq}`]
      : []),
    ...(by.BYMONTHDAY !== undefined && freq === "WEEKLY" ? ["BYMONTHDAY does not go with FREQ=WEEKLY"] : []),
  ];
}

function readCount(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,9}$/.test(text) || Number(text) === 0) throw new Error(`${name} must be a positive number`);
  return Number(text);
}

function readUntil(text: string): NonNullable<RecurrenceRule["until"]> {
  const [, year, month, day, hours, minutes, seconds = "0", zulu] =
    /^(\d{4})-?(\d\d)-?(\d\d)(?:T(\d\d):?(\d\d)(?::?(\d\d))?(Z)?)?$/.exec(text) ?? [];
  if (year === undefined) throw new Error("UNTIL must be a day or a time such as 20261231T225959Z");
  const midnight = makeLocal(Number(year), Number(month), Number(day));
  if (hours === undefined) return { at: midnight, isDay: true, isUtc: false };
  const at = midnight + ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
  return { at, isDay: false, isUtc: zulu !== undefined };
}

/**
 * The last local time that UNTIL allows; Infinity without one. `toLocal` makes local time of UTC. For days, the first and the
 * last second of a day in UTC are those of that day.
 */
export function findEnd(
  { until }: RecurrenceRule,
  toLocal: (instant: number) => LocalTime,
  o: { readonly ofDays?: boolean } = {},
): LocalTime {
  if (until === undefined) return Number.POSITIVE_INFINITY;
  const { at } = until;
  const isEdge = o.ofDays === true && (at % DAY_MS === 0 || (at + 1000) % DAY_MS === 0);
  if (until.isDay) return at + DAY_MS - 1;
  return until.isUtc && !isEdge ? toLocal(at) : at;
}
