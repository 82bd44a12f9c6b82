import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { refusal } from "../run-action.ts";
import { useCalendarFolder } from "./kit/calendar-folder.ts";
import { ics } from "./kit/write-ics.ts";

const { folder, runAs, put } = useCalendarFolder();
let run: ReturnType<typeof runAs>;

/** Lines of a file without those of times and zones that the test does not look at. */
async function lines(path: string): Promise<string[]> {
  const text = await readFile(join(folder(), path), "utf8");
  expect(text.split("\r\n").every((line) => Buffer.byteLength(line) <= 75)).toBe(true);
  return text
    .replaceAll("\r\n ", "")
    .split("\r\n")
    .filter((line) => line !== "");
}

async function list(from: string, to: string): Promise<string[]> {
  const { events } = await run("list_events", { from, to });
  return events.map(({ start, title }: { start: string; title: string }) => `${start.slice(0, 16)} ${title}`);
}

beforeEach(() => {
  run = runAs("ana@example.org");
});

const ZONED = { zone: "Europe/Berlin" };
const BERLIN = "TZID=Europe/Berlin";
const LUNCH = {
  title: "Lunch, with Zoë; outside",
  weekday: "Friday",
  start: "2026-11-27T12:00",
  end: "2026-11-27T13:00",
  ...ZONED,
} as const;

