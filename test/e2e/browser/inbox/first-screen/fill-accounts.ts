import { mkdir, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { TestService } from "../../../../../src/testing.ts";
import { ics } from "../../../../apps/calendar/kit/write-ics.ts";
import { writeMessage } from "../../../../apps/mail/kit/write-message.ts";

/** When everything is looked at: Saturday 28 November 2026, 11:00 in Berlin. */
export const NOW = Date.parse("2026-11-28T10:00:00Z");
const LAST_WEEK = new Date("2026-11-20T09:30:00Z");
const BERLIN = "TZID=Europe/Berlin";

/** Names of the files of messages, which are their ids. */
export const MESSAGES = {
  dora: "1764200001.M1P1.host",
  invoice: "1764200002.M1P1.host",
  gus: "1764200003.M1P1.host",
  newsletters: Array.from({ length: 30 }, (_, at) => `17642001${String(at).padStart(2, "0")}.M1P1.host`),
};

/** Fills every account of a service with what an owner has, and says whose calendar and mailbox they are. */
export async function fillAccounts({ dataDir, service }: TestService): Promise<void> {
  const files = { ...listMail(), ...listDates(), ...listPeople(), ...listFiles(), ...listPages() };
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(dataDir, path)), { recursive: true });
    await writeFile(join(dataDir, path), text);
    await utimes(join(dataDir, path), LAST_WEEK, LAST_WEEK);
  }
  for (const { id, integration, settings } of await service.connections.list()) {
    if (integration === "mail")
      await service.connections.update(id, { settings: { ...settings, address: "ana@example.org" } });
    if (integration === "calendar")
      await service.connections.update(id, {
        settings: { ...settings, timeZone: "Europe/Berlin", address: "ana@example.org" },
      });
  }
}

function listMail(): Record<string, string> {
  const put = (id: string, from: string, subject: string, date: string) => ({
    [`mail/cur/${id}:2,`]: writeMessage({
      from,
      subject,
      headers: { Date: date, "Message-ID": `<${id}@example.org>` },
    }),
  });
  const weekly = MESSAGES.newsletters.map((id, at) => {
    const day = new Date(Date.parse("2026-10-27T07:00:00Z") + at * 86_400_000).toUTCString();
    return put(id, "Garden Weekly <news@garden.example>", `What to plant, part ${at + 1}`, day);
  });
  return {
    "mail/.Newsletters/cur/1764200000.M1P1.host:2,S": writeMessage({ subject: "An old one" }),
    ...put(
      MESSAGES.dora,
      "Dora Klein <dora@example.com>",
      "Heating inspection on Tuesday",
      "Fri, 27 Nov 2026 09:00:00 +0000",
    ),
    ...put(MESSAGES.invoice, "Ben <ben@example.net>", "Invoice 2026-071", "Fri, 20 Nov 2026 09:00:00 +0000"),
    ...put(MESSAGES.gus, "Gus Miller <gus1@example.org>", "Photos of the fair", "Sat, 21 Nov 2026 09:00:00 +0000"),
    ...Object.assign({}, ...weekly),
  };
}

function listDates(): Record<string, string> {
  const span = (start: string, end: string) => [`DTSTART;${BERLIN}:${start}`, `DTEND;${BERLIN}:${end}`];
  const people = ["Gus", "Hana", "Ivo", "Jo"].map(
    (name) => `ATTENDEE;CN=${name}:mailto:${name.toLowerCase()}@example.org`,
  );
  return {
    "calendar/Work/board.ics": ics([
      ...["UID:board", "SUMMARY:Board meeting", "LOCATION:Room 4", ...span("20261203T140000", "20261203T150000")],
      ...["ORGANIZER;CN=Ana:mailto:ana@example.org", ...people],
    ]),
    "calendar/Home/choir.ics": ics([
      "UID:choir",
      "SUMMARY:Choir",
      ...span("20261102T180000", "20261102T190000"),
      "RRULE:FREQ=WEEKLY",
    ]),
    "calendar/Home/dentist.ics": ics(["UID:dentist", "SUMMARY:Dentist", ...span("20261201T103000", "20261201T111500")]),
    "calendar/Work/kickoff.ics": ics([
      ...["UID:kickoff", "SUMMARY:Kickoff", ...span("20261202T090000", "20261202T100000")],
      "ORGANIZER;CN=Fay:mailto:fay@example.com",
      "ATTENDEE;CN=Ana;PARTSTAT=NEEDS-ACTION:mailto:ana@example.org",
    ]),
  };
}

function listPeople(): Record<string, string> {
  const card = (uid: string, ...lines: string[]) =>
    ["BEGIN:VCARD", "VERSION:3.0", `UID:${uid}`, ...lines, "END:VCARD", ""].join("\r\n");
  const gus = ["FN:Gus Miller", "N:Miller;Gus;;;"];
  return {
    "contacts/people/gus.vcf": card(
      ...([
        "gus1",
        ...gus,
        "EMAIL;TYPE=HOME:gus1@example.org",
        "EMAIL:old@example.org",
        "TEL;TYPE=CELL:+49 30 1",
        "ORG:Example",
        "NOTE:Met at the fair",
      ] as const),
    ),
    "contacts/people/other.vcf": card("gus0", ...gus, "EMAIL:gus0@example.org"),
  };
}

function listFiles(): Record<string, string> {
  const photos = Array.from({ length: 40 }, (_, at) => [`drive/Photos/${String(at).padStart(2, "0")}.txt`, "8 bytes."]);
  return {
    "drive/Will.txt": "My last will.\nThe house goes to Eva.\n",
    "drive/Drafts/Will.txt": "My last will.\nThe house goes to Otto.\n",
    "drive/Scans/IMG_1001.txt": "a scan",
    "drive/Invoices/2025/old.txt": "an invoice",
    ...Object.fromEntries(photos),
  };
}

function listPages(): Record<string, string> {
  const page = (head: readonly string[], lines: readonly string[]) =>
    ["---", ...head, "---", "", ...lines, ""].join("\n");
  const steps = Array.from({ length: 12 }, (_, at) => `Step ${at + 1} of the old plan`);
  return {
    "notes/Week 48.md": page(["title: Week 48"], ["Call the plumber."]),
    "notes/Budget.md": page(["title: Budget"], ["Rent 900", "Food 400", "Savings 200"]),
    "notes/Roof.md": page(["title: Roof", "tags: [house]", "status: open"], ["Ask for a second quote."]),
    "notes/Old plan.md": page(["title: Old plan"], steps),
  };
}
