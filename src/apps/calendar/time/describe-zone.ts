import { DAY_MS, type LocalTime, makeLocal, type Zone } from "../../../shared/base/zones.ts";
import type { Observance } from "./custom-zone.ts";
import { WEEKDAYS } from "./recurrence-rule.ts";

/** An observance with the text of its rule, as a file holds it. */
export interface WrittenObservance extends Omit<Observance, "rule"> {
  readonly rule: string | undefined;
}

/** Years in which a rule has to hold to be written as one. */
const SEEN_YEARS = 6;
/** Years that are listed where there is no rule. */
const LISTED_YEARS = 20;

/**
 * The rules of a zone from the year before `from` on, for files that have to describe the zones they use: a change of each
 * year as a rule where it is one for six years, else as the dates of twenty years.
 */
export function describeZone(zone: Zone, from: number): WrittenObservance[] {
  const year = new Date(from).getUTCFullYear() - 1;
  const begin = makeLocal(year, 1, 1);
  const changes = listChanges(zone, begin, makeLocal(year + LISTED_YEARS, 1, 1));
  const base = zone.offsetAt(begin);
  const opening = { start: begin + base, from: base, to: base, rule: undefined, dates: [] };
  const kinds = Map.groupBy(changes, ({ at, from, to }) => `${new Date(at).getUTCMonth()} ${from} ${to}`);
  const described = [...kinds.values()].map((same): WrittenObservance => {
    const [first] = same as [Change];
    const rule = findRule(same, year);
    return {
      start: first.at,
      from: first.from,
      to: first.to,
      rule,
      dates: rule === undefined ? same.slice(1).map(({ at }) => at) : [],
    };
  });
  return [opening, ...described];
}

interface Change {
  readonly at: LocalTime;
  readonly from: number;
  readonly to: number;
}

function listChanges(zone: Zone, begin: number, end: number): Change[] {
  const changes: Change[] = [];
  for (let at = begin; at < end; at += 7 * DAY_MS) {
    const [from, to] = [zone.offsetAt(at), zone.offsetAt(at + 7 * DAY_MS)];
    if (from === to) continue;
    let [low, high] = [at, at + 7 * DAY_MS];
    while (high - low > 60_000) {
      const middle = low + Math.floor((high - low) / 120_000) * 60_000;
      if (zone.offsetAt(middle) === from) low = middle;
      else high = middle;
    }
    changes.push({ at: high + from, from, to });
  }
  return changes;
}

/** The rule that names exactly these changes, one a year. */
function findRule(changes: readonly Change[], year: number): string | undefined {
  const seen = changes.slice(0, SEEN_YEARS).map(({ at }) => new Date(at));
  const [first] = seen;
  if (first === undefined || seen.length < SEEN_YEARS) return undefined;
  const isYearly = seen.every((date, i) => date.getUTCFullYear() === first.getUTCFullYear() + i);
  const isSame = seen.every((date) => date.getUTCDay() === first.getUTCDay() && +date % DAY_MS === +first % DAY_MS);
  if (!isYearly || !isSame || first.getUTCFullYear() > year + 1) return undefined;
  const nths = new Set(seen.map((date) => Math.ceil(date.getUTCDate() / 7)));
  const areLast = seen.every((date) => new Date(+date + 7 * DAY_MS).getUTCMonth() !== date.getUTCMonth());
  const [nth] = nths;
  const position = areLast ? -1 : nths.size === 1 ? nth : undefined;
  if (position === undefined) return undefined;
  return `FREQ=YEARLY;BYMONTH=${first.getUTCMonth() + 1};BYDAY=${position}${WEEKDAYS[first.getUTCDay()]}`;
}
