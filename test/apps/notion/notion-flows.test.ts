import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { awaitCompletion, awaitStatus, readFlow, send, startFlow } from "../../service/flows/flow-calls.ts";
import { deliverMail } from "../../service/flows/mailbox.ts";
import { openBrowser, readCsrf } from "../../service/http/pages/browser.ts";
import { execute } from "../../service/http-calls.ts";
import { killChild, killChildren, serveChild } from "../../service/served-child.ts";
import { type Asked, startNotion, type TestNotion, TOKEN } from "./kit/start-notion.ts";

const CHILD = fileURLToPath(new URL("../../service/flows/serve-child.ts", import.meta.url));
const SUBJECTS = ["Quote", "Invoice", "Grüße 🎉", "2 * 3 | #x", "**Bold** [x]"];

let notion: TestNotion;
let home: ReturnType<TestNotion["addPage"]>;
let dataDir: string;
let service: TestService | undefined;

beforeEach(async () => {
  notion = await startNotion();
  notion.indexes(false);
  home = notion.addPage(undefined, "Home");
  dataDir = await mkdtemp(join(tmpdir(), "svc-notion-"));
});
afterEach(async () => {
  await killChildren();
  await service?.close();
  service = undefined;
  await notion.close();
  await rm(dataDir, { recursive: true, force: true });
});

async function open() {
  service = await startTestService({ dataDir });
  await deliverMail(
    service.dataDir,
    SUBJECTS.map((subject) => ({ from: "ana@example.com", subject, text: `About ${subject}.` })),
  );
  const settings = { notionToken: TOKEN, notionUrl: notion.url, notionParent: home.id };
  const { id } = await service.service.connections.add({
    integration: "notes",
    label: "Notion",
    settings,
    isDefault: true,
  });
  return { ...service, id };
}

const isNewPage = ({ method, path }: Asked) => method === "POST" && path === "pages";
const listTasks = () => {
  const tasks = home.children.filter((one) => notion.listTitles(home).length === 1 && one.kind === "page");
  return tasks.flatMap((one) => notion.listTitles(one)).sort();
};

test("the sync flow runs on Notion as on a folder: one page of each message, after one approval", async () => {
  const door = await open();
  const id = await startFlow(door, "mail_to_notes_tasks", { notionParent: "Tasks" });
  await awaitStatus(door, id, "waiting");
  expect(notion.listWrites()).toEqual([]);
  await send(door, `/api/flows/${id}/approve`);
  await awaitStatus(door, id, "completed");
  expect(listTasks()).toEqual([...SUBJECTS].sort());
  const { pages, created } = (await readFlow(door, id)).steps.at(-1).output;
  expect([created, new Set(pages.map((page: { page_id: string }) => page.page_id)).size]).toEqual([5, 5]);
  const page = await execute(door, "notes_read_page", { arguments: { page_id: pages[1].path } });
  expect(page.json.result).toMatchObject({
    title: "Invoice",
    tags: ["task", "mail"],
    properties: { status: "open", message_id: expect.any(String) },
  });
  expect(page.json.result.body).toBe(
    `- [ ] Invoice\n\nFrom: ana@example.com  \nDate: 2026-11-20T09:00:00.000Z\n\n> About Invoice.\n\n<!-- ${id}-002 -->\n`,
  );
});

async function startSync() {
  const door = await open();
  const tasks = notion.addPage(home, "Tasks");
  const id = await startFlow(door, "mail_to_notes_tasks", { notionParent: { page_id: tasks.id } });
  await awaitStatus(door, id, "waiting");
  return { door, id };
}

test("a page whose answer was lost is looked for at once, and the flow goes on", async () => {
  const { door, id } = await startSync();
  let pages = 0;
  notion.lose((one) => isNewPage(one) && ++pages === 3);
  await send(door, `/api/flows/${id}/approve`);
  await awaitStatus(door, id, "completed");
  expect(listTasks()).toEqual([...SUBJECTS].sort());
  expect(notion.asked.filter(isNewPage)).toHaveLength(5);
});

