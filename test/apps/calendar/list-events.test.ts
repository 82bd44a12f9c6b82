import { beforeEach, describe, expect, it } from "vitest";
import { refusal } from "../run-action.ts";
import { useCalendarFolder } from "./kit/calendar-folder.ts";
import { CUSTOM_ZONE, ics } from "./kit/write-ics.ts";

const { runAs, put } = useCalendarFolder();
let run: ReturnType<typeof runAs>;

beforeEach(() => {
  run = runAs("Ana@example.org");
});

/** Start, end and title of what a range holds. */
async function list(from: string, to: string, more: Record<string, unknown> = {}): Promise<string[]> {
  const { events } = await run("list_events", { from, to, ...more });
  return events.map(({ start, end, title }: Record<string, string>) => `${start} ${end} ${title}`.trim());
}

const BERLIN = "TZID=Europe/Berlin";

describe("times and zones", () => {
  it("keeps the time of the day of a series when clocks change", async () => {
    const text = ics(["UID:1", "SUMMARY:S", `DTSTART;${BERLIN}:20260315T090000`, "DURATION:PT1H", "RRULE:FREQ=WEEKLY"]);
    await put("home/1.ics", text);
    expect(await list("2026-03-20", "2026-04-06")).toEqual([
      "2026-03-22T09:00:00+01:00 2026-03-22T10:00:00+01:00 S",
      "2026-03-29T09:00:00+02:00 2026-03-29T10:00:00+02:00 S",
      "2026-04-05T09:00:00+02:00 2026-04-05T10:00:00+02:00 S",
    ]);
    // In a zone whose clocks do not change, the hour does.
    expect(await list("2026-03-20", "2026-03-30", { zone: "Asia/Tokyo" })).toEqual([
      "2026-03-22T17:00:00+09:00 2026-03-22T18:00:00+09:00 S",
      "2026-03-29T16:00:00+09:00 2026-03-29T17:00:00+09:00 S",
    ]);
  });

  it("counts a skipped time with the offset before the gap, and a doubled one as the first (RFC 5545, 3.3.5)", async () => {
    const NEW_YORK = "TZID=America/New_York";
    await put("home/1.ics", ics(["UID:1", "SUMMARY:gap", `DTSTART;${NEW_YORK}:20070311T023000`, "DURATION:PT1H"]));
    await put("home/2.ics", ics(["UID:2", "SUMMARY:twice", `DTSTART;${NEW_YORK}:20071104T013000`, "DURATION:PT1H"]));
    expect(await list("2007-01-01", "2007-12-31", { zone: "America/New_York" })).toEqual([
      "2007-03-11T03:30:00-04:00 2007-03-11T04:30:00-04:00 gap",
      "2007-11-04T01:30:00-04:00 2007-11-04T01:30:00-05:00 twice",
    ]);
  });

  it("gives instances named by their end the same length, and those with a duration the same days (3.8.5.3)", async () => {
    const start = `DTSTART;${BERLIN}:20260327T220000`;
    const rule = "RRULE:FREQ=DAILY;COUNT=2";
    await put("home/1.ics", ics(["UID:1", "SUMMARY:end", start, `DTEND;${BERLIN}:20260328T220000`, rule]));
    await put("home/2.ics", ics(["UID:2", "SUMMARY:day", start, "DURATION:P1D", rule]));
    expect(await list("2026-03-28T23:00", "2026-04-01")).toEqual([
      "2026-03-28T22:00:00+01:00 2026-03-29T22:00:00+02:00 day",
      "2026-03-28T22:00:00+01:00 2026-03-29T23:00:00+02:00 end",
    ]);
  });

  it("takes the rules of a zone from the file where no database knows it", async () => {
    const events = ["20060402T120000", "20260310T120000", "20261102T120000"].map((at, i) => [
      `UID:${i}`,
      `SUMMARY:${i}`,
      `DTSTART;TZID=Office Hours East:${at}`,
    ]);
    await put("home/all.ics", ics(CUSTOM_ZONE, ...events));
    const zone = "UTC";
    expect(await list("2006-04-01", "2006-04-03", { zone })).toEqual([
      "2006-04-02T16:00:00+00:00 2006-04-02T16:00:00+00:00 0",
    ]);
    expect(await list("2026-03-01", "2026-12-01", { zone })).toEqual([
      "2026-03-10T16:00:00+00:00 2026-03-10T16:00:00+00:00 1",
      "2026-11-02T17:00:00+00:00 2026-11-02T17:00:00+00:00 2",
    ]);
  });

  it("knows zones by the end of a longer name, and takes times of no zone in that of the answer", async () => {
    const long = "TZID=/freeassociation.sourceforge.net/Europe/Berlin";
    await put("home/1.ics", ics(["UID:1", "SUMMARY:long", `DTSTART;${long}:20260701T090000`]));
    await put("home/2.ics", ics(["UID:2", "SUMMARY:none", "DTSTART:20260701T090000"]));
    await put("home/3.ics", ics(["UID:3", "SUMMARY:lost", "DTSTART;TZID=Nowhere:20260701T090000"]));
    expect(await list("2026-07-01", "2026-07-01", { zone: "Asia/Tokyo" })).toEqual([
      "2026-07-01T09:00:00+09:00 2026-07-01T09:00:00+09:00 none",
      "2026-07-01T09:00:00+09:00 2026-07-01T09:00:00+09:00 lost",
      "2026-07-01T16:00:00+09:00 2026-07-01T16:00:00+09:00 long",
    ]);
  });

  it("names days by the last one, and times for people with weekday and zone", async () => {
    await put("home/1.ics", ics(["UID:1", "SUMMARY:trip", "DTSTART;VALUE=DATE:20261224", "DTEND;VALUE=DATE:20261227"]));
    await put("home/2.ics", ics(["UID:2", "SUMMARY:day", "DTSTART;VALUE=DATE:20261225"]));
    const night = [`DTSTART;${BERLIN}:20261226T220000`, `DTEND;${BERLIN}:20261227T013000`];
    await put("home/3.ics", ics(["UID:3", "SUMMARY:night", ...night]));
    const answer = await run("list_events", { from: "2026-12-26", to: "2026-12-26" });
    expect(answer).toMatchObject({ zone: "Europe/Berlin", from: "2026-12-26T00:00:00+01:00", total: 2 });
    expect(answer.events).toEqual([
      {
        event_id: "home/1.ics",
        calendar_id: "home",
        title: "trip",
        when: "Thursday 24 December 2026 to Saturday 26 December 2026, all day",
        start: "2026-12-24",
        end: "2026-12-26",
        all_day: true,
      },
      {
        event_id: "home/3.ics",
        calendar_id: "home",
        title: "night",
        when: "Saturday 26 December 2026, 22:00 to Sunday 27 December 2026, 01:30 (Europe/Berlin)",
        start: "2026-12-26T22:00:00+01:00",
        end: "2026-12-27T01:30:00+01:00",
        all_day: false,
      },
    ]);
    expect(await list("2026-12-25", "2026-12-25")).toEqual(["2026-12-24 2026-12-26 trip", "2026-12-25 2026-12-25 day"]);
    expect(await list("2026-12-27", "2026-12-27")).toHaveLength(1);
  });
});