describe("calendar_create_event", () => {
  it("writes one file an event that other programs read, with the rules of its zone", async () => {
    const event = await run("create_event", { ...LUNCH, location: "Café", description: "a\nb" });
    expect(event).toMatchObject({
      calendar_id: "personal",
      title: LUNCH.title,
      when: "Friday 27 November 2026, 12:00 to 13:00 (Europe/Berlin)",
    });
    expect(await readdir(join(folder(), "personal"))).toEqual([event.event_id.replace("personal/", "")]);
    const uid = event.event_id.replace(/^personal\/|\.ics$/g, "");
    expect(await lines(event.event_id)).toEqual([
      "BEGIN:VCALENDAR",
      "VERSION:2.0",
      "PRODID:-//svc-agent-plugin//svc//EN",
      "BEGIN:VTIMEZONE",
      "TZID:Europe/Berlin",
      "BEGIN:STANDARD",
      "DTSTART:20250101T010000",
      "TZOFFSETFROM:+0100",
      "TZOFFSETTO:+0100",
      "END:STANDARD",
      "BEGIN:DAYLIGHT",
      "DTSTART:20250330T020000",
      "TZOFFSETFROM:+0100",
      "TZOFFSETTO:+0200",
      "RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU",
      "END:DAYLIGHT",
      "BEGIN:STANDARD",
      "DTSTART:20251026T030000",
      "TZOFFSETFROM:+0200",
      "TZOFFSETTO:+0100",
      "RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU",
      "END:STANDARD",
      "END:VTIMEZONE",
      "BEGIN:VEVENT",
      `UID:${uid}`,
      "CREATED:20261120T093000Z",
      "DTSTART;TZID=Europe/Berlin:20261127T120000",
      "DTEND;TZID=Europe/Berlin:20261127T130000",
      "SUMMARY:Lunch\\, with Zoë\\; outside",
      "LOCATION:Café",
      "DESCRIPTION:a\\nb",
      "DTSTAMP:20261120T093000Z",
      "LAST-MODIFIED:20261120T093000Z",
      "END:VEVENT",
      "END:VCALENDAR",
    ]);
  });

  it("creates days, times in UTC, and series whose end is in the form the standard wants", async () => {
    const days = await run("create_event", {
      title: "Off",
      weekday: "Thursday",
      start: "2026-12-24",
      end: "2026-12-26",
    });
    expect(await lines(days.event_id)).toEqual(
      expect.arrayContaining(["DTSTART;VALUE=DATE:20261224", "DTEND;VALUE=DATE:20261227"]),
    );
    const utc = await run("create_event", {
      ...LUNCH,
      start: "2026-11-27T12:00+01:00",
      end: "2026-11-27T12:30Z",
      zone: "UTC",
    });
    expect(await lines(utc.event_id)).toEqual(
      expect.arrayContaining(["DTSTART:20261127T110000Z", "DTEND:20261127T123000Z"]),
    );
    for (const [given, written] of [
      ["UNTIL=20261231", "UNTIL=20261231T225959Z"],
      ["UNTIL=20261231T120000", "UNTIL=20261231T110000Z"],
      ["UNTIL=20261231T110000Z", "UNTIL=20261231T110000Z"],
      ["COUNT=3", "COUNT=3"],
    ]) {
      const series = await run("create_event", { ...LUNCH, rrule: `FREQ=WEEKLY;BYDAY=FR;${given}` });
      expect(await lines(series.event_id)).toContain(`RRULE:FREQ=WEEKLY;BYDAY=FR;${written}`);
    }
  });

  it("writes dates where a zone has no yearly rule, and other programs get the same times from them", async () => {
    for (const zone of [
      "Africa/Casablanca",
      "America/New_York",
      "Asia/Tokyo",
      "Australia/Lord_Howe",
      "Asia/Kathmandu",
    ]) {
      const args = {
        title: zone,
        calendar: "personal",
        weekday: "Wednesday",
        start: "2026-03-25T12:00",
        end: "2026-03-25T13:00",
        zone,
      };
      const event = await run("create_event", { ...args, rrule: "FREQ=MONTHLY;COUNT=24" });
      const text = await readFile(join(folder(), event.event_id), "utf8");
      const renamed = text.replaceAll(zone, "A zone of the file");
      await put(`copies/${event.event_id}`.replace("personal/", ""), renamed);
    }
    const { events } = await run("list_events", { from: "2026-03-01", to: "2027-03-31", limit: 500 });
    const starts = (calendar: string): string[] =>
      events
        .filter(({ calendar_id }: { calendar_id: string }) => calendar_id === calendar)
        .map(({ start }: { start: string }) => start)
        .sort();
    expect(starts("copies")).toHaveLength(5 * 13);
    expect(starts("copies")).toEqual(starts("personal"));
  });

  it("refuses what does not fit together, and writes nothing", async () => {
    for (const [args, field] of [
      [{ weekday: "Monday" }, "weekday"],
      [{ end: "2026-11-27T11:00" }, "end"],
      [{ end: "2026-11-27" }, "end"],
      [{ zone: undefined }, "zone"],
      [{ zone: "Mars" }, "zone"],
      [{ start: "2026-11-31T12:00" }, "start"],
      [{ rrule: "FREQ=WEEKLY;BYDAY=MO" }, "start"],
      [{ rrule: "weekly" }, "rrule"],
    ] as const)
      expect((await refusal(run("create_event", { ...LUNCH, ...args }))).options.extra, field).toEqual({
        invalidFields: [`arguments.${field}`],
      });
    expect((await refusal(run("create_event", { ...LUNCH, calendar: "none" }))).status).toBe(404);
    expect((await refusal(run("create_event", { ...LUNCH, weekday: "Monday" }))).message).toContain("is a Friday");
    expect(await readdir(folder())).toEqual([]);
  });

  it("asks which calendar is meant where there are several", async () => {
    await put("home/1.ics", ics(["UID:1", "DTSTART:20261127T100000Z"]));
    expect(await run("create_event", LUNCH)).toMatchObject({ calendar_id: "home" });
    await put("work/displayname", "My work");
    const asked = await refusal(run("create_event", LUNCH));
    expect([asked.message, asked.options.hint]).toEqual([
      "arguments.calendar is needed, as there are several calendars.",
      "Choose one of: home, My work.",
    ]);
    expect(await run("create_event", { ...LUNCH, calendar: "my WORK" })).toMatchObject({ calendar_id: "work" });
  });
});

