import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { builtInIntegrations } from "../../../src/apps/built-in.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { openRules } from "../access/open-rules.ts";
import { attach } from "../files/envelope.ts";
import { execute } from "../http-calls.ts";

/** What "always" for a write lets run, and what is there afterwards. */

const CARD = [
  "BEGIN:VCARD",
  "VERSION:3.0",
  "UID:gus",
  "FN:Gus Miller",
  "N:Miller;Gus;;;",
  "NICKNAME:Gussie",
  "EMAIL;TYPE=HOME:gus@example.org",
  "EMAIL;TYPE=WORK:gus@work.example",
  "TEL;TYPE=CELL:+1 555 0100",
  "NOTE:Met at the fair",
  "END:VCARD",
  "",
].join("\r\n");
const event = (uid: string, ...more: string[]) =>
  [
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    "PRODID:-//test//EN",
    "BEGIN:VEVENT",
    `UID:${uid}`,
    "DTSTAMP:20261101T000000Z",
    "SUMMARY:Board meeting",
    "DTSTART:20261210T140000Z",
    "DTEND:20261210T150000Z",
    "LOCATION:Room 4",
    ...more,
    "END:VEVENT",
    "END:VCALENDAR",
    "",
  ].join("\r\n");
const PAGE = "---\ntitle: Permit\ntags:\n  - house\nstatus: open\n---\nThe permit is in the drawer.\n";
const MAIL =
  "From: Landlord <l@example.org>\r\nTo: me@example.org\r\nSubject: Rent\r\nMessage-ID: <r@x>\r\n\r\nPay.\r\n";
/** As many messages as nobody marks by the way. */
const MANY = Array.from({ length: 21 }, (_, at) => `${1_763_632_000 + at}.M1P1Q1R0.svc`);
const FEED = { feed_id: "09157359a856", url: "https://example.org/feed" };
const NOW = Date.parse("2026-11-28T12:00:00Z");

let service: TestService;
let folder: string;
let close: () => Promise<unknown>;

beforeEach(async () => {
  service = await startTestService({ now: () => NOW });
  folder = join(service.dataDir, "always-test");
  const put = async (path: string, text: string) => {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  };
  await put("drive/Deed.txt", "The house is ours.\n");
  await put("drive/Photos/a.txt", "a\n");
  await put("drive/junk.txt", "junk\n");
  await put("notes/Permit.md", PAGE);
  await put("contacts/own/gus.vcf", CARD);
  await put("calendar/own/board.ics", event("board", "DESCRIPTION:Bring the accounts"));
  await put("calendar/own/class.ics", event("class", "RRULE:FREQ=WEEKLY"));
  for (const at of ["cur", "new", "tmp"]) await mkdir(join(folder, "mail", at), { recursive: true });
  await put("mail/cur/1763631000.M1P1Q1R0.svc:2,S", MAIL);
  for (const id of MANY) await put(`mail/cur/${id}:2,S`, MAIL);
  await put(
    `feeds/${FEED.feed_id}.feed.json`,
    JSON.stringify({ url: FEED.url, title: "News", added: "2026-11-01T00:00:00Z" }),
  );
  const add = (integration: string, settings: object) =>
    service.service.connections.add({
      integration,
      label: `Own ${integration}`,
      settings: settings as Record<string, unknown>,
      isDefault: true,
    });
  for (const app of ["drive", "notes", "contacts", "calendar"]) await add(app, { folder: join(folder, app) });
  await add("feeds", { folder: join(folder, "feeds") });
  await add("mail", { maildir: join(folder, "mail"), address: "me@example.org" });
  const rules = await openRules(service);
  for (const app of ["drive", "notes", "contacts", "calendar", "mail", "feeds"])
    await rules.add({ effect: "allow", tool: `${app}/*` }, "test");
  close = async () => {
    await rules.close();
    await service.close();
  };
});
afterEach(() => close());

