import { DAY_MS, type LocalTime, makeLocal, toDay } from "../../../shared/base/zones.ts";
import type { RecurrenceRule } from "./recurrence-rule.ts";

const UNIT_MS = { HOURLY: 3_600_000, MINUTELY: 60_000, SECONDLY: 1_000 } as const;

/** How much may be looked at: a rule of a stranger can ask for any amount of work, and name days that never come. */
export interface Budget {
  /** Steps that are left, each of about a month at most. */
  steps: number;
}

/** Which occurrences are wanted. */
interface Span {
  /** Both are included. */
  readonly from: LocalTime;
  readonly to: LocalTime;
  /** Last time that UNTIL allows. */
  readonly end: LocalTime;
  readonly budget: Budget;
}

/**
 * The occurrences of a rule in a span, ascending, from `start` on; `start` is one only where the rule names it. Work is
 * counted, as a rule such as FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30 never comes to an end. Where the budget ends, so does the
 * list.
 */
export function expandRule(rule: RecurrenceRule, start: LocalTime, span: Span): LocalTime[] {
  const last = Math.min(span.to, span.end);
  const found: LocalTime[] = [];
  let count = 0;
  // With COUNT all occurrences have to be counted; otherwise those before the span need not be made.
  const first = rule.count === undefined ? Math.max(0, countPeriods(rule, start, span.from) - 1) : 0;
  for (let index = first; span.budget.steps > 0; index += 1) {
    const period = openPeriod(rule, start, index);
    span.budget.steps -= 1 + Math.floor(period.days.length / 31);
    if (period.begin > last) break;
    for (const at of pickPositions(rule, listTimes(rule, start, period, span.budget))) {
      if (at < start) continue;
      count += 1;
      if (at > last || (rule.count !== undefined && count > rule.count)) return found;
      if (at >= span.from) found.push(at);
    }
    const skipped = skipEmptyDays(rule, start, period);
    if (skipped !== undefined) index = Math.max(index, skipped - 1);
  }
  return found;
}

/** One step of the rule's frequency. */
interface Period {
  readonly begin: LocalTime;
  /** Its days; for a frequency below a day, the one day that it is on. */
  readonly days: readonly LocalTime[];
}

type SubDaily = keyof typeof UNIT_MS;

function isSubDaily(freq: RecurrenceRule["freq"]): freq is SubDaily {
  return freq in UNIT_MS;
}

/** How many steps lie between the start and a time, rounded down. */
function countPeriods({ freq, interval, wkst }: RecurrenceRule, start: LocalTime, at: LocalTime): number {
  if (at <= start) return 0;
  if (isSubDaily(freq)) return Math.floor((at - start) / (UNIT_MS[freq] * interval));
  if (freq === "DAILY") return Math.floor((toDay(at) - toDay(start)) / (DAY_MS * interval));
  if (freq === "WEEKLY") return Math.floor((toWeek(at, wkst) - toWeek(start, wkst)) / (7 * DAY_MS * interval));
  const [a, b] = [new Date(start), new Date(at)];
  const years = b.getUTCFullYear() - a.getUTCFullYear();
  if (freq === "YEARLY") return Math.floor(years / interval);
  return Math.floor((years * 12 + b.getUTCMonth() - a.getUTCMonth()) / interval);
}

function openPeriod({ freq, interval, wkst }: RecurrenceRule, start: LocalTime, index: number): Period {
  const steps = index * interval;
  if (isSubDaily(freq)) {
    const begin = Math.floor(start / UNIT_MS[freq]) * UNIT_MS[freq] + steps * UNIT_MS[freq];
    return { begin, days: [toDay(begin)] };
  }
  if (freq === "DAILY") return listDays(toDay(start) + steps * DAY_MS, 1);
  if (freq === "WEEKLY") return listDays(toWeek(start, wkst) + steps * 7 * DAY_MS, 7);
  const date = new Date(start);
  const year = date.getUTCFullYear() + (freq === "YEARLY" ? steps : 0);
  const month = freq === "YEARLY" ? 1 : date.getUTCMonth() + 1 + steps;
  const begin = makeLocal(year, month, 1);
  const end = freq === "YEARLY" ? makeLocal(year + 1, 1, 1) : makeLocal(year, month + 1, 1);
  return listDays(begin, (end - begin) / DAY_MS);
}

function listDays(begin: LocalTime, length: number): Period {
  return { begin, days: Array.from({ length }, (_, day) => begin + day * DAY_MS) };
}

function toWeek(at: LocalTime, wkst: number): LocalTime {
  return toDay(at) - ((new Date(at).getUTCDay() - wkst + 7) % 7) * DAY_MS;
}

/** All times of a period that the rule names, ascending. */
function listTimes(rule: RecurrenceRule, start: LocalTime, { begin, days }: Period, budget: Budget): LocalTime[] {
  const { freq } = rule;
  const wanted = days.filter((day) => isWantedDay(rule, start, day));
  if (wanted.length === 0) return [];
  const clock = new Date(isSubDaily(freq) ? begin : start);
  const own = {
    BYHOUR: clock.getUTCHours(),
    BYMINUTE: clock.getUTCMinutes(),
    BYSECOND: new Date(start).getUTCSeconds(),
  };
  if (freq === "SECONDLY") own.BYSECOND = clock.getUTCSeconds();
  const pick = (part: keyof typeof own, isLimit: boolean) => {
    const given = rule.by[part];
    if (given === undefined) return [isLimit || part !== "BYMINUTE" ? own[part] : new Date(start).getUTCMinutes()];
    // The last second of a minute stands for a leap second, which no clock here has.
    const values = given.map((value) => Math.min(value, 59));
    return isLimit ? values.filter((value) => value === own[part]) : [...new Set(values)];
  };
  const hours = pick("BYHOUR", isSubDaily(freq));
  const minutes = pick("BYMINUTE", freq === "MINUTELY" || freq === "SECONDLY");
  const seconds = pick("BYSECOND", freq === "SECONDLY");
  const times = hours.flatMap((h) => minutes.flatMap((m) => seconds.map((s) => ((h * 60 + m) * 60 + s) * 1000)));
  const most = Math.max(1, Math.floor(MAX_TIMES / Math.max(1, times.length)));
  const found = wanted.slice(0, most).flatMap((day) => times.map((time) => day + time));
  budget.steps -= Math.floor(found.length / 100);
  return found;
}

