import { shortenText } from "../../../shared/base/text.ts";
import { DAY_MS, type Zone } from "../../../shared/base/zones.ts";
import { type ContentBlock, listBlocks, listLines } from "../../collections/content-tree.ts";
import { firstParam, readDuration, readLine, readRawLine, readText } from "../../collections/content-values.ts";
import { stripHtml } from "../../text/html-text.ts";
import { sayDays, sayTimes, writeDay, writeTime } from "../time/words.ts";
import type { CalendarFile } from "./calendar-file.ts";
import { type Instance, repeats } from "./instances.ts";
import { type Moment, momentToInstant, readFirstMoment } from "./moment.ts";

const MAX_TEXT = 20_000;
const MAX_PEOPLE = 200;

/** Whoever invited, or is invited. */
export interface Person {
  readonly address: string;
  readonly name?: string;
  /** As it is stored, in lower case; `needs-action` where nothing was answered. */
  readonly answer?: string;
  readonly optional?: true;
}

/** Text of an event, in the form that is shown. */
export function readEventText(event: ContentBlock, name: string): string | undefined {
  return readText(event, name);
}

/** The description of an event; the text of its HTML where it has no other. */
export function readDescription(event: ContentBlock): string | undefined {
  const html = readText(event, "X-ALT-DESC");
  return readText(event, "DESCRIPTION") ?? (html === undefined ? undefined : stripHtml(html));
}

/** The title of an event, as it is shown. */
export function readTitle(event: ContentBlock): string {
  return shortenText(readEventText(event, "SUMMARY") ?? "", 500);
}

/** What is shown of every event in a list; `own` are the addresses of the account. */
export function summariseInstance(
  instance: Instance,
  o: { readonly eventId: string; readonly calendarId: string; readonly zone: Zone; readonly own: ReadonlySet<string> },
) {
  const { event, start, original } = instance;
  const status = readEventText(event, "STATUS")?.toLowerCase();
  const location = readEventText(event, "LOCATION");
  const answer = readOwnAnswer(event, o.own);
  return {
    event_id: o.eventId,
    calendar_id: o.calendarId,
    title: readTitle(event),
    ...sayWhen(instance, o.zone),
    ...(start.zone !== undefined && start.zone.id !== o.zone.id && { event_zone: start.zone.id }),
    ...(start.isGuess && { zone_unknown: `Nobody knows the zone "${nameZone(start)}": the time is a guess.` }),
    ...(!start.isDay && !start.isGuess && start.zone === undefined && { floating: FLOATING }),
    ...(location !== undefined && { location: shortenText(location, 500) }),
    ...(original !== undefined && { repeats: true, instance: writeOriginal(original, o.zone) }),
    ...(status !== undefined && status !== "confirmed" && { status }),
    ...(isFree(event) && { shown_as: "free" }),
    ...(answer !== undefined && { your_answer: answer }),
  };
}

const FLOATING = "The time is the same on every clock, in no zone.";

/** The zone as the file has it; one that is not known can be that of the whole calendar. */
function nameZone({ tzid }: Moment): string {
  return shortenText(tzid || "X-WR-TIMEZONE", 100);
}

/** When it is, in words and as the arguments name it. */
export function sayWhen({ start, end, startsAt, endsAt }: Instance, zone: Zone) {
  if (start.isDay)
    return {
      when: sayDays(start.at, end.at),
      start: writeDay(start.at),
      end: writeDay(Math.max(start.at, end.at - DAY_MS)),
      all_day: true,
    };
  return {
    when: sayTimes(startsAt, endsAt, zone),
    start: writeTime(startsAt, zone),
    end: writeTime(endsAt, zone),
    all_day: false,
  };
}

/** The name of an instance: the day or the time at which its series has it. */
function writeOriginal(original: Moment, zone: Zone): string {
  return original.isDay ? writeDay(original.at) : writeTime(momentToInstant(original, zone), original.zone ?? zone);
}

/** Everything of an event beside its summary. */
export function describeDetails(file: CalendarFile, instance: Instance, zone: Zone) {
  const { event, series } = instance;
  const text = readDescription(event);
  const url = readEventText(event, "URL");
  const visibility = readEventText(event, "CLASS")?.toLowerCase();
  const organizer = listPeople(event, "ORGANIZER")[0];
  const attendees = listPeople(event, "ATTENDEE");
  const categories = listLines(event, "CATEGORIES").flatMap((line) => readLine(line)?.values ?? []);
  return {
    ...(series.uid !== "" && { uid: series.uid }),
    ...(text !== undefined && { description: shortenText(text, MAX_TEXT) }),
    ...(url !== undefined && { url }),
    ...(categories.length > 0 && { categories }),
    ...(visibility !== undefined && { visibility }),
    ...(organizer !== undefined && { organizer }),
    ...(attendees.length > 0 && { attendees: attendees.slice(0, MAX_PEOPLE), invited: attendees.length }),
    ...(repeats(series) && { recurrence: describeRecurrence(file, instance) }),
    reminders: describeReminders(event),
    ...describeTimes(event, file, zone),
  };
}