const board = { event_id: "own/board.ics", title: "Board meeting" };
const gus = { contact_id: "own/gus.vcf", name: "Gus Miller" };
const rent = { message_ids: ["1763631000.M1P1Q1R0.svc"], subjects: ["Rent"] };
const thursday = { weekday: "Thursday", zone: "Europe/Berlin" };
const series = { ...board, event_id: "own/class.ics", whole_series: true };

const MAILS = [
  { address: "gus@example.org", type: "home" },
  { address: "gus@work.example", type: "work" },
];

/** Everything that takes away what is there. */
const DESTROYING: readonly (readonly [string, Record<string, unknown>])[] = [
  ["mail_move_message", { ...rent, folder: "Trash" }],
  ["mail_move_message", { ...rent, folder: "trash", create_folder: true }],
  ["mail_move_message", { ...rent, folder: "Junk" }],
  ["mail_move_message", { ...rent, folder: "Work/Papierkorb", create_folder: true }],
  ["mail_move_message", { ...rent, folder: "GELÖSCHTE ELEMENTE", create_folder: true }],
  ["mail_mark_message", { message_ids: MANY, as: "unread" }],
  ["notes_update_page", { page_id: "Permit.md", title: "Permit", body: "" }],
  ["notes_update_page", { page_id: "Permit.md", title: "Permit", body: "x" }],
  ["notes_update_page", { page_id: "Permit.md", title: "Permit", tags: [] }],
  ["notes_update_page", { page_id: "Permit.md", title: "Permit", tags: ["other"] }],
  ["notes_update_page", { page_id: "Permit.md", title: "Permit", new_title: "x" }],
  ["notes_update_page", { page_id: "Permit.md", title: "Permit", properties: { status: null } }],
  ["notes_update_page", { page_id: "Permit.md", title: "Permit", properties: { more: "x", status: " " } }],
  ["notes_update_page", { page_id: "Permit.md", title: "Permit", properties: { status: "done" } }],
  ["drive_move_file", { path: "junk.txt", destination: "Deed.txt", if_exists: "replace" }],
  ["drive_move_file", { path: "Photos", destination: ".hidden/Photos" }],
  ["drive_move_file", { path: "Photos", destination: "a/.b/Photos" }],
  ["drive_move_file", { path: "Deed.txt", destination: "Corbeille/Deed.txt" }],
  ["drive_move_file", { path: "Deed.txt", destination: "Alter Papierkorb 2/Deed.txt" }],
  ["drive_move_file", { path: "Deed.txt", destination: ".Deed.txt" }],
  ["drive_move_file", { path: "Photos", destination: "Trash" }],
  ["contacts_update_contact", { ...gus, emails: [], phones: [] }],
  ["contacts_update_contact", { ...gus, emails: [{ address: "gus@example.org" }] }],
  ["contacts_update_contact", { ...gus, new_name: "x" }],
  ["contacts_update_contact", { ...gus, note: "" }],
  ["contacts_update_contact", { ...gus, note: "  " }],
  ["contacts_update_contact", { ...gus, nickname: "x" }],
  ["calendar_update_event", { ...board, ...thursday, start: "2020-11-26T14:00" }],
  ["calendar_update_event", { ...board, ...thursday, start: "2099-11-26T14:00" }],
  ["calendar_update_event", { ...board, description: "" }],
  ["calendar_update_event", { ...board, description: "x" }],
  ["calendar_update_event", { ...board, new_title: "x" }],
  ["calendar_update_event", { ...board, location: " " }],
  ["calendar_update_event", { ...series, rrule: "FREQ=WEEKLY;COUNT=1" }],
  ["calendar_update_event", { ...series, rrule: "" }],
  ["calendar_update_event", { ...series, weekday: "Friday", zone: "Europe/Berlin", start: "2026-12-11T14:00" }],
  ["feeds_unsubscribe", FEED],
];

