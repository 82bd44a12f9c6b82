import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { useCalendarFolder } from "./kit/calendar-folder.ts";
import { ics } from "./kit/write-ics.ts";

const { folder, runAs, put } = useCalendarFolder();
const DAY = { from: "2026-11-27", to: "2026-11-27" };

/** A file with one event of these lines. */
const one = (...lines: string[]) => ics(["UID:1", "SUMMARY:A", ...lines]);
const calendar = (...lines: string[]) =>
  `${["BEGIN:VCALENDAR", "VERSION:2.0", ...lines, "END:VCALENDAR"].join("\r\n")}\r\n`;
const series = (...rules: string[]) => one("DTSTART;TZID=Europe/Berlin:20261127T090000", "DURATION:PT1H", ...rules);
const SEPTEMBER = { from: "2026-09-17", to: "2026-09-17" };
const IN_NEW_YORK = ["DTSTART;TZID=America/New_York:20261123T090000", "DURATION:PT1H", "RRULE:FREQ=DAILY;COUNT=3"];
const WEEK = { from: "2026-11-20", to: "2026-11-30" };
const NOVEMBER_ON = { from: "2026-11-20", to: "2026-12-31" };
const daily = (count: number) =>
  Array.from(
    { length: count },
    (_, i) => `${new Date(Date.UTC(2026, 10, 27 + i)).toISOString().slice(0, 10)}T09:00:00+01:00 A`,
  );