const MEETING = [
  "UID:m",
  "SUMMARY;LANGUAGE=en:Meeting",
  `DTSTART;${BERLIN}:20261102T090000`,
  "DURATION:PT1H",
  "RRULE:FREQ=WEEKLY;COUNT=5",
  `EXDATE;${BERLIN}:20261109T090000`,
  'X-ODD;X-P="a:b":kept; as, it is\\',
  "ORGANIZER;CN=Bob:mailto:bob@example.org",
  'ATTENDEE;CN="Ana, A";PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:Ana@example.org',
  "ATTENDEE;PARTSTAT=ACCEPTED:mailto:zed@example.org",
  "BEGIN:VALARM",
  "TRIGGER:-PT5M",
  "ACTION:AUDIO",
  "END:VALARM",
];
const TARGET = { event_id: "home/m.ics", title: "Meeting" };

describe("calendar_update_event", () => {
  it("changes what is named and keeps everything else as it stands there", async () => {
    await put("home/m.ics", ics(MEETING));
    const before = await lines("home/m.ics");
    const args = { ...TARGET, whole_series: true, location: "Room 2", description: "Agenda" };
    expect(await run("update_event", args)).toMatchObject({ title: "Meeting", location: "Room 2" });
    const after = await lines("home/m.ics");
    expect(before.filter((line) => !after.includes(line))).toEqual(["DTSTAMP:20260101T000000Z"]);
    expect(after.filter((line) => !before.includes(line))).toEqual([
      "DTSTAMP:20261120T093000Z",
      "LOCATION:Room 2",
      "DESCRIPTION:Agenda",
      "LAST-MODIFIED:20261120T093000Z",
    ]);
    await run("update_event", { ...args, location: "", description: undefined });
    expect(await lines("home/m.ics")).not.toContain("LOCATION:Room 2");
  });

  it("moves a series with what was taken out of it and what was changed", async () => {
    const own = [
      "UID:m",
      "SUMMARY:Own",
      `RECURRENCE-ID;${BERLIN}:20261116T090000`,
      `DTSTART;${BERLIN}:20261116T090000`,
    ];
    const other = [
      "UID:m",
      "SUMMARY:Other",
      `RECURRENCE-ID;${BERLIN}:20261123T090000`,
      `DTSTART;${BERLIN}:20261124T150000`,
    ];
    await put("home/m.ics", ics(MEETING, [...own, "DURATION:PT30M"], [...other, "DURATION:PT30M"]));
    const moved = { weekday: "Monday", start: "2026-11-02T10:30", ...ZONED };
    await run("update_event", { ...TARGET, whole_series: true, ...moved });
    expect(await list("2026-11-01", "2026-12-31")).toEqual([
      "2026-11-02T10:30 Meeting",
      "2026-11-16T10:30 Own",
      "2026-11-24T15:00 Other",
      "2026-11-30T10:30 Meeting",
    ]);
    expect(await lines("home/m.ics")).toEqual(
      expect.arrayContaining([
        "DTEND;TZID=Europe/Berlin:20261102T113000",
        "EXDATE;TZID=Europe/Berlin:20261109T103000",
        "RECURRENCE-ID;TZID=Europe/Berlin:20261123T103000",
        "DTEND;TZID=Europe/Berlin:20261116T110000",
      ]),
    );
  });

  it("changes one instance, twice, and leaves the others", async () => {
    await put("home/m.ics", ics(MEETING));
    const one = { ...TARGET, instance: "2026-11-16T09:00:00+01:00" };
    const moved = { weekday: "Tuesday", start: "2026-11-17T08:00", ...ZONED };
    expect(await run("update_event", { ...one, ...moved })).toMatchObject({
      start: "2026-11-17T08:00:00+01:00",
      end: "2026-11-17T09:00:00+01:00",
      instance: "2026-11-16T09:00:00+01:00",
    });
    await run("update_event", { ...one, new_title: "Special" });
    expect(await list("2026-11-01", "2026-12-31")).toEqual([
      "2026-11-02T09:00 Meeting",
      "2026-11-17T08:00 Special",
      "2026-11-23T09:00 Meeting",
      "2026-11-30T09:00 Meeting",
    ]);
    const text = await lines("home/m.ics");
    expect(text.filter((line) => line.startsWith("RECURRENCE-ID"))).toEqual([
      "RECURRENCE-ID;TZID=Europe/Berlin:20261116T090000",
    ]);
    expect(text.filter((line) => line.startsWith("RRULE:FREQ=WEEKLY"))).toHaveLength(1);
    expect(text.filter((line) => line.startsWith("X-ODD"))).toHaveLength(2);
  });

  it("counts changes of one's own events, and not of those that others organize", async () => {
    await put("home/m.ics", ics(MEETING));
    await put("home/o.ics", ics(["UID:o", "SUMMARY:Own", "DTSTART:20261127T100000Z", "SEQUENCE:4"]));
    await run("update_event", { ...TARGET, whole_series: true, new_title: "Theirs" });
    await run("update_event", { event_id: "home/o.ics", title: "Own", new_title: "Mine" });
    expect((await lines("home/m.ics")).filter((line) => line.startsWith("SEQUENCE"))).toEqual([]);
    expect(await lines("home/o.ics")).toContain("SEQUENCE:5");
  });

  it("makes days of times, and a single event of a series", async () => {
    await put("home/o.ics", ics(["UID:o", "SUMMARY:Own", "DTSTART:20261127T100000Z", "RRULE:FREQ=DAILY;COUNT=3"]));
    const target = { event_id: "home/o.ics", title: "Own", whole_series: true };
    const day = { weekday: "Friday", start: "2026-11-27" };
    expect((await refusal(run("update_event", { ...target, ...day }))).options.extra).toEqual({
      invalidFields: ["arguments.end"],
    });
    await run("update_event", { ...target, ...day, end: "2026-11-28", rrule: "" });
    expect(await list("2026-11-01", "2026-12-31")).toEqual(["2026-11-27 Own"]);
  });

  it("refuses when the title is another one, when it is not said what is meant, and when nothing is", async () => {
    await put("home/m.ics", ics(MEETING));
    const change = { location: "Room 2" };
    for (const [args, field] of [
      [{ ...TARGET, ...change }, "instance"],
      [{ ...TARGET, ...change, title: "Dentist", whole_series: true }, "title"],
      [{ ...TARGET, ...change, whole_series: true, instance: "2026-11-16" }, "whole_series"],
      [{ ...TARGET, whole_series: true }, "new_title"],
      [{ ...TARGET, whole_series: true, start: "2026-11-02T10:00", ...ZONED }, "weekday"],
      [
        {
          ...TARGET,
          whole_series: true,
          weekday: "Tuesday",
          start: "2026-11-03T10:00",
          rrule: "FREQ=WEEKLY;BYDAY=MO",
          ...ZONED,
        },
        "start",
      ],
      [{ ...TARGET, instance: "2026-11-16T09:00", rrule: "FREQ=DAILY" }, "rrule"],
    ] as const)
      expect((await refusal(run("update_event", args))).options.extra, field).toEqual({
        invalidFields: [`arguments.${field}`],
      });
    expect((await refusal(run("update_event", { ...TARGET, ...change, instance: "2026-11-09T09:00" }))).status).toBe(
      404,
    );
    expect(await lines("home/m.ics")).not.toContain("LOCATION:Room 2");
  });
});

