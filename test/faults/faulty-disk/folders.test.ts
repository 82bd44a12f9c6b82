import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { attach } from "../../service/files/envelope.ts";
import { deliverMail } from "../../service/flows/mailbox.ts";
import { execute } from "../../service/http-calls.ts";
import { FaultyDisk } from "./faulty-disk.ts";

/** A service on a disk that does not flush folders, or fails at it, as SMB, FUSE and Windows do. */

let disk: FaultyDisk;
beforeEach(async () => {
  disk = await FaultyDisk.start();
  await deliverMail(disk.dataDir, [{ from: "Ada <ada@example.org>", subject: "Quote", text: "Keep it?" }]);
});
afterEach(() => disk.close());

const file = { name: "hello.txt", mimetype: "text/plain", s3key: "local:1" };
const files = [attach("local:1", Buffer.from("hello"), file)];
/** A write of each app; `more` stands beside the arguments. */
const WRITES: readonly (readonly [tool: string, args: object, more?: object])[] = [
  ["notes_create_page", { title: "Plan", body: "See." }],
  ["drive_create_folder", { path: "Reports" }],
  ["drive_upload_file", { folder: "Letters", file }, { files }],
  ["drive_upload_file", { folder: "Letters", file, if_exists: "replace" }, { files }],
  ["drive_move_file", { path: "Letters/hello.txt", destination: "Old/hello.txt" }],
  ["mail_save_draft", { to: ["ada@example.org"], subject: "Quote", body: "See." }],
  ["mail_send_message", { to: ["ada@example.org"], subject: "Quote", body: "See." }],
  ["contacts_create_contact", { name: "Ada" }],
  [
    "calendar_create_event",
    { title: "Visit", weekday: "Friday", zone: "UTC", start: "2027-01-01T10:00:00", end: "2027-01-01T11:00:00" },
  ],
];
const run = ([tool, args, more]: (typeof WRITES)[number]) =>
  execute(disk.service, tool, { arguments: args, confirmed: true, confirmed_level: "delete", ...more });

/** Names of the files that the apps hold, without what SQLite and the service keep for themselves. */
async function listFiles(app: string): Promise<string[]> {
  const entries = await readdir(join(disk.dataDir, app), { recursive: true, withFileTypes: true });
  const found = entries.filter((entry) => entry.isFile() && !entry.parentPath.includes(".trash"));
  return found.map(({ name }) => name).sort();
}

describe.each(["EPERM", "EINVAL", "ENOSYS", "EOPNOTSUPP"] as const)("a disk that answers %s", (code) => {
  test("takes every write, once", async () => {
    await disk.failFlushes(disk.dataDir, code);
    const answers = [];
    for (const write of WRITES) answers.push([write[0], (await run(write)).json.error ?? "done"]);
    expect(answers).toEqual(WRITES.map(([tool]) => [tool, "done"]));
    expect([await listFiles("notes"), await listFiles("drive")]).toEqual([["Plan.md"], ["hello.txt"]]);
  });
});

describe("a disk that fails when the change is made", () => {
  test("leaves the outcome unknown, and the change is there once", async () => {
    await disk.failFlushes(disk.dataDir, "EIO");
    const { status, json } = await run(["notes_create_page", { title: "Plan", body: "See." }]);
    expect([status, json.error.code]).toEqual([500, "outcome_unknown"]);
    expect(json.error.message).toContain("a crash may undo it");
    expect(await listFiles("notes")).toEqual(["Plan.md"]);
  });
});
