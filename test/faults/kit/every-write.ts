import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { attach } from "../../service/files/envelope.ts";
import { execute } from "../../service/http-calls.ts";

/** Answers that leave the outcome open. */
const OPEN = new Set(["outcome_unknown", "unexpected_error", "timeout"]);

const EVENT = (uid: string, title: string) =>
  `BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//y\r\nBEGIN:VEVENT\r\nUID:${uid}\r\nDTSTAMP:20261101T100000Z\r\nDTSTART:20270101T100000Z\r\nDTEND:20270101T110000Z\r\nSUMMARY:${title}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n`;
const MAIL = (subject: string) =>
  `From: Ada <ada@example.org>\r\nTo: me@localhost\r\nSubject: ${subject}\r\nDate: Fri, 20 Nov 2026 09:00:00 +0000\r\n\r\nSee.\r\n`;
const FILES: Readonly<Record<string, string>> = {
  "drive/hello.txt": "old",
  "drive/Old/hello.txt": "older",
  "drive/Old/deep/a.txt": "a",
  "notes/Plan.md": "---\nid: n1\ntitle: Plan\ntags: [a]\n---\nOne\nTwo\n",
  "mail/new/1763631000.M1P1Q1.host": MAIL("One"),
  "mail/cur/1763631001.M1P1Q2.host:2,S": MAIL("Two"),
  "mail/.Archive/cur/1763631002.M1P1Q3.host:2,": MAIL("Three"),
  "calendar/personal/e1.ics": EVENT("e1", "Visit"),
  "contacts/personal/c1.vcf": "BEGIN:VCARD\r\nVERSION:3.0\r\nUID:c1\r\nFN:Ana\r\nN:;Ana;;;\r\nEND:VCARD\r\n",
};
const file = { name: "hello.txt", mimetype: "text/plain", s3key: "local:1" };
const files = [attach("local:1", Buffer.from("hello"), file)];
const BOTH = { message_ids: ["1763631000.M1P1Q1.host", "1763631001.M1P1Q2.host"], subjects: ["One", "Two"] };
const VISIT = { event_id: "personal/e1.ics", title: "Visit", zone: "UTC" };

/** Each write of the apps that are folders. */
export const WRITES: readonly (readonly [tool: string, args: object])[] = [
  ["drive_create_folder", { path: "New/Deep" }],
  ["drive_upload_file", { folder: "Letters/2027", file }],
  ["drive_upload_file", { file, if_exists: "rename" }],
  ["drive_upload_file", { file, if_exists: "replace" }],
  ["drive_move_file", { path: "hello.txt", destination: "New/hello.txt" }],
  ["drive_move_file", { path: "hello.txt", destination: "Old/hello.txt", if_exists: "replace" }],
  ["drive_move_file", { path: "Old", destination: "New/Old" }],
  ["drive_delete_file", { path: "Old" }],
  ["notes_create_page", { title: "Second", body: "See.", parent: "New" }],
  ["notes_update_page", { page_id: "Plan.md", title: "Plan", body: "Three" }],
  ["notes_delete_page", { page_id: "Plan.md", title: "Plan" }],
  ["mail_save_draft", { to: ["ada@example.org"], subject: "Quote", body: "See." }],
  ["mail_send_message", { to: ["me@localhost"], subject: "Quote", body: "See." }],
  ["mail_mark_message", { message_ids: BOTH.message_ids, as: "flagged" }],
  ["mail_move_message", { ...BOTH, folder: "Work/2027", create_folder: true }],
  ["mail_delete_message", BOTH],
  [
    "calendar_create_event",
    { title: "Call", weekday: "Friday", zone: "UTC", start: "2027-01-01T12:00:00", end: "2027-01-01T13:00:00" },
  ],
  ["calendar_update_event", { ...VISIT, new_title: "Visit of Ada" }],
  ["calendar_delete_event", { event_id: VISIT.event_id, title: VISIT.title }],
  ["contacts_create_contact", { name: "Ada" }],
  ["contacts_update_contact", { contact_id: "personal/c1.vcf", name: "Ana", new_name: "Ana Example" }],
  ["contacts_delete_contact", { contact_id: "personal/c1.vcf", name: "Ana" }],
];

/** Gives an app's folder the files that the writes start from; `mark` stands before the flags of mail. */
export async function fillApp(dataDir: string, app: string, mark: ":" | ";" = ":"): Promise<void> {
  await rm(join(dataDir, app), { recursive: true, force: true });
  await mkdir(join(dataDir, app), { mode: 0o700 });
  for (const [path, text] of Object.entries(FILES)) {
    if (!path.startsWith(`${app}/`)) continue;
    const place = join(dataDir, path.replace(":2,", `${mark}2,`));
    await mkdir(dirname(place), { recursive: true });
    await writeFile(place, text);
  }
}

/** Runs a write: "done", "open", or "not done: " with the reason. */
export async function runWrite(service: { url: string; apiKey: string }, tool: string, args: object): Promise<string> {
  const body = { arguments: args, confirmed: true, confirmed_level: "delete", ...("file" in args && { files }) };
  const { status, json } = await execute(service, tool, body);
  if (status === 200) return "done";
  return OPEN.has(json.error.code) ? "open" : `not done: ${json.error.code} ${json.error.message}`;
}