describe("series with exceptions", () => {
  const SERIES = ["UID:s", "SUMMARY:S", `DTSTART;${BERLIN}:20261102T090000`, `DTEND;${BERLIN}:20261102T100000`];
  const starts = async (from: string, to: string) =>
    (await list(from, to)).map((one) => one.replace(/^(.{16})\S+ \S+/, "$1"));

  it("leaves out what EXDATE names, by time, by UTC or by day, and adds what RDATE names", async () => {
    await put(
      "home/s.ics",
      ics([
        ...SERIES,
        "RRULE:FREQ=WEEKLY;COUNT=6",
        `EXDATE;${BERLIN}:20261109T090000`,
        "EXDATE:20261116T080000Z",
        "EXDATE;VALUE=DATE:20261123",
        `RDATE;${BERLIN}:20261110T150000,20261102T090000`,
        "RDATE;VALUE=PERIOD:20261111T080000Z/PT3H",
      ]),
    );
    expect(await list("2026-11-01", "2026-12-31")).toEqual([
      "2026-11-02T09:00:00+01:00 2026-11-02T10:00:00+01:00 S",
      "2026-11-10T15:00:00+01:00 2026-11-10T16:00:00+01:00 S",
      "2026-11-11T09:00:00+01:00 2026-11-11T12:00:00+01:00 S",
      "2026-11-30T09:00:00+01:00 2026-11-30T10:00:00+01:00 S",
      "2026-12-07T09:00:00+01:00 2026-12-07T10:00:00+01:00 S",
    ]);
  });

  it("shows a changed instance where it was moved to, and only there", async () => {
    const moved = [
      "UID:s",
      "SUMMARY:moved",
      "RECURRENCE-ID:20261109T080000Z",
      "DTSTART:20261120T110000Z",
      "DURATION:PT2H",
    ];
    await put("home/s.ics", ics([...SERIES, "RRULE:FREQ=WEEKLY;COUNT=4"], moved));
    expect(await starts("2026-11-01", "2026-11-30")).toEqual([
      "2026-11-02T09:00 S",
      "2026-11-16T09:00 S",
      "2026-11-20T12:00 moved",
      "2026-11-23T09:00 S",
    ]);
    expect(await starts("2026-11-09", "2026-11-09")).toEqual([]);
    const [event] = (await run("list_events", { from: "2026-11-20", to: "2026-11-20" })).events;
    expect(event).toMatchObject({ repeats: true, instance: "2026-11-09T08:00:00+00:00", event_zone: "UTC" });
    const read = await run("read_event", { event_id: event.event_id, instance: event.instance });
    expect(read).toMatchObject({ title: "moved", start: "2026-11-20T12:00:00+01:00" });
  });

  it("moves all later instances after one that says so (RANGE=THISANDFUTURE)", async () => {
    const later = [
      "UID:s",
      "SUMMARY:later",
      `RECURRENCE-ID;RANGE=THISANDFUTURE;${BERLIN}:20261116T090000`,
      `DTSTART;${BERLIN}:20261117T140000`,
      `DTEND;${BERLIN}:20261117T143000`,
    ];
    await put("home/s.ics", ics([...SERIES, "RRULE:FREQ=WEEKLY;COUNT=4"], later));
    expect(await list("2026-11-01", "2026-11-30")).toEqual([
      "2026-11-02T09:00:00+01:00 2026-11-02T10:00:00+01:00 S",
      "2026-11-09T09:00:00+01:00 2026-11-09T10:00:00+01:00 S",
      "2026-11-17T14:00:00+01:00 2026-11-17T14:30:00+01:00 later",
      "2026-11-24T14:00:00+01:00 2026-11-24T14:30:00+01:00 later",
    ]);
  });

  it("shows an instance to which one was invited alone, and all days of a birthday", async () => {
    await put(
      "home/a.ics",
      ics(["UID:a", "SUMMARY:alone", "RECURRENCE-ID:20261105T080000Z", "DTSTART:20261105T080000Z"]),
    );
    await put("home/b.ics", ics(["UID:b", "SUMMARY:birthday", "DTSTART;VALUE=DATE:19800229", "RRULE:FREQ=YEARLY"]));
    expect(await list("2026-11-05", "2026-11-05")).toHaveLength(1);
    expect(await list("2028-01-01", "2028-12-31")).toEqual(["2028-02-29 2028-02-29 birthday"]);
    expect(await list("2027-01-01", "2027-12-31")).toEqual([]);
  });

  it("says when a rule is too much, and goes on without what cannot be read", async () => {
    await put("home/1.ics", ics(["UID:1", "SUMMARY:tick", "DTSTART:20260101T000000Z", "RRULE:FREQ=SECONDLY"]));
    await put("home/2.ics", "no calendar");
    await put("home/3.ics", ics(["UID:3", "SUMMARY:odd", "DTSTART:20260101T100000Z", "RRULE:FREQ=OFTEN", "X;:;"]));
    const answer = await run("list_events", { from: "2026-01-01", to: "2026-12-31", query: "odd" });
    expect(answer.events).toMatchObject([{ title: "odd" }]);
    expect(answer.not_shown).toEqual([
      { where: "home/2.ics", why: "It is no iCalendar file that can be read." },
      {
        where: "home/3.ics",
        why: expect.stringMatching(/^A rule of "odd" cannot be used .*FREQ.*further times are missing\.$/),
      },
      { where: "home/1.ics", why: expect.stringContaining("too many times") },
    ]);
  });
});

