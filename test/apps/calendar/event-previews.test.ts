import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { refusal } from "../run-action.ts";
import { useCalendarFolder } from "./kit/calendar-folder.ts";
import { ics } from "./kit/write-ics.ts";

const { folder, previewAs, runAs, put } = useCalendarFolder();
let preview: ReturnType<typeof previewAs>;

beforeEach(() => {
  preview = previewAs("ana@example.org");
});

const BERLIN = "TZID=Europe/Berlin";
const MEETING = [
  "UID:board",
  "SUMMARY:Board meeting",
  `DTSTART;${BERLIN}:20261203T140000`,
  `DTEND;${BERLIN}:20261203T150000`,
  "LOCATION:Room 4",
  "DESCRIPTION:first\\nsecond",
  "ORGANIZER;CN=Ana:mailto:ana@example.org",
  ...["Gus", "Hana", "Ivo", "Jo"].map((name) => `ATTENDEE;CN=${name}:mailto:${name.toLowerCase()}@example.org`),
];
const CHOIR = ["UID:choir", "SUMMARY:Choir", `DTSTART;${BERLIN}:20261102T180000`, `DTEND;${BERLIN}:20261102T190000`];
const WEEKLY = [...CHOIR, "RRULE:FREQ=WEEKLY"];
const DIFFERENT = [
  "UID:choir",
  "SUMMARY:Choir, in church",
  `RECURRENCE-ID;${BERLIN}:20261214T180000`,
  `DTSTART;${BERLIN}:20261214T200000`,
];
const DENTIST = [
  "UID:dentist",
  "SUMMARY:Dentist",
  `DTSTART;${BERLIN}:20261204T093000`,
  `DTEND;${BERLIN}:20261204T101500`,
];
const ZONE = { zone: "Europe/Berlin" };
const board = { event_id: "work/board.ics", title: "Board meeting" };
const choir = { event_id: "home/choir.ics", title: "Choir" };
const texts = (effects: readonly { readonly text: string }[]) => effects.map(({ text }) => text);