/** Most times of one period. */
const MAX_TIMES = 100_000;

function pickPositions({ by }: RecurrenceRule, times: readonly LocalTime[]): readonly LocalTime[] {
  const positions = by.BYSETPOS;
  if (positions === undefined) return times;
  const picked = positions.map((position) => times[position > 0 ? position - 1 : times.length + position]);
  return [...new Set(picked.filter((at) => at !== undefined))].sort((a, b) => a - b);
}

/** Whether a day of a period is one of the rule; what the rule leaves open follows from the start. */
function isWantedDay(rule: RecurrenceRule, start: LocalTime, day: LocalTime): boolean {
  const { freq, by, byDay } = rule;
  const date = new Date(day);
  const first = new Date(start);
  const month = date.getUTCMonth() + 1;
  if (by.BYMONTH !== undefined && !by.BYMONTH.includes(month)) return false;
  const isOpen = [by.BYWEEKNO, by.BYYEARDAY, by.BYMONTHDAY, byDay].every((part) => part === undefined);
  if (isOpen && freq === "YEARLY" && by.BYMONTH === undefined && month !== first.getUTCMonth() + 1) return false;
  if (isOpen && (freq === "YEARLY" || freq === "MONTHLY") && date.getUTCDate() !== first.getUTCDate()) return false;
  if (isOpen && freq === "WEEKLY" && date.getUTCDay() !== first.getUTCDay()) return false;
  if (by.BYWEEKNO !== undefined && !matchesWeek(by.BYWEEKNO, day, rule.wkst)) return false;
  const isWeekOnly = by.BYWEEKNO !== undefined && byDay === undefined && by.BYMONTHDAY === undefined;
  if (isWeekOnly && by.BYYEARDAY === undefined && date.getUTCDay() !== first.getUTCDay()) return false;
  if (by.BYYEARDAY !== undefined && !matchesDay(by.BYYEARDAY, day, ...yearOf(date))) return false;
  if (by.BYMONTHDAY !== undefined && !matchesDay(by.BYMONTHDAY, day, ...monthOf(date))) return false;
  return byDay === undefined || matchesWeekday(rule, day);
}

function yearOf(date: Date): [LocalTime, LocalTime] {
  const year = date.getUTCFullYear();
  return [makeLocal(year, 1, 1), makeLocal(year + 1, 1, 1)];
}

function monthOf(date: Date): [LocalTime, LocalTime] {
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() + 1];
  return [makeLocal(year, month, 1), makeLocal(year, month + 1, 1)];
}

/** `wanted` counts the days of a span from its begin, or from its end where it is negative. */
function matchesDay(wanted: readonly number[], day: LocalTime, begin: LocalTime, end: LocalTime): boolean {
  return wanted.includes((day - begin) / DAY_MS + 1) || wanted.includes(-(end - day) / DAY_MS);
}

/** Week 1 is the first one with four days in the year. */
function matchesWeek(wanted: readonly number[], day: LocalTime, wkst: number): boolean {
  const week = toWeek(day, wkst);
  const year = new Date(week + 3 * DAY_MS).getUTCFullYear();
  const [one, next] = [year, year + 1].map((of) => toWeek(makeLocal(of, 1, 4), wkst)) as [number, number];
  return matchesDay(wanted, one + (week - one) / 7, one, one + (next - one) / 7);
}

function matchesWeekday({ freq, by, byDay = [] }: RecurrenceRule, day: LocalTime): boolean {
  const date = new Date(day);
  return byDay.some(({ nth, day: weekday }) => {
    if (weekday !== date.getUTCDay()) return false;
    if (nth === 0 || (freq !== "MONTHLY" && freq !== "YEARLY") || by.BYWEEKNO !== undefined) return true;
    const inMonth = freq === "MONTHLY" || by.BYMONTH !== undefined;
    const [begin, end] = inMonth ? monthOf(date) : yearOf(date);
    if (nth > 0) return Math.floor((day - begin) / (7 * DAY_MS)) + 1 === nth;
    return -(Math.floor((end - DAY_MS - day) / (7 * DAY_MS)) + 1) === nth;
  });
}

/** For a frequency below a day whose day is not wanted: the first step of the next day. Undefined where nothing is skipped. */
function skipEmptyDays(rule: RecurrenceRule, start: LocalTime, { begin, days }: Period): number | undefined {
  const { freq } = rule;
  if (!isSubDaily(freq) || days.some((day) => isWantedDay(rule, start, day))) return undefined;
  const unit = UNIT_MS[freq] * rule.interval;
  const origin = Math.floor(start / UNIT_MS[freq]) * UNIT_MS[freq];
  return Math.ceil((toDay(begin) + DAY_MS - origin) / unit);
}
