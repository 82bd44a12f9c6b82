import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createSourceStore } from "../../../../src/service/added/source-store.ts";
import type { Store } from "../../../../src/service/store/open-store.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { openStoreOf } from "../../find-store.ts";
import { execute } from "../../http-calls.ts";
import { type Owner, openOwner } from "../../sign-in/owner.ts";
import { invite, openBrowser } from "./browser.ts";

let service: TestService;
let store: Store;
let owner: Owner;

beforeEach(async () => {
  service = await startTestService();
  store = await openStoreOf(service.dataDir);
  await store.deleteFrom("api_keys").execute();
  owner = await openOwner(service);
});
afterEach(async () => {
  await store.destroy();
  await service.close();
});

const open = async (path: string) => (await owner.browser.open(`${service.url}${path}`)).text;
/** Titles of the steps on the home page, each with whether it is done. */
const readSteps = async () =>
  [...(await open("/")).matchAll(/<h3>([^<]+) <span class="tag \w+">([^<]+)/g)].map(([, title, state]) => [
    title,
    state,
  ]);

async function addDevice(client: string | null): Promise<void> {
  const { id: account_id } = await store.selectFrom("accounts").select("id").executeTakeFirstOrThrow();
  const times = { created_at: "2026-03-04T10:00:00.000Z", last_used_at: null, revoked_at: null };
  const row = { id: `key_${client}`, account_id, key_hash: `${client}`, last_four: "abcd", label: "Desk", client };
  await store
    .insertInto("api_keys")
    .values({ ...row, ...times })
    .execute();
}

async function addMail(): Promise<void> {
  const maildir = join(service.dataDir, "post");
  await mkdir(maildir);
  const settings = { maildir, address: "ana@example.org" };
  await service.service.connections.add({ integration: "mail", label: "Ana", settings });
}

async function addApp(): Promise<void> {
  const content = { description: "Door.", category: "api", scopes: [], actions: [], settingsForm: [] };
  const definition = { baseUrl: "https://door.example", variables: [], isPrivate: false, origin: "d", schemes: {} };
  const source = { slug: "door", name: "Door", kind: "openapi", definition, content } as const;
  await createSourceStore(store, Date.now).put(source as never);
}

test("a new owner is led by what there is to do, each with what to copy", async () => {
  const page = await open("/");
  expect(await readSteps()).toEqual([
    ["Pair a device", "To do"],
    ["Connect an MCP client", "To do"],
    ["Connect mail", "To do"],
    ["Add an app", "To do"],
  ]);
  expect(/<h2[^>]*>([^<]+)/.exec(page)?.[1]).toBe("First steps");
  expect(page).not.toContain("Nothing waits for you.");
  for (const text of [
    `svc pair --base-url ${service.url}`,
    `svc install --base-url ${service.url}`,
    `${service.url}/api/mcp`,
    "svc add NAME",
  ]) {
    expect(page).toContain(`<code>${text}</code>`);
  }
  expect(page).toContain("Only this machine can reach it");
  expect(page).toMatch(/href="\/connect\/mail">/);
});

test("each is ticked when it is done, and the list goes away with the last", async () => {
  const isDone = async () => (await readSteps()).map(([, state]) => state === "Done");
  await addDevice("cli");
  expect(await isDone()).toEqual([true, false, false, false]);
  await addDevice("claude-code");
  expect(await isDone()).toEqual([true, true, false, false]);
  await addMail();
  expect(await isDone()).toEqual([true, true, true, false]);
  await addApp();
  expect(await readSteps()).toEqual([]);
  expect(await open("/")).toContain("Nothing waits for you.");
});

test("a client that uses the key of a paired device is seen by its calls", async () => {
  const apiKey = await service.createKey();
  await store.updateTable("api_keys").set({ client: "cli" }).execute();
  expect((await readSteps())[1]).toEqual(["Connect an MCP client", "To do"]);
  await execute({ url: service.url, apiKey }, "drive_list_files");
  expect((await readSteps())[1]).toEqual(["Connect an MCP client", "Done"]);
});

test("an owner puts it away for all; the addresses stay on the devices page", async () => {
  const put = await owner.submit("/first-steps/hide", {});
  expect([put.status, put.headers.location]).toEqual([303, "/?notice=steps"]);
  expect(await open("/?notice=steps")).toContain("stand on the devices page");
  expect(await readSteps()).toEqual([]);
  owner = await openOwner(service);
  expect(await readSteps()).toEqual([]);
  const devices = await open("/devices");
  for (const text of [`svc pair --base-url ${service.url}`, `${service.url}/api/mcp`]) {
    expect(devices).toContain(`<code>${text}</code>`);
  }
});

test("an approver is not asked to set anything up", async () => {
  const guest = openBrowser();
  await guest.open(await invite(owner.browser, service.url, "Ben"));
  const { text } = await guest.open(`${service.url}/`);
  expect(text).toContain("Nothing waits for you.");
  expect(text).not.toContain("First steps");
});

test("home shows some connections, those that need help first, and leads to all", async () => {
  for (const label of ["One", "Two", "Three", "Four"]) {
    await service.service.connections.add({ integration: "drive", label, settings: {} });
  }
  const last = (await service.service.connections.list()).find(({ label }) => label === "Four");
  await service.service.connections.update(last?.id ?? "", { state: "error" });
  const card = /aria-labelledby="connections">[\s\S]*?<\/section>/.exec(await open("/"))?.[0] ?? "";
  const labels = [...card.matchAll(/\/connections\/con_\w+">([^<]+)/g)].map(([, label]) => label);
  expect(labels).toHaveLength(8);
  expect(labels).toEqual(expect.arrayContaining(["Four", "Local calendars", "Local drive", "Feeds", "Local mailbox"]));
  expect(labels[0]).toBe("Four");
  expect(card).toContain('<a href="/connections">All 10 connections</a>');
});
