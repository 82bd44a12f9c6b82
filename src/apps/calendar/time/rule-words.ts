import { DAY_MS, type LocalTime, toLocal, type Zone } from "../../../shared/base/zones.ts";
import { findEnd, type RecurrenceRule } from "./recurrence-rule.ts";
import { nameWeekday, sayDate } from "./words.ts";

/** Of a start, what a rule leaves to it. */
interface RuleStart {
  readonly at: LocalTime;
  readonly isDay: boolean;
  readonly zone: Zone;
}

const UNITS = {
  SECONDLY: "second",
  MINUTELY: "minute",
  HOURLY: "hour",
  DAILY: "day",
  WEEKLY: "week",
  MONTHLY: "month",
  YEARLY: "year",
} as const;
/** Parts that no sentence is made of. */
const OTHERS = ["BYSECOND", "BYMINUTE", "BYHOUR", "BYYEARDAY", "BYWEEKNO", "BYSETPOS"] as const;
const PLACES = ["first", "second", "third", "fourth", "fifth"];
/** 2 January 2000 was a Sunday. */
const SUNDAY = Date.UTC(2000, 0, 2);

/** A rule for people: "every Monday and Wednesday, until 31 March 2027", "every month on the last Friday, 6 times". */
export function sayRule(rule: RecurrenceRule, start: RuleStart): string {
  return `${sayTimesOf(rule, start)}${sayOthers(rule)}, ${sayEnd(rule, start)}`;
}

function sayTimesOf(rule: RecurrenceRule, { at }: RuleStart): string {
  const { freq, by, byDay } = rule;
  const every = sayInterval(rule);
  const days = byDay?.map(sayDayOf) ?? [];
  const months = by.BYMONTH?.map((month) => sayDate(month, undefined)) ?? [];
  const inMonths = months.length > 0 && freq !== "YEARLY" ? `, in ${join(months)}` : "";
  if (freq === "WEEKLY") {
    const named = byDay === undefined ? [nameWeekday(at)] : days;
    return `${rule.interval === 1 ? `every ${join(named)}` : `${every} on ${join(named)}`}${inMonths}`;
  }
  if (freq === "MONTHLY" || freq === "YEARLY") {
    const when = sayDaysOf(rule, at, days);
    return `${every} on ${when}${inMonths}`;
  }
  return `${every}${days.length > 0 ? `, only on ${join(days)}` : ""}${inMonths}`;
}

function sayInterval({ freq, interval }: RecurrenceRule): string {
  return interval === 1 ? `every ${UNITS[freq]}` : `every ${interval} ${UNITS[freq]}s`;
}

/** The days of a month or a year. */
function sayDaysOf({ freq, by }: RecurrenceRule, at: LocalTime, days: readonly string[]): string {
  const date = new Date(at);
  const numbers = by.BYMONTHDAY?.map((day) =>
    day > 0 ? `day ${day}` : day === -1 ? "the last day" : `day ${-day} from the end`,
  );
  if (freq === "MONTHLY") {
    if (numbers === undefined) return days.length > 0 ? join(days) : `day ${date.getUTCDate()}`;
    return `${join(numbers)}${days.length > 0 ? `, if it is ${join(days)}` : ""}`;
  }
  const months = by.BYMONTH?.map((month) => sayDate(month, undefined)) ?? [];
  if (days.length === 0 && numbers === undefined) {
    const own = (by.BYMONTH ?? [date.getUTCMonth() + 1]).map((month) => sayDate(month, date.getUTCDate()));
    return join(own);
  }
  const named = [...(numbers ?? []), ...days];
  return `${join(named)}${months.length > 0 ? ` of ${join(months)}` : ""}`;
}

function sayDayOf({ nth, day }: { readonly nth: number; readonly day: number }): string {
  const name = nameWeekday(SUNDAY + day * DAY_MS);
  if (nth === 0) return name;
  const place = PLACES[Math.abs(nth) - 1] ?? `${Math.abs(nth)}th`;
  if (nth > 0) return `the ${place} ${name}`;
  return nth === -1 ? `the last ${name}` : `the ${place} last ${name}`;
}

function sayOthers({ by }: RecurrenceRule): string {
  const parts = OTHERS.flatMap((name) => (by[name] === undefined ? [] : [`${name}=${by[name].join(",")}`]));
  return parts.length === 0 ? "" : ` (${parts.join("; ")})`;
}

function sayEnd(rule: RecurrenceRule, { isDay, zone }: RuleStart): string {
  if (rule.count !== undefined) return rule.count === 1 ? "once" : `${rule.count} times`;
  const end = findEnd(rule, (instant) => toLocal(instant, zone), { ofDays: isDay });
  if (!Number.isFinite(end)) return "without end";
  const last = new Date(end);
  return `until ${sayDate(last.getUTCMonth() + 1, last.getUTCDate())} ${last.getUTCFullYear()}`;
}

function join(words: readonly string[]): string {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
