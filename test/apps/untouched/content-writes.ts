import { expect } from "vitest";
import { type Roll, rollLines, splitFile, writeFileOf } from "../../fixtures/content-files.ts";
import { leaveOut, pick, type Write } from "./check-write.ts";

function rollEvent(uid: string, roll: Roll): string[] {
  return [
    "BEGIN:VEVENT",
    `UID:${uid}`,
    ...rollLines(roll),
    "DTSTAMP:20260101T000000Z",
    "SEQUENCE:3",
    "LAST-MODIFIED:20260101T000000Z",
    ...rollLines(roll),
    `SUMMARY;LANGUAGE=en:Title ${uid}`,
    "LOCATION:Room 1",
    'ATTENDEE;CN="Ana";PARTSTAT=NEEDS-ACTION:mailto:ana@example.org',
    "DTSTART;X-P=1;TZID=Europe/Berlin:20261127T090000",
    "DTEND;TZID=Europe/Berlin:20261127T100000",
    "RRULE:FREQ=DAILY;COUNT=5",
    ...rollLines(roll),
    "BEGIN:VALARM",
    "SUMMARY:of the alarm",
    "TRIGGER:-PT5M",
    "END:VALARM",
    "END:VEVENT",
  ];
}

function rollCalendar(roll: Roll, prefix: string): Buffer {
  const zone = ["BEGIN:VTIMEZONE", "TZID:Europe/Berlin", "X-ODD:zone", "END:VTIMEZONE"];
  const other = ["BEGIN:VTODO", "UID:todo", "SUMMARY:to do", "END:VTODO"];
  const calendars = Array.from({ length: 1 + roll(3) }, (_, i) => [
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    ...rollLines(roll),
    ...zone,
    ...rollEvent(`${prefix}${i}`, roll),
    ...(roll(2) === 0 ? other : []),
    ...(roll(2) === 0 ? rollEvent(`${prefix === "a" ? "b" : `x${prefix}`}${i}`, roll) : []),
    "END:VCALENDAR",
  ]);
  return writeFileOf(calendars.flat(), roll);
}

function rollCards(roll: Roll, prefix: string): Buffer {
  const cards = Array.from({ length: 1 + roll(4) }, (_, i) => [
    "BEGIN:VCARD",
    `VERSION:${["3.0", "4.0"][roll(2)]}`,
    `UID:${prefix}${i}`,
    ...rollLines(roll),
    `FN:Title ${prefix}${i}`,
    'N;SORT-AS="x":Family;Given,Second;;Dr.;',
    "NOTE;X-P=1:first",
    "NOTE:second",
    "REV:2020-01-01T00:00:00Z",
    "item2.EMAIL;TYPE=INTERNET:a@example.org",
    "item2.X-ABLabel:Own",
    "EMAIL;PREF=1:b@example.org",
    ...rollLines(roll),
    "END:VCARD",
  ]);
  return writeFileOf(cards.flat(), roll);
}

const MARKS = ["DTSTAMP", "LAST-MODIFIED", "SEQUENCE"];
const WHOLE = { whole_series: true };
const SECOND = { instance: "2026-11-28T09:00", zone: "Europe/Berlin" };

/** The actions, with the fields that each names. */
const ACTIONS = [
  { app: "calendar", id: "update_event", args: { ...WHOLE, new_title: "Ü, new" }, names: ["SUMMARY", ...MARKS] },
  { app: "calendar", id: "update_event", args: { ...WHOLE, location: "Room; 2" }, names: ["LOCATION", ...MARKS] },
  {
    app: "calendar",
    id: "update_event",
    args: { ...WHOLE, weekday: "Monday", start: "2026-11-30T11:00", zone: "Europe/Berlin" },
    names: ["DTSTART", "DTEND", ...MARKS],
  },
  { app: "calendar", id: "answer_invitation", args: { ...WHOLE, answer: "accepted" }, names: ["ATTENDEE", ...MARKS] },
  { app: "calendar", id: "update_event", args: { ...WHOLE, rrule: "FREQ=WEEKLY;COUNT=3" }, names: ["RRULE", ...MARKS] },
  {
    app: "calendar",
    id: "update_event",
    args: { ...WHOLE, description: "Ü\n, new" },
    names: ["DESCRIPTION", ...MARKS],
  },
  { app: "calendar", id: "delete_event", args: SECOND, names: ["EXDATE", ...MARKS] },
  { app: "calendar", id: "update_event", args: { ...SECOND, new_title: "Ü, new" }, adds: "VEVENT", names: [] },
  { app: "calendar", id: "answer_invitation", args: { ...SECOND, answer: "declined" }, adds: "VEVENT", names: [] },
  { app: "calendar", id: "delete_event", args: WHOLE, names: [] },
  {
    app: "calendar",
    id: "create_event",
    args: {
      weekday: "Monday",
      start: "2026-11-30T11:00",
      end: "2026-11-30T12:00",
      zone: "Europe/Berlin",
      title: "New",
    },
    names: [],
  },
  { app: "contacts", id: "update_contact", args: { note: "Ü, new" }, names: ["NOTE", "REV"] },
  { app: "contacts", id: "update_contact", args: { family_name: "Änders" }, names: ["N", "REV"] },
  {
    app: "contacts",
    id: "update_contact",
    args: { emails: [{ address: "b@example.org" }, { address: "a@example.org" }] },
    names: ["EMAIL", "REV"],
  },
  { app: "contacts", id: "update_contact", args: { birthday: "--04-12" }, names: ["BDAY", "REV"] },
  { app: "contacts", id: "delete_contact", args: {}, names: [] },
  { app: "contacts", id: "create_contact", args: { name: "New" }, names: [] },
] as const;