/** What people's calendars hold, and the starts with titles that are right. */
type Row = readonly [name: string, text: string, span: Record<string, string>, starts: readonly string[], why?: RegExp];
const LISTED: readonly Row[] = [
  [
    "two calendars in one file",
    one("DTSTART:20261127T090000Z") + ics(["UID:2", "SUMMARY:B", "DTSTART:20261127T100000Z"]),
    DAY,
    ["2026-11-27T10:00:00+01:00 A", "2026-11-27T11:00:00+01:00 B"],
  ],
  [
    "a Windows zone",
    one("DTSTART;TZID=W. Europe Standard Time:20260917T130000", "DURATION:PT1H"),
    { ...SEPTEMBER, zone: "America/New_York" },
    ["2026-09-17T07:00:00-04:00 A"],
  ],
  [
    "a zone that is an offset",
    one("DTSTART;TZID=GMT+01:00:20260917T130000", "DURATION:PT1H"),
    SEPTEMBER,
    ["2026-09-17T14:00:00+02:00 A"],
  ],
  [
    "the same in quotes",
    one('DTSTART;TZID="GMT+01:00":20260917T130000', "DURATION:PT1H"),
    SEPTEMBER,
    ["2026-09-17T14:00:00+02:00 A"],
  ],
  [
    "a zone for the whole file",
    calendar(
      "X-WR-TIMEZONE:America/New_York",
      "BEGIN:VEVENT",
      "UID:1",
      "SUMMARY:A",
      "DTSTART:20260723T100000",
      "END:VEVENT",
    ),
    { from: "2026-07-23", to: "2026-07-23" },
    ["2026-07-23T16:00:00+02:00 A"],
  ],
  [
    "a zone nobody knows",
    one("DTSTART;TZID=Foo Bar:20260917T130000"),
    SEPTEMBER,
    ["2026-09-17T13:00:00+02:00 A"],
    /zone "Foo Bar"/,
  ],
  [
    "an exception without a zone",
    one(...IN_NEW_YORK, "EXDATE:20261124T090000"),
    WEEK,
    ["2026-11-23T15:00:00+01:00 A", "2026-11-25T15:00:00+01:00 A"],
  ],
  [
    "the same, read in another zone",
    one(...IN_NEW_YORK, "EXDATE:20261124T090000"),
    { ...WEEK, zone: "America/New_York" },
    ["2026-11-23T09:00:00-05:00 A", "2026-11-25T09:00:00-05:00 A"],
  ],
  [
    "a changed instance without a zone",
    ics(
      ["UID:1", "SUMMARY:A", ...IN_NEW_YORK],
      ["UID:1", "SUMMARY:B", "RECURRENCE-ID:20261124T090000", "DTSTART;TZID=America/New_York:20261124T120000"],
    ),
    WEEK,
    ["2026-11-23T15:00:00+01:00 A", "2026-11-24T18:00:00+01:00 B", "2026-11-25T15:00:00+01:00 A"],
  ],
  ["an empty part at the end of a rule", series("RRULE:FREQ=DAILY;COUNT=3;"), NOVEMBER_ON, daily(3)],
  ["an empty part at its begin", series("RRULE:;FREQ=DAILY;COUNT=3"), NOVEMBER_ON, daily(3)],
  ["a count and an end", series("RRULE:FREQ=DAILY;COUNT=5;UNTIL=20261128T230000Z"), NOVEMBER_ON, daily(2)],
  [
    "days of the year with a daily rule",
    one("DTSTART;VALUE=DATE:20260101", "RRULE:FREQ=DAILY;BYYEARDAY=1,100"),
    { from: "2026-01-01", to: "2026-12-31" },
    ["2026-01-01 A", "2026-04-10 A"],
  ],
  ["an escaped rule", series("RRULE:FREQ=DAILY\\;COUNT=10"), NOVEMBER_ON, daily(10)],
  [
    "two rules",
    series("RRULE:FREQ=WEEKLY;BYDAY=FR;COUNT=2", "RRULE:FREQ=WEEKLY;BYDAY=MO;UNTIL=20261208T000000Z"),
    NOVEMBER_ON,
    [
      "2026-11-27T09:00:00+01:00 A",
      "2026-11-30T09:00:00+01:00 A",
      "2026-12-04T09:00:00+01:00 A",
      "2026-12-07T09:00:00+01:00 A",
    ],
  ],
  [
    "a rule of another calendar",
    one("DTSTART;VALUE=DATE:20260217", "RRULE:RSCALE=CHINESE;FREQ=YEARLY"),
    { from: "2026-02-01", to: "2027-03-01" },
    ["2026-02-17 A"],
    /RSCALE/,
  ],
  [
    "a start that the rule does not name",
    one("DTSTART;VALUE=DATE:20260101", "RRULE:FREQ=MONTHLY;BYMONTHDAY=-1;COUNT=4"),
    { from: "2026-01-01", to: "2026-12-31" },
    ["2026-01-01 A", "2026-01-31 A", "2026-02-28 A", "2026-03-31 A"],
  ],
  [
    "events without ids",
    ics(...["A", "B", "C"].map((title) => [`SUMMARY:${title}`, "DTSTART:20261127T080000Z"])),
    DAY,
    ["2026-11-27T09:00:00+01:00 A", "2026-11-27T09:00:00+01:00 B", "2026-11-27T09:00:00+01:00 C"],
  ],
  [
    "one event twice",
    ics(
      ["UID:1", "SUMMARY:old", "SEQUENCE:1", "DTSTART:20261127T080000Z"],
      ["UID:1", "SUMMARY:new", "SEQUENCE:2", "DTSTART:20261127T100000Z"],
    ),
    DAY,
    ["2026-11-27T11:00:00+01:00 new"],
    /older version.*"old"/,
  ],
  ["a sign behind the end", `${one("DTSTART:20261127T080000Z")}\x1a`, DAY, ["2026-11-27T09:00:00+01:00 A"]],
  [
    "a block that does not end",
    ics(["UID:1", "SUMMARY:A", "DTSTART:20261127T080000Z"], ["BEGIN:VTODO", "UID:9", "END:VTOOD"]),
    DAY,
    ["2026-11-27T09:00:00+01:00 A"],
    /VTODO/,
  ],
  [
    "the same before the event",
    ics(["BEGIN:VTODO", "UID:9", "END:VTOOD"], ["UID:1", "SUMMARY:A", "DTSTART:20261127T080000Z"]),
    DAY,
    ["2026-11-27T09:00:00+01:00 A"],
    /VTODO/,
  ],
  [
    "an end that is before the start",
    one("DTSTART:20261127T080000Z", "DTEND:20261127T070000Z"),
    DAY,
    ["2026-11-27T09:00:00+01:00 A"],
    /DTEND before DTSTART/,
  ],
  [
    "a length that leads back",
    one("DTSTART:20261127T080000Z", "DURATION:-PT1H"),
    DAY,
    ["2026-11-27T09:00:00+01:00 A"],
    /DURATION "-PT1H"/,
  ],
  [
    "an end in a zone nobody knows",
    one("DTSTART;TZID=Europe/Berlin:20261127T090000", "DTEND;TZID=Nowhere:20261127T100000"),
    DAY,
    ["2026-11-27T09:00:00+01:00 A"],
    /zone "Nowhere"/,
  ],
  [
    "a series that names an instance",
    series("RECURRENCE-ID:19700102T010000Z", "RRULE:FREQ=DAILY;COUNT=3"),
    NOVEMBER_ON,
    daily(3),
  ],
  ["spaces in a rule", series("RRULE:FREQ=DAILY; BYDAY=FR, SA,SU; COUNT=3"), NOVEMBER_ON, daily(3)],
  ["a time without seconds", one("DTSTART;TZID=Europe/Berlin:20261127T0900"), DAY, ["2026-11-27T09:00:00+01:00 A"]],
  [
    "quoted-printable of vCalendar 1.0",
    "BEGIN:VCALENDAR\r\nVERSION:1.0\r\nBEGIN:VEVENT\r\nSUMMARY;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:Fr=C3=BChst=C3=BCck\r\nDTSTART:20261127T080000Z\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
    DAY,
    ["2026-11-27T09:00:00+01:00 Frühstück"],
  ],
];

