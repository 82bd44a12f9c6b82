import { z } from "zod";
import { refuseValue } from "../../service/service-error.ts";
import { DAY_MS, toInstant } from "../../shared/base/zones.ts";
import type { RaisedLevel } from "../../shared/wire/call-level.ts";
import { keepsItems } from "../collections/kept-item.ts";
import type { JudgeContext } from "../port/integration.ts";
import { anyEmptied, deletesWhen, given, judgeReplacing } from "../port/raised-levels.ts";
import { type Agenda, ANSWERS, defineCalendarAction, type EventTarget } from "./agenda.ts";
import { readSettingZone } from "./calendar-settings.ts";
import { dayOrTime, eventId, instance, weekdayName, zone } from "./read-calendar.ts";
import { readGivenTime, readZone } from "./time/read-time.ts";

const line = (most: number) =>
  z
    .string()
    .trim()
    .max(most)
    .regex(/^[^\r\n]*$/, "must be one line");

const START = "Its start: a day for an all-day event, or a time such as 2026-11-27T09:00.";
const END = "Its end, of the same kind: the last day, or a time.";
const ZONE =
  'Time zone of start and end, for example "Europe/Berlin"; needed where they are times. The event keeps its time of the day there when clocks change.';
const WEEKDAY = "Weekday of the start, so that whoever approves sees it; it has to be right.";
const RRULE =
  'How it repeats, as in RFC 5545, for example "FREQ=WEEKLY;BYDAY=MO,WE;UNTIL=20270331" or "FREQ=MONTHLY;BYDAY=-1FR;COUNT=6". The start is its first time.';
const text = z.string().max(20_000);

function checkZone(times: readonly (string | undefined)[], given: string | undefined): void {
  if (given === undefined && times.some((time) => time?.includes("T")))
    throw refuseValue("zone", "is needed where start or end is a time.", 'Name it, for example "Europe/Berlin".');
}

/** `calendar_create_event`. */
export const createEvent = defineCalendarAction({
  id: "create_event",
  title: "Create an event",
  description: "Creates an event, once or repeating. Nobody is invited.",
  level: "write",
  scopes: ["calendar.write"],
  arguments: z.strictObject({
    title: line(500).min(1).describe("Title."),
    weekday: weekdayName.describe(WEEKDAY),
    start: dayOrTime.describe(START),
    end: dayOrTime.describe(END),
    zone: zone.optional().describe(ZONE),
    rrule: z.string().min(1).max(500).optional().describe(RRULE),
    calendar: z
      .string()
      .min(1)
      .max(300)
      .optional()
      .describe("Calendar: calendar_id or name; see list_calendars. Needed where there are several."),
    location: line(500).optional().describe("Place."),
    description: text.optional().describe("Further text."),
  }),
  examples: [
    {
      title: "Dentist",
      weekday: "Friday",
      start: "2026-11-27T09:00",
      end: "2026-11-27T09:45",
      zone: "Europe/Berlin",
      location: "Main Street 1",
    },
    { title: "Holidays", weekday: "Thursday", start: "2026-12-24", end: "2027-01-03" },
  ],
  askBefore: ["What is put into which calendar, on which day, at which time of which zone?"],
  preview: async (given, agenda) => agenda.previewCreate(readDraft(given)),
  run: async (given, agenda) => agenda.create(readDraft(given)),
  keeps: keepsItems,
});

type Draft = Parameters<Agenda["create"]>[0];

function readDraft<Given extends Omit<Draft, "calendar" | "zone">>(given: Given & Partial<Draft>): Draft {
  checkZone([given.start, given.end], given.zone);
  return { ...given, calendar: given.calendar, zone: given.zone };
}

/** Which event is meant. */
const target = {
  event_id: eventId,
  title: line(500).describe(
    "Title that the event has now, as an earlier answer said, so that whoever approves sees which one it is; empty where it has none.",
  ),
  instance: instance.optional(),
  whole_series: z
    .boolean()
    .default(false)
    .describe("For an event that repeats: true means all its instances. Otherwise name one by `instance`."),
};

type Target = z.infer<z.ZodObject<typeof target>> & { zone?: string | undefined };

function toTarget({ event_id, title, instance, whole_series, zone }: Target): EventTarget {
  if (instance !== undefined && whole_series)
    throw refuseValue("whole_series", "cannot be combined with instance.", "Send one of them.");
  return { eventId: event_id, title, instance, wholeSeries: whole_series, zone };
}

/** Far enough ahead to be out of sight. */
const FAR_MS = 366 * DAY_MS;

/** Moving to where nobody looks counts as deleting: to a time that is over, or to one that is more than a year ahead. */
function judgeTimes(
  { start, end, zone }: { readonly [name in "start" | "end" | "zone"]?: string | undefined },
  { now, connection }: JudgeContext,
): RaisedLevel | undefined {
  const used = readZone(zone, readSettingZone(connection.settings));
  const read = (text: string, field: string) => {
    const moment = readGivenTime(text, used, field);
    const from = toInstant(moment.at, moment.zone ?? used);
    return { from, to: moment.isDay ? from + DAY_MS : from };
  };
  const times = [...(start ? [read(start, "start")] : []), ...(end ? [read(end, "end")] : [])];
  if (times.some(({ to }) => to <= now())) return { level: "delete", says: "moves it to a time that is over" };
  if (times.some(({ from }) => from > now() + FAR_MS))
    return { level: "delete", says: "moves it to a time more than a year ahead" };
  return undefined;
}