describe("calendar_list_events", () => {
  it("finds words in texts and names, in some calendars, up to a limit", async () => {
    const start = "DTSTART:20261101T100000Z";
    await put(
      "home/1.ics",
      ics(["UID:1", "SUMMARY:Zahnarzt Müller", start, 'ATTENDEE;CN="Zoë, Q":mailto:Z@example.org']),
    );
    await put("work/2.ics", ics(["UID:2", "SUMMARY:Review", start, "DESCRIPTION:of the\\nbudget"]));
    await put("work/displayname", "My Work\n");
    const titles = async (args: Record<string, unknown>) =>
      (await run("list_events", { from: "2026-11-01", to: "2026-11-01", ...args })).events.map(
        (event: { title: string }) => event.title,
      );
    expect(await titles({ query: "MÜLLER zoë" })).toEqual(["Zahnarzt Müller"]);
    expect(await titles({ query: "budget" })).toEqual(["Review"]);
    expect(await titles({ calendars: ["my work"] })).toEqual(["Review"]);
    expect(await titles({ calendars: ["home", "home"] })).toEqual(["Zahnarzt Müller"]);
    expect(await run("list_events", { from: "2026-11-01", to: "2026-11-01", limit: 1 })).toMatchObject({
      total: 2,
      note: "Only the first 1 events are shown; ask for a shorter range.",
    });
    expect((await refusal(titles({ calendars: ["none"] }))).status).toBe(404);
  });

  it("refuses ranges and zones that do not exist", async () => {
    for (const [args, field] of [
      [{ from: "2026-02-30", to: "2026-03-01" }, "from"],
      [{ from: "2026-03-02", to: "2026-03-01" }, "to"],
      [{ from: "2026-01-01", to: "2028-01-01" }, "to"],
      [{ from: "2026-03-01", to: "2026-03-01", zone: "Middle/Earth" }, "zone"],
    ] as const)
      expect((await refusal(run("list_events", args))).options.extra, field).toEqual({
        invalidFields: [`arguments.${field}`],
      });
  });

  it("lists calendars with the zone and the present time, also where there is none yet", async () => {
    expect(await run("list_calendars", {})).toEqual({
      zone: "Europe/Berlin",
      now: "2026-11-20T10:30:00+01:00",
      calendars: [{ calendar_id: "personal", name: "personal" }],
    });
    await put("x.ics", ics(["UID:1", "DTSTART:20261101T100000Z"]));
    await put(".trash/gone/y.ics", ics(["UID:2", "DTSTART:20261101T100000Z"]));
    await put("work/displayname", "My Work");
    expect((await run("list_calendars", {})).calendars).toEqual([
      { calendar_id: ".", name: "Files at the top" },
      { calendar_id: "work", name: "My Work" },
    ]);
    expect((await run("list_events", { from: "2026-11-01", to: "2026-11-01" })).events).toMatchObject([
      { event_id: "x.ics" },
    ]);
  });
});