/** What adds, or can be seen and taken back. */
const HARMLESS: readonly (readonly [string, Record<string, unknown>])[] = [
  ["mail_move_message", { ...rent, folder: "Archive" }],
  ["mail_mark_message", { message_ids: rent.message_ids, as: "flagged" }],
  ["notes_update_page", { page_id: "Permit.md", title: "Permit", append: "- more" }],
  [
    "notes_update_page",
    { page_id: "Permit.md", title: "Permit", tags: ["house", "more"], properties: { due: "2026-12-01" } },
  ],
  ["drive_move_file", { path: "junk.txt", destination: "Archive/junk.txt" }],
  ["drive_move_file", { path: "junk.txt", destination: "Deed.txt", if_exists: "rename" }],
  ["drive_create_folder", { path: "New" }],
  ["contacts_update_contact", { ...gus, emails: [...MAILS.toReversed(), { address: "new@example.org" }] }],
  ["contacts_update_contact", { ...gus, organization: "Miller Ltd" }],
  ["calendar_update_event", { ...board, ...thursday, start: "2026-12-17T14:00" }],
];

async function readAll(): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const texts = await Promise.all(files.map(async (path) => [path, await readFile(path, "utf8")] as const));
  return Object.fromEntries(texts.sort(([a], [b]) => (a < b ? -1 : 1)));
}

describe("a rule that allows every write of an app", () => {
  test.each(DESTROYING)("does not let %s with %j run unasked", async (tool, args) => {
    const before = await readAll();
    const answer = await execute(service, tool, { arguments: args });
    expect([answer.status, answer.json.error?.code]).toEqual([412, "confirmation_required"]);
    expect(await readAll()).toEqual(before);
    const said = answer.json.policyReason;
    expect(said).toContain("deletes something");
    // Nor as a confirmation that was given for a write.
    const write = await execute(service, tool, { arguments: args, confirmed: true, confirmed_level: "write" });
    expect(write.status).toBe(412);
    expect(await readAll()).toEqual(before);
  });

  test.each(HARMLESS)("lets %s with %j run", async (tool, args) => {
    const answer = await execute(service, tool, { arguments: args });
    expect([answer.status, answer.json.error ?? null]).toEqual([200, null]);
  });
});

test.each(DESTROYING.filter(([tool]) => /^(?:notes|contacts|calendar|drive)_/.test(tool)))(
  "a confirmed %s with %j leaves a copy of what it replaces",
  async (tool, args) => {
    const before = await readAll();
    const answer = await execute(service, tool, { arguments: args, confirmed: true, confirmed_level: "delete" });
    expect(answer.status).toBe(200);
    const after = Object.entries(await readAll());
    for (const [path, text] of Object.entries(before)) {
      const isThere = after.some(([at, now]) => now === text && (at === path || at.includes("/.trash/")));
      const isMoved = tool === "drive_move_file" && after.some(([, now]) => now === text);
      expect([path, isThere || isMoved]).toEqual([path, true]);
    }
  },
);

test("a rule that blocks deleting blocks it under any name, and nothing else", async () => {
  const rules = await openRules(service);
  await rules.add({ effect: "block", tool: "drive/*", level: "delete" }, "test");
  await rules.close();
  const move = (more: object) =>
    execute(service, "drive_move_file", { arguments: { path: "junk.txt", ...more }, confirmed: true });
  const refused = await move({ destination: "Deed.txt", if_exists: "replace" });
  expect([refused.status, refused.json.error.code]).toEqual([403, "blocked_by_rule"]);
  expect((await move({ destination: "x.txt" })).status).toBe(200);
});