const OLD_RULES: readonly (readonly [rule: string, starts: readonly string[]])[] = [
  ["D2 #3", ["11-27", "11-29", "12-01"]],
  ["W1 MO FR #4", ["11-27", "11-30", "12-04", "12-07"]],
  ["W2 20261211T080000Z", ["11-27", "12-11"]],
  ["MP1 4+ 2- FR #4", ["11-27", "12-18", "12-25"]],
  ["MP1 1+ MO 3+ TU #3", ["11-27", "12-07", "12-15"]],
  ["MD1 2- LD #3", ["11-27", "11-29", "11-30"]],
  ["YM1 11 12 #2", ["11-27", "12-27"]],
  ["YD1 331 335 #0", ["11-27", "12-01"]],
  ["D1", ["11-27", "11-28"]],
];

describe("vCalendar 1.0", () => {
  const old = (...lines: string[]) => ["BEGIN:VCALENDAR", "VERSION:1.0", ...lines, "END:VCALENDAR", ""].join("\r\n");

  it.each(OLD_RULES)("has the rule %s", async (rule, expected) => {
    await put("c/a.ics", old("BEGIN:VEVENT", "UID:1", "DTSTART:20261127T080000Z", `RRULE:${rule}`, "END:VEVENT"));
    const answer = await runAs("a@b")("list_events", NOVEMBER_ON);
    expect(answer).not.toHaveProperty("not_shown");
    expect(answer.events.map(({ start }: Record<string, string>) => start?.slice(5, 10))).toEqual(expected);
  });

  it.each(["D1 0900 1500 #3", "YD1 #3", "MP1 #5", "M15 #3"])("says that the rule %s is not read", async (rule) => {
    await put("c/a.ics", old("BEGIN:VEVENT", "UID:1", "DTSTART:20261127T080000Z", `RRULE:${rule}`, "END:VEVENT"));
    const { events, not_shown: notShown } = await runAs("a@b")("list_events", NOVEMBER_ON);
    expect([events.length, notShown[0].why]).toEqual([1, expect.stringContaining("further times are missing")]);
  });

  it("has its summer time in a line of its own", async () => {
    const at = (day: string) => ["BEGIN:VEVENT", `UID:${day}`, `DTSTART:${day}T090000`, "END:VEVENT"];
    const zone = ["TZ:-05", "DAYLIGHT:TRUE;-04;20260308T020000;20261101T020000;EST;EDT"];
    await put("c/a.ics", old(...zone, ...at("20260101"), ...at("20260701"), ...at("20261201")));
    const { events } = await runAs("a@b")("list_events", { from: "2026-01-01", to: "2026-12-31", zone: "UTC" });
    expect(events.map(({ start }: Record<string, string>) => start?.slice(5, 16))).toEqual([
      "01-01T14:00",
      "07-01T13:00",
      "12-01T14:00",
    ]);
  });
});

