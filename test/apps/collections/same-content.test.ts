import { expect, it } from "vitest";
import { isSameContent } from "../../../src/apps/collections/same-content.ts";

const card = (...lines: string[]) =>
  Buffer.from(["BEGIN:VCARD", "VERSION:3.0", ...lines, "END:VCARD", ""].join("\r\n"));
const GIVEN = card("FN:A", "NOTE:a\\, b; c", "EMAIL;TYPE=HOME:a@example.org", "EMAIL:b@example.org", "REV:1");

it.each([
  [
    "the order of lines of different names",
    card("NOTE:a\\, b; c", "EMAIL;TYPE=HOME:a@example.org", "EMAIL:b@example.org", "FN:A"),
  ],
  ["folds and escapes", card("FN:A", "NOTE:a, \r\n b\\; c", "EMAIL;TYPE=HOME:a@example.org", "EMAIL:b@example.org")],
  [
    "quotes and the case of types",
    card("FN:A", "NOTE:a\\, b; c", 'EMAIL;TYPE="home":a@example.org', "EMAIL:b@example.org"),
  ],
  [
    "stamps",
    card("FN:A", "NOTE:a\\, b; c", "EMAIL;TYPE=HOME:a@example.org", "EMAIL:b@example.org", "REV:2", "PRODID:x"),
  ],
])("counts %s as the same", (_, other) => {
  expect(isSameContent(GIVEN, other)).toBe(true);
});

it.each([
  ["another value", card("FN:B", "NOTE:a\\, b; c", "EMAIL;TYPE=HOME:a@example.org", "EMAIL:b@example.org")],
  ["another order of one name", card("FN:A", "NOTE:a\\, b; c", "EMAIL:b@example.org", "EMAIL;TYPE=HOME:a@example.org")],
  ["another type", card("FN:A", "NOTE:a\\, b; c", "EMAIL;TYPE=WORK:a@example.org", "EMAIL:b@example.org")],
  ["a line less", card("FN:A", "EMAIL;TYPE=HOME:a@example.org", "EMAIL:b@example.org")],
  ["a name in other case", card("FN:a", "NOTE:a\\, b; c", "EMAIL;TYPE=HOME:a@example.org", "EMAIL:b@example.org")],
  ["what cannot be read", Buffer.from("x")],
])("counts %s as a change", (_, other) => {
  expect(isSameContent(GIVEN, other)).toBe(false);
});

it("leaves out what a server notes of those it has told", () => {
  const event = (attendee: string) =>
    Buffer.from(`BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:a\r\n${attendee}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n`);
  const [given, told] = ["ATTENDEE:mailto:a@example.org", "ATTENDEE;SCHEDULE-STATUS=1.2:mailto:a@example.org"];
  expect(isSameContent(event(given), event(told))).toBe(true);
  expect(isSameContent(event("ATTENDEE;CN=A:mailto:a"), event("ATTENDEE;CN=a:mailto:a"))).toBe(false);
  expect(isSameContent(event(given), event("ATTENDEE;PARTSTAT=ACCEPTED:mailto:a@example.org"))).toBe(false);
});