/** `calendar_update_event`. */
export const updateEvent = defineCalendarAction({
  id: "update_event",
  title: "Change an event",
  description:
    "Changes an event, one instance of it, or a whole series. What is not named stays, also what this service does not know. With a new start alone it stays as long as it was. An empty location, description or rrule is taken away.",
  level: "write",
  raises: [
    deletesWhen("changes how it repeats, so that times of it can end", given("rrule")),
    deletesWhen("empties its place or text", anyEmptied("location", "description")),
    deletesWhen("moves a whole series", {
      allOf: [given("whole_series", { const: true }), { anyOf: [given("start"), given("end")] }],
    }),
  ],
  scopes: ["calendar.write"],
  arguments: z.strictObject({
    ...target,
    new_title: line(500).min(1).optional().describe("New title."),
    weekday: weekdayName.optional().describe(`${WEEKDAY} Needed with start.`),
    start: dayOrTime.optional().describe(START),
    end: dayOrTime.optional().describe(END),
    zone: zone.optional().describe(ZONE),
    rrule: z.string().max(500).optional().describe(RRULE),
    location: line(500).optional().describe("New place."),
    description: text.optional().describe("New text; replaces the old one."),
  }),
  examples: [
    {
      event_id: "personal/3f0c6d1e-8a1b-4b7e-9d55-0f2a7c6e1b90.ics",
      title: "Dentist",
      weekday: "Monday",
      start: "2026-11-30T11:00",
      zone: "Europe/Berlin",
    },
  ],
  askBefore: ["Which event is changed, one instance or all, and to what?"],
  async judge(change, agenda, context) {
    const { event_id, instance, zone, new_title: title, location, description } = change;
    const present = await agenda.read(event_id, { instance, zone });
    return judgeTimes(change, context) ?? judgeReplacing(present, { title, location, description });
  },
  preview: async (given, agenda) => agenda.previewChange(toTarget(given), readChange(given)),
  run: async (given, agenda) => agenda.change(toTarget(given), readChange(given)),
  keeps: keepsItems,
});

function readChange(
  given: Target & Omit<Parameters<Agenda["change"]>[1], "newTitle"> & { readonly new_title?: string | undefined },
) {
  const { new_title: newTitle, start, end, weekday, rrule, location, description, zone } = given;
  const change = { newTitle, start, end, weekday, rrule, location, description };
  if (Object.values(change).every((one) => one === undefined))
    throw refuseValue("new_title", "or another change is needed.", "Send what is to be changed.");
  if (start !== undefined && weekday === undefined)
    throw refuseValue("weekday", "is needed with start.", "Name the weekday of the new start.");
  checkZone([start, end], zone);
  return change;
}

/** `calendar_delete_event`. */
export const deleteEvent = defineCalendarAction({
  id: "delete_event",
  title: "Delete an event",
  description:
    "Deletes an event, one instance of it, or a whole series. A whole event in a folder goes to .trash, from where a human can restore it; on a server it is gone.",
  level: "delete",
  scopes: ["calendar.write"],
  arguments: z.strictObject({
    ...target,
    zone: zone.optional().describe("Time zone of the answer."),
  }),
  examples: [{ event_id: "personal/3f0c6d1e-8a1b-4b7e-9d55-0f2a7c6e1b90.ics", title: "Dentist" }],
  askBefore: ["Which event is deleted, one instance or all?"],
  preview: async (target, agenda) => agenda.previewRemoval(toTarget(target)),
  run: async (target, agenda) => agenda.remove(toTarget(target)),
  keeps: keepsItems,
});

/** `calendar_answer_invitation`. */
export const answerInvitation = defineCalendarAction({
  id: "answer_invitation",
  title: "Answer an invitation",
  description:
    "Sets your own answer to an invitation: accepted, declined or tentative. A calendar server tells the organizer if it does so by itself; with a folder only your calendar is changed.",
  level: "write",
  scopes: ["calendar.write"],
  arguments: z.strictObject({
    ...target,
    answer: z.enum(ANSWERS).describe("Your answer."),
    zone: zone.optional().describe("Time zone of the answer."),
  }),
  examples: [{ event_id: "personal/3f0c6d1e-8a1b-4b7e-9d55-0f2a7c6e1b90.ics", title: "Review", answer: "accepted" }],
  askBefore: ["What is answered to which invitation, for one instance or all?"],
  preview: async ({ answer, ...target }, agenda) => agenda.previewAnswer(toTarget(target), answer),
  run: async ({ answer, ...target }, agenda) => agenda.answer(toTarget(target), answer),
  keeps: keepsItems,
});