describe("calendar_read_event", () => {
  it("tells all about one event", async () => {
    await put(
      "home/1.ics",
      ics([
        "UID:one@example.org",
        "SUMMARY:Review\\, long",
        `DTSTART;${BERLIN}:20261109T090000`,
        "DURATION:PT30M",
        "RRULE:FREQ=WEEKLY;BYDAY=MO",
        `EXDATE;${BERLIN}:20261116T090000`,
        "DESCRIPTION:First line\\nsecond",
        "LOCATION:Room 1",
        "STATUS:TENTATIVE",
        "TRANSP:TRANSPARENT",
        "CATEGORIES:a,b",
        "CLASS:PRIVATE",
        "ORGANIZER;CN=Bob:mailto:bob@example.org",
        "ATTENDEE;PARTSTAT=ACCEPTED;CN=Ana:MAILTO:ANA@example.org",
        "ATTENDEE;ROLE=OPT-PARTICIPANT:mailto:zed@example.org",
        "CREATED:20261101T100000Z",
        "BEGIN:VALARM",
        "ACTION:DISPLAY",
        "TRIGGER:-PT15M",
        "END:VALARM",
      ]),
    );
    expect(await run("read_event", { event_id: "home/1.ics" })).toEqual({
      zone: "Europe/Berlin",
      event_id: "home/1.ics",
      calendar_id: "home",
      title: "Review, long",
      when: "Monday 9 November 2026, 09:00 to 09:30 (Europe/Berlin)",
      start: "2026-11-09T09:00:00+01:00",
      end: "2026-11-09T09:30:00+01:00",
      all_day: false,
      location: "Room 1",
      repeats: true,
      instance: "2026-11-09T09:00:00+01:00",
      status: "tentative",
      shown_as: "free",
      your_answer: "accepted",
      uid: "one@example.org",
      description: "First line\nsecond",
      categories: ["a", "b"],
      visibility: "private",
      organizer: { address: "bob@example.org", name: "Bob" },
      attendees: [
        { address: "ana@example.org", name: "Ana", answer: "accepted" },
        { address: "zed@example.org", answer: "needs-action", optional: true },
      ],
      invited: 2,
      recurrence: {
        rrule: "FREQ=WEEKLY;BYDAY=MO",
        first_day: "2026-11-09",
        further_times: 0,
        taken_out: 1,
        changed_instances: 0,
      },
      reminders: ["15 minutes before the start"],
      created: "2026-11-01T11:00:00+01:00",
    });
    const gone = { event_id: "home/1.ics", instance: "2026-11-16T09:00:00+01:00" };
    expect((await refusal(run("read_event", gone))).status).toBe(404);
    expect(await run("read_event", { ...gone, instance: "2026-11-23T09:00" })).toMatchObject({
      start: "2026-11-23T09:00:00+01:00",
    });
  });

  it("reads nothing but calendar files of the folder", async () => {
    await put("home/notes.txt", "secret");
    await put("deep/er/1.ics", ics(["UID:1", "DTSTART:20261101T100000Z"]));
    await put("home/bad.ics", "BEGIN:VCALENDAR");
    for (const [id, status] of [
      ["home/notes.txt", 404],
      ["home/none.ics", 404],
      ["none/1.ics", 404],
      ["deep/er/1.ics", 404],
      ["../1.ics", 400],
      ["/etc/passwd", 400],
      ["home/bad.ics", 500],
    ] as const)
      expect((await refusal(run("read_event", { event_id: id }))).status, id).toBe(status);
  });
});