function describeRecurrence(file: CalendarFile, { series }: Instance) {
  const { master, overrides } = series;
  if (master === undefined) return undefined;
  const count = (name: string) =>
    listLines(master, name).reduce((sum, line) => sum + (readRawLine(line)?.value.split(",").length ?? 0), 0);
  const [rule, ...others] = listLines(master, "RRULE").map((line) => readRawLine(line)?.value ?? "");
  const without = listLines(master, "EXRULE").map((line) => readRawLine(line)?.value ?? "");
  const start = readFirstMoment(master, "DTSTART", file.zonesOf(master));
  return {
    ...(rule !== undefined && { rrule: rule }),
    ...(others.length > 0 && { further_rules: others }),
    ...(without.length > 0 && { taken_out_by_rule: without }),
    ...(start !== undefined && { first_day: writeDay(start.at) }),
    further_times: count("RDATE"),
    taken_out: count("EXDATE"),
    changed_instances: overrides.length,
  };
}

function describeReminders(event: ContentBlock): string[] {
  return listBlocks(event, "VALARM").flatMap((alarm) => {
    const [line] = listLines(alarm, "TRIGGER");
    const trigger = line && readRawLine(line);
    const length = trigger && readDuration(trigger.value);
    if (trigger === undefined || length === undefined) return trigger === undefined ? [] : [`at ${trigger.value}`];
    const minutes = (length.days * DAY_MS + length.ms) / 60_000;
    const point = firstParam(trigger.params, "related")?.toUpperCase() === "END" ? "end" : "start";
    return [`${Math.abs(minutes)} minutes ${minutes > 0 ? "after" : "before"} the ${point}`];
  });
}

function describeTimes(event: ContentBlock, file: CalendarFile, zone: Zone) {
  const read = (name: string) => {
    const moment = readFirstMoment(event, name, file.zonesOf(event));
    return moment === undefined ? undefined : writeTime(momentToInstant(moment, zone), zone);
  };
  const [created, modified] = [read("CREATED"), read("LAST-MODIFIED")];
  return { ...(created !== undefined && { created }), ...(modified !== undefined && { modified }) };
}

/** Those that lines such as ATTENDEE name. */
export function listPeople(event: ContentBlock, name: "ATTENDEE" | "ORGANIZER"): Person[] {
  return listLines(event, name).flatMap((line) => {
    const raw = readRawLine(line);
    if (raw === undefined) return [];
    const called = firstParam(raw.params, "cn");
    const isOptional = firstParam(raw.params, "role")?.toUpperCase() === "OPT-PARTICIPANT";
    return [
      {
        address: toAddress(raw),
        ...(called !== undefined && { name: shortenText(called, 200) }),
        ...(name === "ATTENDEE" && { answer: (firstParam(raw.params, "partstat") ?? "NEEDS-ACTION").toLowerCase() }),
        ...(isOptional && { optional: true as const }),
      },
    ];
  });
}

/** The mail address of a line such as ATTENDEE, in lower case. */
export function toAddress({ params, value }: NonNullable<ReturnType<typeof readRawLine>>): string {
  const mail = /^mailto:(.*)$/i.exec(value.trim())?.[1] ?? firstParam(params, "email");
  return shortenText((mail ?? value).trim().toLowerCase(), 320);
}

/** What the account itself answered; undefined where it is not invited. */
export function readOwnAnswer(event: ContentBlock, own: ReadonlySet<string>): string | undefined {
  return own.size === 0 ? undefined : listPeople(event, "ATTENDEE").find(({ address }) => own.has(address))?.answer;
}

/** True for an event that takes no time of its owner. */
function isFree(event: ContentBlock): boolean {
  // Outlook has a property of its own; vCalendar 1.0 a number.
  const shown = readEventText(event, "TRANSP") ?? readEventText(event, "X-MICROSOFT-CDO-BUSYSTATUS") ?? "";
  return ["TRANSPARENT", "1", "FREE"].includes(shown.toUpperCase());
}

/** True for an event that does not take place. */
function isCancelled(event: ContentBlock): boolean {
  return readEventText(event, "STATUS")?.toUpperCase() === "CANCELLED";
}

/** True for an event that takes time of the account with these addresses. */
export function takesTime(event: ContentBlock, own: ReadonlySet<string>): boolean {
  return !isFree(event) && !isCancelled(event) && readOwnAnswer(event, own) !== "declined";
}
