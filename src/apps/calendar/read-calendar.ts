import { z } from "zod";
import { defineCalendarAction } from "./agenda.ts";

const DAY_OR_TIME = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d)?)?$/;

/** A day such as 2026-11-27, or a time such as 2026-11-27T09:00, which counts in `zone` unless it has an offset. */
export const dayOrTime = z
  .string()
  .regex(DAY_OR_TIME, "must be like 2026-11-27 or 2026-11-27T09:00")
  .meta({ examples: ["2026-11-27T09:00"] });

/** Name of a time zone. */
export const zone = z.string().min(1).max(100);

/** An event of an earlier answer. */
export const eventId = z.string().min(1).max(500).describe("event_id of an earlier answer.");

/** One instance of a series. */
export const instance = dayOrTime.describe(
  "For one instance of an event that repeats: its `instance` of an earlier answer.",
);

const answerZone = zone
  .optional()
  .describe(
    'Time zone of the answer, and of times without an offset, for example "Europe/Berlin". Default: that of the connection.',
  );
const from = dayOrTime.describe("First day, or time at which it begins, for example 2026-11-23.");
const to = dayOrTime.describe("Last day, which is included, or time at which it ends.");
const calendars = z
  .array(z.string().min(1).max(300))
  .min(1)
  .max(50)
  .optional()
  .describe("Only these calendars: calendar_id or name; see list_calendars. Default: all.");

/** `calendar_list_calendars`. */
export const listCalendars = defineCalendarAction({
  id: "list_calendars",
  title: "List calendars",
  description: "Lists the calendars of the connection, and the time zone in which it answers unless told another.",
  level: "read",
  scopes: ["calendar.read"],
  arguments: z.strictObject({}),
  examples: [{}],
  run: (_, agenda) => agenda.listCalendars(),
});

/** `calendar_list_events`. */
export const listEvents = defineCalendarAction({
  id: "list_events",
  title: "List events",
  description:
    "The agenda of a range of at most 400 days, in the order of time: every event that touches it, and every instance of those that repeat, each with weekday, date and time zone. For all-day events, end is the last day. An event that repeats has `instance`, by which one of its instances is named to other actions.",
  level: "read",
  scopes: ["calendar.read"],
  arguments: z.strictObject({
    from,
    to,
    zone: answerZone,
    calendars,
    query: z
      .string()
      .max(200)
      .default("")
      .describe("Only events with all these words in title, place, description or the names of those invited."),
    limit: z.int().min(1).max(500).default(100).describe("Most events in one answer."),
  }),
  examples: [
    { from: "2026-11-23", to: "2026-11-29", zone: "Europe/Berlin" },
    { from: "2026-11-01", to: "2027-03-31", query: "dentist" },
  ],
  run: ({ query, limit, ...span }, agenda) =>
    agenda.listEvents({ ...span, zone: span.zone, calendars: span.calendars }, { query, limit }),
});

const clock = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, "must be like 09:00");
const WEEKDAY_NAMES = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"] as const;

/** Name of a weekday. */
export const weekdayName = z.enum(WEEKDAY_NAMES);

/** `calendar_find_free_time`. */
export const findFreeTime = defineCalendarAction({
  id: "find_free_time",
  title: "Find free time",
  description:
    "Times in a range of at most 100 days in which no event takes place, earliest first. Events that are cancelled, declined or marked as free do not count.",
  level: "read",
  scopes: ["calendar.read"],
  arguments: z.strictObject({
    from,
    to,
    minutes: z.int().min(5).max(10_080).default(30).describe("Shortest free time, in minutes."),
    working_hours: z
      .strictObject({
        from: clock.default("09:00"),
        to: clock.default("17:00"),
        days: z.array(weekdayName).min(1).max(7).default(["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"]),
      })
      .optional()
      .describe("Only within these hours, on these days. Default: the whole day."),
    zone: answerZone,
    calendars,
    limit: z.int().min(1).max(200).default(20).describe("Most free times in one answer."),
  }),
  examples: [{ from: "2026-11-23", to: "2026-11-27", minutes: 60, working_hours: { from: "09:00", to: "17:00" } }],
  run: ({ minutes, working_hours: hours, limit, ...span }, agenda) =>
    agenda.findFreeTime({ ...span, zone: span.zone, calendars: span.calendars }, { minutes, hours, limit }),
});

/** `calendar_read_event`. */
export const readEvent = defineCalendarAction({
  id: "read_event",
  title: "Read an event",
  description:
    "All about one event: description, who invited and who is invited with their answers, how it repeats, reminders. With `instance`, about that instance.",
  level: "read",
  scopes: ["calendar.read"],
  arguments: z.strictObject({ event_id: eventId, instance: instance.optional(), zone: answerZone }),
  examples: [{ event_id: "personal/3f0c6d1e-8a1b-4b7e-9d55-0f2a7c6e1b90.ics" }],
  run: ({ event_id, instance: one, zone: of }, agenda) => agenda.read(event_id, { instance: one, zone: of }),
});