describe("calendar_find_free_time", () => {
  it("leaves out what is busy, within working hours of the days of a zone", async () => {
    const at = (uid: string, start: string, end: string, ...more: string[]) =>
      ics([`UID:${uid}`, `DTSTART;${BERLIN}:${start}`, `DTEND;${BERLIN}:${end}`, ...more]);
    await put("home/1.ics", at("1", "20261127T090000", "20261127T120000"));
    await put("home/2.ics", at("2", "20261127T113000", "20261127T123000"));
    await put("home/3.ics", at("3", "20261127T140000", "20261127T143000", "TRANSP:TRANSPARENT"));
    await put("home/4.ics", at("4", "20261127T143000", "20261127T150000", "STATUS:CANCELLED"));
    await put(
      "home/5.ics",
      at("5", "20261127T150000", "20261127T153000", "ATTENDEE;PARTSTAT=DECLINED:mailto:ana@example.org"),
    );
    await put("home/6.ics", ics(["UID:6", "DTSTART;VALUE=DATE:20261130"]));
    const answer = await run("find_free_time", {
      from: "2026-11-27",
      to: "2026-12-01",
      minutes: 60,
      working_hours: {},
    });
    expect(answer.free).toEqual([
      {
        when: "Friday 27 November 2026, 12:30 to 17:00 (Europe/Berlin)",
        start: "2026-11-27T12:30:00+01:00",
        end: "2026-11-27T17:00:00+01:00",
        minutes: 270,
      },
      expect.objectContaining({ start: "2026-12-01T09:00:00+01:00", minutes: 480 }),
    ]);
    expect((await run("find_free_time", { from: "2026-11-27", to: "2026-11-27", minutes: 60 })).free).toMatchObject([
      { start: "2026-11-27T00:00:00+01:00", end: "2026-11-27T09:00:00+01:00" },
      { start: "2026-11-27T12:30:00+01:00", end: "2026-11-28T00:00:00+01:00" },
    ]);
  });

  it("counts the hours of the day on which clocks change", async () => {
    const { free } = await run("find_free_time", { from: "2026-03-29", to: "2026-03-29" });
    expect(free).toMatchObject([{ minutes: 23 * 60 }]);
  });
});