/** Values that take something away, add something, or leave it, in any mixture. */
const text = fc.constantFrom("", " ", "x", "Gus Miller", "Met at the fair", "Room 4", "house", "open", "\u200b", ".");
const some = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });
const path = fc.constantFrom(
  ...[
    "Deed.txt",
    "junk.txt",
    "Photos",
    "Photos/a.txt",
    "New/b.txt",
    ".hidden/x",
    "Trash/x",
    "a/./b",
    ".a",
    "POUBELLE/x",
  ],
);
const RANDOM: Readonly<Record<string, fc.Arbitrary<Record<string, unknown>>>> = {
  drive_move_file: fc.record({
    path,
    destination: path,
    if_exists: some(fc.constantFrom("error", "rename", "replace")),
  }),
  notes_update_page: fc.record({
    page_id: fc.constant("Permit.md"),
    body: some(text),
    append: some(text),
    title: fc.constant("Permit"),
    new_title: some(text),
    tags: some(fc.array(text, { maxLength: 3 })),
    properties: some(
      fc.dictionary(
        fc.constantFrom("status", "due"),
        fc.oneof(text, fc.constant(null), fc.array(text, { maxLength: 2 })),
        {
          maxKeys: 2,
        },
      ),
    ),
  }),
  contacts_update_contact: fc.record({
    contact_id: fc.constant(gus.contact_id),
    name: fc.constant(gus.name),
    new_name: some(text),
    nickname: some(text),
    note: some(text),
    organization: some(text),
    emails: some(
      fc
        .uniqueArray(fc.constantFrom("gus@example.org", "gus@work.example", "new@example.org"), { maxLength: 3 })
        .map((all) => all.map((address) => ({ address }))),
    ),
    phones: some(
      fc
        .uniqueArray(fc.constantFrom("+1 555 0100", "+2"), { maxLength: 2 })
        .map((all) => all.map((number) => ({ number }))),
    ),
  }),
  calendar_update_event: fc.record({
    event_id: fc.constantFrom("own/board.ics", "own/class.ics"),
    title: fc.constant("Board meeting"),
    whole_series: some(fc.boolean()),
    new_title: some(text),
    location: some(text),
    description: some(text),
    rrule: some(fc.constantFrom("", "FREQ=DAILY;COUNT=2", "FREQ=WEEKLY;UNTIL=20261211")),
    start: some(fc.constantFrom("2020-11-26T14:00", "2026-12-17T14:00", "2026-11-26T14:00", "2090-12-14T14:00")),
    weekday: fc.constantFrom("Thursday", "Thursday", "Thursday"),
    zone: fc.constant("Europe/Berlin"),
  }),
};
const FILE = { name: "Deed.txt", mimetype: "text/plain", s3key: "sent" };
/** The other writes of the apps of the service: those that only add, or move what can be seen. */
const OTHERS: typeof RANDOM = {
  drive_upload_file: fc.record({
    file: fc.constantFrom("Deed.txt", "junk.txt", "New.txt").map((name) => ({ ...FILE, name })),
    folder: some(fc.constantFrom("Photos", "New", ".hidden")),
    if_exists: some(fc.constantFrom("error", "rename", "replace")),
  }),
  drive_create_folder: fc.record({ path }),
  notes_create_page: fc.record({
    title: fc.constantFrom("Permit", "permit", "New"),
    body: some(text),
    if_exists: some(fc.constantFrom("error", "rename", "replace", "update")),
  }),
  mail_send_message: fc.record({ to: fc.constant(["me@example.org"]), subject: text, body: text }),
  mail_save_draft: fc.record({ subject: text, body: text }),
  mail_mark_message: fc.record({
    message_ids: fc
      .integer({ min: 1, max: 30 })
      .map((count) => Array.from({ length: count }, (_, at) => (at === 0 ? (rent.message_ids[0] ?? "") : `x${at}`))),
    as: fc.constantFrom("read", "unread", "flagged", "deleted"),
  }),
  mail_move_message: fc.record({
    message_ids: fc.constant(rent.message_ids),
    subjects: fc.constant(rent.subjects),
    folder: fc.constantFrom("Trash", "INBOX", "Junk", "trash", "Work/Papierkorb"),
    create_folder: some(fc.boolean()),
  }),
  calendar_create_event: fc.record({
    title: fc.constantFrom("Board meeting", "New"),
    weekday: fc.constant("Thursday"),
    zone: fc.constant("Europe/Berlin"),
    start: fc.constant("2026-12-10T14:00"),
    end: fc.constant("2026-12-10T15:00"),
    rrule: some(fc.constantFrom("FREQ=DAILY;COUNT=2", "")),
  }),
  calendar_answer_invitation: fc.record({
    event_id: fc.constantFrom("own/board.ics", "own/class.ics"),
    title: fc.constant("Board meeting"),
    answer: fc.constantFrom("accepted", "declined"),
    whole_series: some(fc.boolean()),
  }),
  contacts_create_contact: fc.record({ name: fc.constantFrom("Gus Miller", "New"), note: some(text) }),
  feeds_subscribe: fc.record({ url: fc.constant("http://127.0.0.1:9/feed") }),
};