describe("a calendar in UTF-16", () => {
  it.each(["little", "big"])("is read, and changed in place, with the %s end first", async (end) => {
    const text = `\ufeff${one("DTSTART:20261127T080000Z", "LOCATION:Grüße 💡")}`;
    const encode = (from: string) =>
      end === "big" ? Buffer.from(from, "utf16le").swap16() : Buffer.from(from, "utf16le");
    await put("c/a.ics", encode(text));
    expect((await runAs("a@b")("list_events", DAY)).events).toMatchObject([{ title: "A", location: "Grüße 💡" }]);
    await runAs("a@b")("update_event", { event_id: "c/a.ics", title: "A", new_title: "Ü" });
    const after = await readFile(join(folder(), "c/a.ics"));
    const changed = (end === "big" ? after.swap16() : after).toString("utf16le");
    expect(changed).toContain("SUMMARY:Ü\r\n");
    const others = (from: string) => from.split("\r\n").filter((line) => !/^(?:SUMMARY|DTSTAMP|LAST-M|SEQ)/.test(line));
    expect(others(changed)).toEqual(others(text));
  });
});

describe("files of people's calendars", () => {
  it.each(LISTED.map((row) => ({ name: row[0], row })))(
    "lists $name",
    async ({ row: [, text, span, expected, why] }) => {
      await put("c/a.ics", text);
      const answer = await runAs("ana@example.org")("list_events", span);
      expect(answer.events.map(({ start, title }: Record<string, string>) => `${start} ${title}`)).toEqual(expected);
      if (why === undefined) expect(answer).not.toHaveProperty("not_shown");
      else
        expect(answer.not_shown).toContainEqual({
          where: expect.stringContaining("c/a.ics"),
          why: expect.stringMatching(why),
        });
      expect(JSON.stringify(answer)).not.toContain("floating");
    },
  );

  it("joins lines that are folded between the bytes of a character", async () => {
    const [before, after] = ics(["UID:1", "SUMMARY:Grü", "DTSTART:20261127T080000Z"]).split("Grü") as [string, string];
    const split = [
      Buffer.from(`${before}Gr`),
      Buffer.from([0xc3]),
      Buffer.from("\r\n "),
      Buffer.from([0xbc]),
      Buffer.from(`ße${after}`),
    ];
    await put("c/a.ics", Buffer.concat(split));
    expect((await runAs("a@b")("list_events", DAY)).events).toMatchObject([{ title: "Grüße" }]);
  });

  it("changes one of two calendars in a file", async () => {
    const [first, second] = [one("DTSTART:20261127T090000Z"), ics(["UID:2", "SUMMARY:B", "DTSTART:20261127T100000Z"])];
    await put("c/a.ics", first + second);
    await runAs("a@b")("update_event", { event_id: "c/a.ics", title: "A", new_title: "A2" });
    const after = await readFile(join(folder(), "c/a.ics"), "utf8");
    expect(after).toContain("SUMMARY:A2\r\n");
    expect(after.endsWith(second)).toBe(true);
  });

  it("does not call time free that a Windows zone or an unknown one may take, and takes free time as Outlook marks it", async () => {
    const free = async (more: Record<string, unknown> = {}) =>
      (await runAs("a@b")("find_free_time", { ...SEPTEMBER, ...more })).free.map(
        ({ start, end }: Record<string, string>) => `${start?.slice(11, 16)}-${end?.slice(11, 16)}`,
      );
    await put("c/a.ics", one("DTSTART;TZID=W. Europe Standard Time:20260917T130000", "DURATION:PT1H"));
    expect(await free({ zone: "America/New_York" })).toEqual(["00:00-07:00", "08:00-00:00"]);
    await put("c/a.ics", one("DTSTART;TZID=Foo Bar:20260917T130000", "DURATION:PT1H"));
    expect(await free()).toEqual([]);
    await put("c/a.ics", one("DTSTART:20260917T090000Z", "DURATION:PT1H", "X-MICROSOFT-CDO-BUSYSTATUS:FREE"));
    expect(await free()).toEqual(["00:00-00:00"]);
  });

  it("shows the text that Outlook writes as HTML alone", async () => {
    await put("c/a.ics", one("DTSTART:20261127T080000Z", "X-ALT-DESC;FMTTYPE=text/html:<p>Agenda</p>"));
    expect(await runAs("a@b")("read_event", { event_id: "c/a.ics" })).toMatchObject({ description: "Agenda" });
  });
});
