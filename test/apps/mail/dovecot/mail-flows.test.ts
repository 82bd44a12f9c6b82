import { createHash } from "node:crypto";
import { watch } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { awaitCompletion, awaitStatus, readFlow, send, startFlow } from "../../../service/flows/flow-calls.ts";
import { execute } from "../../../service/http-calls.ts";
import { killChild, killChildren, serveChild } from "../../../service/served-child.ts";
import { connectAccounts, sendToAna } from "../kit/mail-accounts.ts";
import { startDovecot, type TestDovecot } from "../kit/start-dovecot.ts";
import { startSmtp, type TestSmtp } from "../kit/start-smtp.ts";

const CHILD = fileURLToPath(new URL("../../../service/flows/serve-child.ts", import.meta.url));

let dovecot: TestDovecot;
let smtp: TestSmtp;
let dataDir: string;
let service: TestService | undefined;

beforeAll(async () => {
  dovecot = await startDovecot();
  smtp = await startSmtp(dovecot);
});
afterAll(async () => {
  await smtp?.close();
  await dovecot?.close();
});
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "svc-mail-flows-"));
});
afterEach(async () => {
  await killChildren();
  await service?.close();
  service = undefined;
  await dovecot.empty("ana");
  await dovecot.empty("bob");
  await rm(dataDir, { recursive: true, force: true });
});

/** The service with both accounts, and mail in one of them. */
async function open(subjects: readonly string[]) {
  service = await startTestService({ dataDir });
  const ids = await connectAccounts(service.service.connections, { dovecot, smtp });
  const files = await sendToAna(service, ids, subjects);
  return { ...service, ids, files };
}

const listPages = async (folder = "Tasks") =>
  (await readdir(join(dataDir, "notes", folder)).catch(() => [])).filter((name) => name.endsWith(".md"));
const readPages = async (folder = "Tasks") =>
  Promise.all((await listPages(folder)).map((name) => readFile(join(dataDir, "notes", folder, name), "utf8")));

test("the summary flow reads real unread mail, of the account it is told", async () => {
  const door = await open(["First plan", "Second plan", "Grüße 🎉"]);
  const input = { maxResults: 2, mailConnectionId: door.ids.ana };
  const id = await startFlow(door, "mail_unread_summary", input);
  await awaitStatus(door, id, "completed");
  const { steps } = await readFlow(door, id);
  expect(steps.at(-1).output).toMatchObject({
    summary: "2 messages from 1 sender; there are more.",
    senders: [{ from: "bob@example.org", count: 2 }],
    messages: [{ subject: "Grüße 🎉", firstLine: "This is about Grüße 🎉." }, { subject: "Second plan" }],
  });
  const other = await startFlow(door, "mail_unread_summary", { mailConnectionId: door.ids.bob });
  await awaitStatus(door, other, "completed");
  expect((await readFlow(door, other)).steps.at(-1).output.summary).toBe("No messages.");
});

test("the sync flow makes a page of each message, after one approval; the attachments stay byte for byte", async () => {
  const door = await open(["First plan", "Second plan", "Third plan"]);
  const id = await startFlow(door, "mail_to_notes_tasks", { notionParent: "Tasks" });
  await awaitStatus(door, id, "waiting");
  expect(await listPages()).toEqual([]);
  await send(door, `/api/flows/${id}/approve`);
  await awaitStatus(door, id, "completed");
  const pages = (await readPages()).sort();
  expect(pages).toHaveLength(3);
  for (const subject of ["First plan", "Second plan", "Third plan"])
    expect(pages.filter((text) => text.includes(`> This is about ${subject}.`))).toHaveLength(1);
  const ids = pages.map((text) => /message_id: "?(imap\.[\w.-]+)/.exec(text)?.[1] ?? "");
  const digests: string[] = [];
  for (const message_id of ids) {
    const got = await execute(door, "mail_get_attachment", { arguments: { message_id } });
    digests.push(got.json.result.sha256);
  }
  expect(digests.sort()).toEqual(door.files.map((bytes) => createHash("sha256").update(bytes).digest("hex")).sort());
  expect((await dovecot.list("ana")).map(({ flags }) => flags)).toEqual([[], [], []]);
});

/** Calls `act` as soon as a folder of the notes holds so many pages; resolves when it has. */
async function whenPages(folder: string, count: number, act: () => Promise<void>): Promise<void> {
  const path = join(dataDir, "notes", folder);
  await mkdir(path, { recursive: true });
  const { promise, resolve } = Promise.withResolvers<void>();
  const look = async () => {
    if ((await listPages(folder)).length >= count) resolve();
  };
  const watcher = watch(path, look);
  await promise;
  await act();
  watcher.close();
}

test("kill -9 in the middle of a sync, three times: resumed, no page is made twice and none is missing", async () => {
  const subjects = Array.from({ length: 20 }, (_, index) => `Plan ${String(index).padStart(2, "0")}`);
  await (await open(subjects)).close();
  service = undefined;
  let door = await serveChild(CHILD, dataDir);
  for (let cuts = 0, tries = 0; cuts < 3; tries += 1) {
    const folder = `Try ${tries}`;
    const id = await startFlow(door, "mail_to_notes_tasks", { notionParent: folder, maxResults: 20 });
    await awaitStatus(door, id, "waiting");
    const killed = whenPages(folder, 2 ** cuts, () => killChild(door));
    await send(door, `/api/flows/${id}/approve`).catch(() => undefined);
    await killed;
    // On a busy machine all pages may be there before this process gets its turn to kill.
    if ((await listPages(folder)).length < 20) cuts += 1;
    expect(tries).toBeLessThan(10);
    door = await serveChild(CHILD, dataDir);
    await awaitCompletion(door, id);
    const found = (await readPages(folder)).map((text) => /> This is about (Plan \d\d)\./.exec(text)?.[1]);
    expect(found.sort()).toEqual(subjects);
  }
}, 180_000);