test("every write of the apps of the service is among those that are tried", () => {
  const writes = builtInIntegrations.flatMap(({ slug, actions }) =>
    actions.filter(({ level }) => level === "write").map(({ id }) => `${slug}_${id}`),
  );
  expect([...Object.keys(RANDOM), ...Object.keys(OTHERS)].sort()).toEqual(writes.sort());
});

/** Actions some of whose calls count as deleting. */
const JUDGED = new Set(
  builtInIntegrations.flatMap(({ slug, actions }) =>
    actions.filter(({ raises, judge }) => raises !== undefined || judge !== undefined).map(({ id }) => `${slug}_${id}`),
  ),
);

/** Calls of an action that count as deleting. */
function listAsked(tool: string): [Record<string, unknown>][] {
  const known = DESTROYING.filter(([name]) => name === tool).map(([, args]) => args);
  return [...known, ...(tool === "drive_upload_file" ? [{ file: FILE, if_exists: "replace" }] : [])].map((args) => [
    args,
  ]);
}

/** Lines that a change writes anew, and the time of an event, which may move to where it is seen. */
const ANEW = /^(?:DTSTAMP|LAST-MODIFIED|SEQUENCE|REV|PRODID|DTSTART|DTEND|updated)\b|^$/;

/** The lines of a file; of front matter its values, each with its name, alone or in a list; an empty one is none. */
function listLines(text: string): string[] {
  const [, front, body] = /^---\n(.*?)\n---\n(.*)$/s.exec(text) ?? [];
  if (front === undefined) return text.split(/\r?\n/);
  const values = Object.entries(parse(front) as Record<string, unknown>).flatMap(([name, value]) =>
    [value].flat().map((one) => [name, String(one).trim()] as const),
  );
  return [...values.filter(([, one]) => one !== "").map((pair) => pair.join(": ")), ...(body ?? "").split("\n")];
}

/** What nobody sees any more: hidden places, and bins. In a Maildir every folder begins with a dot. */
const GONE = /^\/mail\/.*(?:trash|junk|papierkorb)|^\/(?!mail\/).*?\/(?:\.|trash|poubelle)/i;

test.each([...Object.entries(RANDOM), ...Object.entries(OTHERS)])(
  "whatever the arguments of %s, nothing is gone that nobody was asked about",
  async (tool, random) => {
    let asked = 0;
    await fc.assert(
      fc.asyncProperty(random, async (given) => {
        const args = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
        const before = await readAll();
        const files = "file" in args ? [attach(FILE.s3key, Buffer.from("other"), { mimetype: FILE.mimetype })] : [];
        const { status } = await execute(service, tool, { arguments: args, files });
        if (status === 412) asked += 1;
        if (status !== 200) {
          expect(await readAll()).toEqual(before);
          return;
        }
        const after = Object.entries(await readAll()).filter(([at]) => !GONE.test(at.slice(folder.length)));
        const left = new Set(after.flatMap(([, now]) => listLines(now)));
        const lines = Object.entries(before)
          .filter(([at]) => !GONE.test(at.slice(folder.length)))
          .flatMap(([, was]) => listLines(was));
        expect(lines.filter((line) => !ANEW.test(line.trim()) && !left.has(line))).toEqual([]);
        for (const [, now] of after)
          for (const [, day = ""] of now.slice(now.indexOf("BEGIN:VEVENT")).matchAll(/^DTSTART[^:]*:(\d{8})/gm))
            expect(day >= "20261128" && day <= "20271129").toBe(true);
      }),
      { numRuns: tool in RANDOM ? 60 : 25, examples: listAsked(tool) },
    );
    expect(asked > 0).toBe(JUDGED.has(tool));
  },
);
