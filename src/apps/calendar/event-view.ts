import { DAY_MS, toLocal, type Zone } from "../../shared/base/zones.ts";
import { listLines } from "../collections/content-tree.ts";
import { readRawLine } from "../collections/content-values.ts";
import type { FoundInstance } from "./find-events.ts";
import type { CalendarFile, Series } from "./ics/calendar-file.ts";
import {
  listPeople,
  type Person,
  readDescription,
  readEventText,
  readOwnAnswer,
  readTitle,
  sayWhen,
} from "./ics/describe-event.ts";
import { listInstances, repeats } from "./ics/instances.ts";
import { momentToInstant, readFirstMoment } from "./ics/moment.ts";
import { readRules } from "./time/recurrence-rule.ts";
import { sayRule } from "./time/rule-words.ts";
import { sayShort, sayShortSpan, sayTimes } from "./time/words.ts";

/** How far ahead the next time of a series is looked for, and in how many steps of its rule. */
const AHEAD_MS = 400 * DAY_MS;
const MOST_STEPS = 10_000;

/** An event as a preview shows it; empty texts for what it does not have. */
export interface EventView {
  readonly title: string;
  /** Name of its calendar. */
  readonly calendar: string;
  /** Whole, with the zone. */
  readonly time: string;
  /** In few letters, without the zone: its start, and from start to end. */
  readonly start: string;
  readonly span: string;
  readonly isDay: boolean;
  /** Its time in the zone that it has itself, where that is another one. */
  readonly ownTime: string;
  /** How it repeats, in words. */
  readonly recurrence: string;
  readonly location: string;
  readonly description: string;
  readonly organizer: Person | undefined;
  /** Who is invited beside the account. */
  readonly others: readonly Person[];
  /** As it is stored, in lower case; undefined where the account is not invited. */
  readonly ownAnswer: string | undefined;
}

/** What an event, or one time of it, looks like in a zone; `own` are the addresses of the account. */
export function viewEvent(
  { item, file, series, instance }: FoundInstance,
  { zone, own }: { readonly zone: Zone; readonly own: ReadonlySet<string> },
): EventView {
  const { event, start, end, startsAt, endsAt } = instance;
  const { isDay } = start;
  const [organizer] = listPeople(event, "ORGANIZER");
  const [from, to] = isDay ? [start.at, end.at] : [toLocal(startsAt, zone), toLocal(endsAt, zone)];
  const isElsewhere = start.zone !== undefined && start.zone.id !== zone.id;
  return {
    title: readTitle(event),
    calendar: item.collection.name,
    time: `${sayWhen(instance, zone).when}${start.isGuess ? ", a guess, as its zone is not known" : ""}`,
    start: sayShort(from, isDay),
    span: sayShortSpan(from, to, isDay),
    isDay,
    ownTime: isElsewhere && start.zone ? sayTimes(startsAt, endsAt, start.zone) : "",
    recurrence: sayRecurrence(file, series, zone),
    location: readEventText(event, "LOCATION") ?? "",
    description: readDescription(event) ?? "",
    organizer,
    others: listPeople(event, "ATTENDEE").flatMap((one) => {
      if (own.has(one.address)) return [];
      return one.address === organizer?.address ? { ...organizer, ...one } : one;
    }),
    ownAnswer: readOwnAnswer(event, own),
  };
}

/** A person in a sentence. */
export function sayPerson({ name, address }: Person): string {
  return name === undefined ? address : `${name} (${address})`;
}

function sayRecurrence(file: CalendarFile, series: Series, zone: Zone): string {
  const { master } = series;
  const start = master && readFirstMoment(master, "DTSTART", file.zonesOf(master));
  if (master === undefined || start === undefined || !repeats(series)) return "";
  const count = (name: string) =>
    listLines(master, name).reduce((sum, line) => sum + (readRawLine(line)?.value.split(",").length ?? 0), 0);
  const { rules, failed } = readRules(master, "RRULE");
  const [further, without] = [count("RDATE"), count("EXDATE")];
  const parts = [
    ...rules.map((rule) => sayRule(rule, { ...start, zone: start.zone ?? zone })),
    ...failed.map((text) => `by the rule ${text}`),
    ...(further > 0 ? [`${further} further ${further === 1 ? "time" : "times"}`] : []),
    ...(without > 0 ? [`${without} taken out`] : []),
    ...(listLines(master, "EXRULE").length > 0 ? ["others taken out by a rule"] : []),
  ];
  return parts.join("; ");
}

/** The first time of a series that is not over; undefined for none in sight. */
export function findNext(
  found: FoundInstance,
  { zone, now }: { readonly zone: Zone; readonly now: number },
): FoundInstance | undefined {
  const { file, series } = found;
  const span = { from: now, to: now + AHEAD_MS, zone, budget: { steps: MOST_STEPS } };
  const [next] = listInstances(file, series, span).toSorted((a, b) => a.startsAt - b.startsAt);
  return next && { ...found, instance: next };
}

/** Whether a series began before a moment. */
export function beganBefore({ file, series, instance }: FoundInstance, zone: Zone, now: number): boolean {
  const { master } = series;
  const start = master && readFirstMoment(master, "DTSTART", file.zonesOf(master));
  return (start === undefined ? instance.startsAt : momentToInstant(start, zone)) < now;
}