test("a page whose answer was lost is found by the resumed flow, although Notion's search does not know it yet", async () => {
  const { door, id } = await startSync();
  let pages = 0;
  let isDown = false;
  notion.lose((one) => {
    isDown = isNewPage(one) && ++pages === 3;
    return isDown;
  });
  notion.fail(() => (isDown ? { status: 500, body: "{}" } : undefined));
  await send(door, `/api/flows/${id}/approve`);
  await awaitStatus(door, id, "failed");
  expect(JSON.stringify((await readFlow(door, id)).steps.at(-1).error)).toContain("outcome_unknown");
  isDown = false;
  await send(door, `/api/flows/${id}/resume`);
  await awaitStatus(door, id, "completed");
  expect(listTasks()).toEqual([...SUBJECTS].sort());
  expect(notion.asked.filter(isNewPage)).toHaveLength(5);
});

test("kill -9 while Notion creates a page: resumed, none is made twice and none is missing", async () => {
  await (await open()).close();
  service = undefined;
  const first = await serveChild(CHILD, dataDir);
  const id = await startFlow(first, "mail_to_notes_tasks", { notionParent: "Tasks" });
  await awaitStatus(first, id, "waiting");
  let pages = 0;
  const killed = new Promise<void>((resolve) =>
    notion.lose(async (one) => {
      if (!isNewPage(one) || ++pages !== 4) return false;
      await killChild(first);
      resolve();
      return true;
    }),
  );
  await send(first, `/api/flows/${id}/approve`).catch(() => undefined);
  await killed;
  await awaitCompletion(await serveChild(CHILD, dataDir), id);
  expect(listTasks()).toEqual([...SUBJECTS].sort());
}, 60_000);

test("the reminder flow leaves its page in Notion", async () => {
  const door = await open();
  const text = `Water the plants\n\n${"a\n\n".repeat(150)}and the cat`;
  const id = await startFlow(door, "notes_reminder", { text, delaySeconds: 1, notionParent: "Reminders" });
  await awaitStatus(door, id, "waiting");
  await send(door, `/api/flows/${id}/approve`);
  await awaitStatus(door, id, "completed");
  const [page] = (await readFlow(door, id)).steps.at(-1).output.pages;
  const { body } = (await execute(door, "notes_read_page", { arguments: { page_id: page.page_id } })).json.result;
  expect(body).toBe(`${text}\n\n<!-- ${id}-001 -->\n`);
});

test("a human connects Notion in the dashboard, and a confirmed call writes there", async () => {
  service = await startTestService({ dataDir });
  const browser = openBrowser();
  await browser.open(await service.service.signInUrl());
  const path = `${service.url}/connect/notes`;
  const fields = {
    label: "Team notes",
    "set.notionUrl": notion.url,
    "set.notionParent": `https://www.notion.so/Home-${home.id.replaceAll("-", "")}`,
  };
  const submit = async (token: string, more = {}) =>
    browser.submit(path, {
      csrf: readCsrf(await browser.open(path)),
      access: "full",
      ...fields,
      "set.notionToken": token,
      ...more,
    });
  const folder = await mkdtemp(join(tmpdir(), "svc-notes-"));
  const wrong = await submit("ntn_wrong");
  expect([wrong.status, /id="set-notionToken-problem">([^<]*)/.exec(wrong.text)?.[1]]).toEqual([
    400,
    expect.stringContaining("API token is invalid"),
  ]);
  expect(wrong.text).not.toContain("ntn_wrong");
  const both = await submit(TOKEN, { "set.folder": folder });
  expect(/id="set-folder-problem">([^<]*)/.exec(both.text)?.[1]).toContain("must be empty");
  await rm(folder, { recursive: true });
  const done = await submit(TOKEN);
  expect([done.status, done.headers.location]).toEqual([303, "/connections?notice=connected"]);
  const connection = (await service.service.connections.list("notes")).find(({ label }) => label === "Team notes");
  const arguments_ = { title: "Milk", body: "2 l" };
  const asked = await execute(service, "notes_create_page", { arguments: arguments_, connectionId: connection?.id });
  expect([asked.status, notion.listTitles(home)]).toEqual([412, []]);
  const made = await execute(service, "notes_create_page", {
    arguments: arguments_,
    connectionId: connection?.id,
    confirmed: true,
  });
  expect([made.status, notion.listTitles(home)]).toEqual([200, ["Milk"]]);
  for (const page of [`/connections/${connection?.id}`, `/connections/${connection?.id}/reconnect`])
    expect((await browser.open(`${service.url}${page}`)).text).not.toContain(TOKEN);
});