/** Every way to write into a collection of calendars or contacts. */
export function listContentWrites(app: "calendar" | "contacts"): Write[] {
  return ACTIONS.filter((action) => action.app === app).map(toWrite);
}

function toWrite({ app, id, args, names, ...more }: (typeof ACTIONS)[number]): Write {
  const isCalendar = app === "calendar";
  const ending = isCalendar ? "ics" : "vcf";
  const file = `c/a.${ending}`;
  const isNew = id.startsWith("create");
  const rollFile = (roll: Roll, prefix: string) =>
    (isCalendar ? rollCalendar(roll, prefix) : rollCards(roll, prefix)).toString("latin1");
  return {
    title: `${id} with ${JSON.stringify(args)}`,
    roll(roll) {
      const old = rollFile(roll, "a");
      const others = Array.from({ length: roll(3) }, (_, index) => {
        const other = String.fromCharCode("c".charCodeAt(0) + index);
        return [`c/${other} ä.${ending}`, rollFile(roll, other)] as const;
      });
      const things = new Map([[file, old], ...others]);
      const uid = pick(roll, [...old.matchAll(/^UID:([ab]\d)/gm)].map(([, one = ""]) => one) as [string, ...string[]]);
      const target = isCalendar
        ? { event_id: file, title: `Title ${uid}` }
        : { contact_id: file, name: `Title ${uid}` };
      const before = Buffer.from(old, "latin1");
      return {
        things,
        call: (run) => run(id, isNew ? args : { ...target, ...args }),
        check({ after }) {
          const isFresh = (address: string) => isNew && !things.has(address);
          const isKept = (address: string) => address.startsWith(".trash/");
          const isOwn = (address: string) => address === file || isFresh(address) || isKept(address);
          expect(leaveOut(after, isOwn)).toEqual(leaveOut(things, isOwn));
          expect([...after.keys()].filter(isFresh)).toHaveLength(isNew ? 1 : 0);
          expect([...after].flatMap(([address, bytes]) => (isKept(address) && bytes !== old ? [bytes] : []))).toEqual(
            [],
          );
          const text = after.get(file);
          const bytes = text === undefined ? undefined : Buffer.from(text, "latin1");
          if (isNew) expect(text).toBe(old);
          else if (id.startsWith("delete") && names.length === 0) {
            expect(text !== undefined).toBe(
              [...old.matchAll(/^UID:[ab]\d/gm)].length > 1 || old.includes("BEGIN:VTODO"),
            );
            if (text !== undefined) expect(text).toBe(cutBlock(before, uid));
          } else if (bytes === undefined) expect(text).toBe("a file");
          else if ("adds" in more) expect(findAdded(before, bytes)).toContain(`BEGIN:${more.adds}`);
          else {
            const others = (one: Buffer) => splitFile(one, uid, names).filter((piece) => !/^<[A-Z-]+>$/.test(piece));
            expect(others(bytes)).toEqual(others(before));
            if (!("emails" in args)) expect(text).not.toBe(old);
          }
        },
      };
    },
  };
}

/** The one thing that was added to a file; undefined where anything else was changed. */
function findAdded(before: Buffer, after: Buffer): string | undefined {
  let start = 0;
  while (start < before.length && before[start] === after[start]) start += 1;
  const rest = before.subarray(start);
  if (!after.subarray(after.length - rest.length).equals(rest)) return undefined;
  const begin = after.lastIndexOf("BEGIN:", start);
  return after.subarray(Math.min(begin, start), after.length - rest.length).toString("latin1");
}

/** The file without the block of one UID. */
function cutBlock(bytes: Buffer, uid: string): string {
  const text = bytes.toString("latin1");
  const at = text.indexOf(`UID:${uid}`);
  const begin = Math.max(text.lastIndexOf("BEGIN:VEVENT", at), text.lastIndexOf("BEGIN:VCARD", at));
  const [end = ""] = /END:(?:VEVENT|VCARD)(?:\r\n|\n)?/.exec(text.slice(at)) ?? [];
  return text.slice(0, begin) + text.slice(text.indexOf(end, at) + end.length);
}