/** All files of the folder with their bytes. */
async function look(): Promise<Record<string, string>> {
  const entries = await readdir(folder(), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(await Promise.all(files.map(async (path) => [path, await readFile(path, "utf8")])));
}

describe("the preview of a changed event", () => {
  beforeEach(async () => {
    await put("work/board.ics", ics(MEETING));
    await put("home/choir.ics", ics(WEEKLY, DIFFERENT));
    await put("home/dentist.ics", ics(DENTIST));
  });

  it("shows both times, who is not told, and what else is then; and acts on nothing", async () => {
    const before = await look();
    const seen = await preview("update_event", { ...board, weekday: "Friday", start: "2026-12-04T09:00", ...ZONE });
    expect(seen).toMatchObject({
      summary: 'Move "Board meeting" from Thu 3 Dec 2026, 14:00 to Fri 4 Dec 2026, 09:00',
      objects: [
        {
          kind: "event",
          name: "Board meeting",
          details: [
            { label: "Calendar", value: "work" },
            { label: "Time", value: "Thursday 3 December 2026, 14:00 to 15:00 (Europe/Berlin)" },
            { label: "Place", value: "Room 4" },
            { label: "Organizer", value: "Ana (ana@example.org)" },
            { label: "Invited", value: "Gus, Hana, Ivo, Jo" },
          ],
        },
      ],
      changes: [
        {
          field: "Time",
          before: "Thursday 3 December 2026, 14:00 to 15:00 (Europe/Berlin)",
          after: "Friday 4 December 2026, 09:00 to 10:00 (Europe/Berlin)",
        },
      ],
      effects: [
        { code: "notifies_nobody", text: "Nobody tells the 4 others (Gus, Hana, Ivo, Jo) of it." },
        { code: "overlaps", text: 'Also at that time: "Dentist" (Fri 4 Dec 2026, 09:30 to 10:15).' },
      ],
      undo: { possible: true },
    });
    expect(await look()).toEqual(before);
  });

  it("shows a series by its rule in words, its next time, and what reaches times that are over or differ", async () => {
    const seen = await preview("update_event", {
      ...choir,
      whole_series: true,
      weekday: "Wednesday",
      start: "2026-11-04T19:00",
      rrule: "FREQ=WEEKLY;BYDAY=WE",
      ...ZONE,
    });
    expect(seen.summary).toBe(
      'Move the whole series "Choir" from Mon 2 Nov 2026, 18:00 to Wed 4 Nov 2026, 19:00, and change 1 more field',
    );
    expect(seen.changes.at(1)).toEqual({
      field: "Repetition",
      before: "every Monday, without end",
      after: "every Wednesday, without end",
    });
    expect(seen.objects[0]?.details).toEqual([
      { label: "Calendar", value: "home" },
      { label: "First time", value: "Monday 2 November 2026, 18:00 to 19:00 (Europe/Berlin)" },
      { label: "Next time", value: "Monday 23 November 2026, 18:00 to 19:00 (Europe/Berlin)" },
      { label: "Repeats", value: "every Monday, without end" },
    ]);
    expect(texts(seen.effects)).toEqual([
      "Times that are over change, too: it began on Mon 2 Nov 2026, 18:00.",
      "With it moves 1 time of it that differs, but for times of their own.",
      "Nothing else takes place at its next time.",
    ]);
  });

  it("names fields that are taken away, and a text that is replaced", async () => {
    const seen = await preview("update_event", { ...board, location: "", description: "other" });
    expect(seen.summary).toBe('Change 2 fields of "Board meeting" (Thu 3 Dec 2026, 14:00)');
    expect(seen.changes).toEqual([
      { field: "Place", before: "Room 4" },
      { field: "Text", diff: "@@ -1,2 +1,1 @@\n-first\n-second\n+other" },
    ]);
    expect(texts(seen.effects).slice(1)).toEqual(["Removed: place.", "2 lines of the present text will be gone."]);
    const ended = await preview("update_event", { ...choir, whole_series: true, rrule: "" });
    expect(ended.changes).toEqual([{ field: "Repetition", before: "every Monday, without end", after: "none" }]);
  });

  it("says of one time of a series, and of one that is over", async () => {
    const one = { ...choir, instance: "2026-11-30T18:00", weekday: "Tuesday", start: "2026-12-01T18:00", ...ZONE };
    expect((await preview("update_event", one)).summary).toBe(
      'Move one time of "Choir" from Mon 30 Nov 2026, 18:00 to Tue 1 Dec 2026, 18:00',
    );
    const late = await preview("update_event", { ...one, weekday: "Friday", start: "2026-12-04T10:00" });
    expect(texts(late.effects)).toEqual(['Also at that time: "Dentist" (Fri 4 Dec 2026, 09:30 to 10:15).']);
    const over = await preview("update_event", { ...board, weekday: "Friday", start: "2020-01-03T09:00", ...ZONE });
    expect(texts(over.effects)).toContain("That time is over already.");
  });

  it("shows a change of nothing as none", async () => {
    const seen = await preview("update_event", { ...board, location: "Room 4" });
    expect(seen).toMatchObject({ summary: 'Leave "Board meeting" as it is', changes: [], effects: [] });
  });

  it("counts the invited whom it does not name", async () => {
    const many = Array.from({ length: 12 }, (_, at) => `ATTENDEE:mailto:p${at}@example.org`);
    await put("work/many.ics", ics([...DENTIST, ...many, "ORGANIZER:mailto:ana@example.org"]));
    const args = { event_id: "work/many.ics", title: "Dentist", new_title: "All" };
    const { objects, effects } = await preview("update_event", args);
    expect(objects[0]?.details.find(({ label }) => label === "Invited")?.value).toMatch(
      /^p0@.*, p9@example.org and 2 more$/,
    );
    expect(texts(effects)[0]).toMatch(/^Nobody tells the 12 others \(p0@.*, p4@example.org and 7 more\) of it\.$/);
  });

  it("shows times in the zone of the owner, else in that of the call with its name", async () => {
    const args = { ...board, weekday: "Friday", start: "2026-12-04T17:00", zone: "Asia/Tokyo" };
    const own = await preview("update_event", args);
    expect(own.summary).toContain("to Fri 4 Dec 2026, 09:00");
    expect(own.changes[0]?.after).toBe("Friday 4 December 2026, 09:00 to 10:00 (Europe/Berlin)");
    const other = await previewAs()("update_event", args);
    expect(other.summary).toBe('Move "Board meeting" from Thu 3 Dec 2026, 22:00 to Fri 4 Dec 2026, 17:00, Asia/Tokyo');
    expect(other.objects[0]?.details).toContainEqual({
      label: "In its own zone",
      value: "Thursday 3 December 2026, 14:00 to 15:00 (Europe/Berlin)",
    });
  });
});

describe("the preview of a new event", () => {
  const lunch = { title: "Lunch", weekday: "Friday", start: "2026-12-04T10:00", end: "2026-12-04T11:00", ...ZONE };

  it("says where, when, and what else is then", async () => {
    await put("home/dentist.ics", ics(DENTIST, [...CHOIR, "TRANSP:TRANSPARENT"]));
    const seen = await preview("create_event", { ...lunch, location: "Café" });
    expect(seen).toMatchObject({
      summary: 'Add "Lunch" to "home": Fri 4 Dec 2026, 10:00 to 11:00',
      objects: [{ kind: "event", name: "Lunch" }],
      effects: [{ code: "notifies_nobody" }, { code: "overlaps" }],
      undo: { possible: true },
    });
    expect(await readdir(join(folder(), "home"))).toEqual(["dentist.ics"]);
    const later = await preview("create_event", { ...lunch, start: "2026-12-04T12:00", end: "2026-12-04T13:00" });
    expect(texts(later.effects)).toEqual(["Nobody is invited.", "Nothing else takes place at that time."]);
  });

  it("keeps the sentence short", async () => {
    const title = "A very long title that goes on and on, and then some more, until nobody reads it";
    const seen = await preview("create_event", { ...lunch, title, rrule: "FREQ=MONTHLY;BYDAY=1FR;COUNT=6" });
    expect(seen.summary.length).toBeLessThanOrEqual(120);
    expect(seen.summary).toMatch(
      /^Add "A very .*…" to "personal": every month on the first Friday, 6 times, from Fri 4 Dec 2026, 10:00$/,
    );
  });

  it("goes to no other calendar than the one that was shown", async () => {
    await put("home/dentist.ics", ics(DENTIST));
    const { state } = await preview("create_event", lunch);
    await put("away/dentist.ics", ics(DENTIST));
    await rm(join(folder(), "home"), { recursive: true });
    const refused = await refusal(runAs("ana@example.org", { expectedState: state })("create_event", lunch));
    expect([refused.status, refused.code]).toEqual([412, "state_changed"]);
    expect(await readdir(folder(), { recursive: true })).toEqual(["away", join("away", "dentist.ics")]);
  });
});

describe("the preview of a deleted event", () => {
  it("shows which one, where it goes, and that nobody is told", async () => {
    await put("work/board.ics", ics(MEETING));
    expect(await preview("delete_event", board)).toMatchObject({
      summary: 'Delete "Board meeting" from "work" (Thu 3 Dec 2026, 14:00 to 15:00)',
      changes: [{ field: "Text", before: "first\nsecond" }],
      effects: [{ code: "moves_to_trash" }, { code: "notifies_nobody" }],
      undo: { possible: true },
    });
  });

  it("shows a whole series, and one time of it", async () => {
    await put("home/choir.ics", ics(WEEKLY, DIFFERENT));
    const all = await preview("delete_event", { ...choir, whole_series: true });
    expect(all.summary).toBe('Delete the whole series "Choir" from "home" (every Monday, without end)');
    expect(texts(all.effects)).toEqual([
      "It moves to the trash of the folder; nothing is erased.",
      "Times that are over go, too: it began on Mon 2 Nov 2026, 18:00.",
      "With it goes 1 time of it that differs.",
    ]);
    const one = await preview("delete_event", { ...choir, instance: "2026-11-30T18:00" });
    expect(one).toMatchObject({
      summary: 'Delete one time of "Choir" from "home" (Mon 30 Nov 2026, 18:00 to 19:00)',
      effects: [{ code: "keeps_rest", text: "The other times of it stay." }],
      undo: { possible: true },
    });
  });
});

it("shows which invitation is answered, from whom, and whether they hear of it", async () => {
  const invited = [
    ...DENTIST,
    "ORGANIZER;CN=Gus:mailto:gus@example.org",
    "ATTENDEE:mailto:gus@example.org",
    "ATTENDEE:mailto:ana@example.org",
  ];
  await put("home/dentist.ics", ics(invited));
  const answer = { event_id: "home/dentist.ics", title: "Dentist", answer: "accepted" };
  expect(await preview("answer_invitation", answer)).toMatchObject({
    summary: 'Accept the invitation "Dentist" from "Gus" (Fri 4 Dec 2026, 09:30)',
    changes: [{ field: "Your answer", before: "no answer", after: "accepted" }],
    effects: [{ code: "notifies_nobody", text: "Nobody tells Gus of it." }],
    undo: { possible: true },
  });
});

it("refuses what the run would refuse", async () => {
  await put("work/board.ics", ics(MEETING));
  await put("home/choir.ics", ics(WEEKLY));
  await put("home/two.ics", ics(DENTIST, [...MEETING, "UID:other"]));
  const refusedAs = async (action: string, args: Record<string, unknown>) => {
    const [shown, ran] = [await refusal(preview(action, args)), await refusal(runAs("ana@example.org")(action, args))];
    expect([shown.status, shown.code, shown.message]).toEqual([ran.status, ran.code, ran.message]);
    return shown.status;
  };
  const times = { weekday: "Monday", start: "2026-12-04T09:00", end: "2026-12-04T10:00", ...ZONE };
  expect(await refusedAs("update_event", { ...board, title: "Another", location: "x" })).toBe(400);
  expect(await refusedAs("update_event", { ...board, event_id: "work/none.ics", location: "x" })).toBe(404);
  expect(await refusedAs("update_event", { ...board, ...times })).toBe(400);
  expect(await refusedAs("update_event", board)).toBe(400);
  expect(await refusedAs("delete_event", choir)).toBe(400);
  expect(await refusedAs("delete_event", { event_id: "home/two.ics", title: "Neither" })).toBe(400);
  expect(await refusedAs("create_event", { ...times, weekday: "Friday", title: "x" })).toBe(400);
  expect(await refusedAs("create_event", { ...times, title: "x", calendar: "work" })).toBe(400);
  expect(await refusedAs("answer_invitation", { ...choir, whole_series: true, answer: "declined" })).toBe(400);
});