describe("calendar_delete_event", () => {
  it("moves a whole event to the trash, and takes one instance out of a series", async () => {
    await put("home/m.ics", ics(MEETING));
    // Without an offset it is a time of the series' own zone.
    await run("delete_event", { ...TARGET, instance: "2026-11-16T09:00", zone: "Asia/Tokyo" });
    expect(await list("2026-11-01", "2026-11-25")).toEqual(["2026-11-02T09:00 Meeting", "2026-11-23T09:00 Meeting"]);
    expect(await lines("home/m.ics")).toContain("EXDATE;TZID=Europe/Berlin:20261116T090000");
    expect((await refusal(run("delete_event", TARGET))).options.extra).toEqual({
      invalidFields: ["arguments.instance"],
    });
    const gone = await run("delete_event", { ...TARGET, whole_series: true });
    expect(gone).toMatchObject({ title: "Meeting", deleted: true });
    expect(gone.trashed_to).toMatch(/^\.trash\/.*home\/m\.ics$/);
    expect(await readdir(join(folder(), "home"))).toEqual([]);
  });

  it("takes a changed instance away with its change, and one event of several in a file", async () => {
    await put("home/m.ics", ics(MEETING, ["UID:x", "SUMMARY:Stays", "DTSTART:20261127T100000Z"]));
    const [, listed] = (await run("list_events", { from: "2026-11-01", to: "2026-11-30" })).events;
    expect(listed.event_id).toBe("home/m.ics#m");
    const one = { event_id: listed.event_id, title: "Meeting", instance: "2026-11-16T09:00" };
    await run("update_event", { ...one, new_title: "Special" });
    await run("delete_event", { ...one, title: "Special" });
    expect(await list("2026-11-10", "2026-11-20")).toEqual([]);
    await run("delete_event", { event_id: listed.event_id, title: "Meeting", whole_series: true });
    expect(await list("2026-11-01", "2026-12-31")).toEqual(["2026-11-27T11:00 Stays"]);
  });
});

describe("calendar_answer_invitation", () => {
  it("sets one's own answer, for all instances or one, and nobody else's", async () => {
    await put("home/m.ics", ics(MEETING));
    const all = await run("answer_invitation", { ...TARGET, whole_series: true, answer: "accepted" });
    expect(all).toMatchObject({ your_answer: "accepted" });
    const one = { ...TARGET, instance: "2026-11-16T09:00", answer: "declined" };
    expect(await run("answer_invitation", one)).toMatchObject({ your_answer: "declined" });
    expect((await lines("home/m.ics")).filter((line) => line.startsWith("ATTENDEE"))).toEqual([
      'ATTENDEE;CN="Ana, A";PARTSTAT=ACCEPTED:mailto:Ana@example.org',
      "ATTENDEE;PARTSTAT=ACCEPTED:mailto:zed@example.org",
      'ATTENDEE;CN="Ana, A";PARTSTAT=DECLINED:mailto:Ana@example.org',
      "ATTENDEE;PARTSTAT=ACCEPTED:mailto:zed@example.org",
    ]);
  });

  it("refuses where nobody knows who one is, or one is not invited", async () => {
    await put("home/o.ics", ics(["UID:o", "SUMMARY:O", "DTSTART:20261127T100000Z", "ATTENDEE:mailto:zed@example.org"]));
    const args = { event_id: "home/o.ics", title: "O", answer: "accepted" };
    expect((await refusal(run("answer_invitation", args))).options.hint).toMatch(/address of this connection/);
    const nobody = runAs();
    expect((await refusal(nobody("answer_invitation", args))).options.hint).toMatch(/owner names their address/);
  });
});

it("never writes over what another program wrote in the meantime", async () => {
  await put("home/m.ics", ics(MEETING));
  const { FolderStore } = await import("../../../src/apps/collections/folder-store.ts");
  const { CALENDARS } = await import("../../../src/apps/calendar/calendar-settings.ts");
  const connection = { id: "1", integration: "calendar", label: "", settings: { folder: folder() }, scopes: [] };
  const context = {
    connection,
    file: () => Promise.reject() as never,
    signal: new AbortController().signal,
    now: () => 0,
  };
  const store = new FolderStore(context, CALENDARS);
  const item = await store.find("home/m.ics", "event_id");
  await put("home/m.ics", ics(["UID:m", "SUMMARY:theirs", "DTSTART:20261127T100000Z"]));
  for (const write of [() => store.replace(item, Buffer.from("mine")), () => store.remove(item)])
    expect(await refusal(write())).toMatchObject({ status: 409, code: "conflict" });
  expect(await refusal(store.create({ ...item, bytes: Buffer.from("mine") }))).toMatchObject({
    status: 409,
  });
  expect(await lines("home/m.ics")).toContain("SUMMARY:theirs");
});
