import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openSourceAdmin } from "../../../src/service/added/open-source-admin.ts";
import type { SourceRow } from "../../../src/service/store/schema.ts";
import { startTestService } from "../../../src/testing.ts";
import { startMockApi } from "../../apps/openapi/mock-api.ts";
import { runSvc, startSvc } from "../../e2e/run-svc.ts";
import { closeAll, closeLater, makeFolder } from "../../plugin/calls/open-test-session.ts";
import { findStore, openStoreOf } from "../find-store.ts";
import { type Browser, openBrowser } from "../http/pages/browser.ts";
import { call, execute } from "../http-calls.ts";
import { RETIRED_CONNECTION, RETIRED_PIECE } from "./retired-piece.ts";

/** `svc serve` on a data folder whose added apps are a connector of an earlier version, and damaged in many ways. */

const FACTS = { requiresConfirmation: false, idempotent: true, scopes: [], level: "read", description: "Looks." };
const LOOK = {
  ...FACTS,
  id: "look",
  title: "Look",
  inputSchema: { type: "object", properties: {} },
  call: { method: "GET", path: "/door", parameters: [], body: null, security: [] },
};
const CONTENT = { description: "A door.", category: "api", scopes: [], actions: [LOOK], settingsForm: [] };
const contentOf = (...actions: object[]) => JSON.stringify({ ...CONTENT, actions });

/** What each damaged row has in the place of what it should have. */
const DAMAGES: Readonly<Record<string, Partial<Record<keyof SourceRow, unknown>>>> = {
  "content-empty": { content: "{}" },
  "content-broken": { content: '{"description":' },
  "content-none": { content: "" },
  "content-null": { content: "null" },
  "content-list": { content: "[]" },
  "content-bytes": { content: Buffer.from([0, 255, 254]) },
  "content-level": { content: contentOf({ ...LOOK, level: "most" }) },
  "content-schema": { content: contentOf({ ...LOOK, inputSchema: "none" }) },
  "content-twice": { content: contentOf(LOOK, LOOK) },
  "content-name": { content: contentOf({ ...LOOK, id: "look\u202e at" }) },
  "definition-empty": { definition: "{}" },
  "definition-broken": { definition: "{" },
  "definition-bytes": { definition: Buffer.from([128]) },
  "kind-other": { kind: "wasm" },
  "kind-wrong": { kind: "mcp" },
  "name-bytes": { name: Buffer.from([128]), content: "{}" },
  "name-hostile": { name: "Bank\u202e\u001b[31m<b>", content: "{}" },
};

/** Rows of which only the change that waits for the owner is damaged. */
const BAD_PROPOSALS: typeof DAMAGES = {
  "proposed-broken": { proposed_content: "{", proposed_digest: "0".repeat(64), proposed_at: "2026-11-20" },
  "proposed-empty": { proposed_content: "{}", proposed_digest: "0".repeat(64), proposed_at: "2026-11-20" },
  "proposed-half": { proposed_content: null, proposed_digest: "0".repeat(64), proposed_at: null },
  "proposed-bytes": { proposed_content: Buffer.from([128]), proposed_digest: "0", proposed_at: "" },
};

/** Connections of the app that is well. */
const BAD_CONNECTIONS: readonly Partial<Record<keyof typeof RETIRED_CONNECTION, unknown>>[] = [
  { settings: "no json" },
  { settings: "null" },
  { settings: JSON.stringify({ key: { sealed: "v1.of-another-time" } }) },
  { scopes: "no json" },
  { scopes: '{"a":1}' },
  { state: "odd" },
  { label: "Bank\u202e\u001b[31m" },
];

let folder: string;
let home: string;
let document: string;
let url: string;
let apiKey: string;
let browser: Browser;
let served: ReturnType<typeof startSvc>;
let started: string;

beforeAll(async () => {
  folder = await makeFolder();
  home = await makeFolder();
  const api = closeLater(await startMockApi());
  document = join(home, "door.json");
  const paths = { "/door": { get: { operationId: "look" } } };
  await writeFile(
    document,
    JSON.stringify({ openapi: "3.1.0", info: { title: "New door" }, servers: [{ url: api.url }], paths }),
  );
  const first = await startTestService({ dataDir: folder });
  apiKey = first.apiKey;
  await first.close();
  await damage(api.url);
  served = startSvc(["serve", "--port", "0", "--data", folder], home);
  closeLater({
    async close() {
      served.kill("SIGKILL");
      await served.done;
    },
  });
  const [, link = ""] = await served.waitFor(/Sign in: (\S+)/);
  url = new URL(link).origin;
  started = served.output();
  browser = openBrowser();
  await browser.open(link);
}, 120_000);

afterAll(closeAll);

async function damage(baseUrl: string): Promise<void> {
  const store = await openStoreOf(folder);
  const definition = JSON.stringify({ baseUrl, isPrivate: true, origin: "door.json", schemes: {} });
  const row = { ...RETIRED_PIECE, kind: "openapi", definition, content: JSON.stringify(CONTENT) };
  const rows = Object.entries({ good: {}, ...DAMAGES, ...BAD_PROPOSALS }).map(([slug, change]) => ({
    ...row,
    slug,
    name: `App ${slug}`,
    ...change,
  }));
  await store
    .insertInto("integration_sources")
    .values([RETIRED_PIECE, { ...row, slug: "drive" }, ...rows] as SourceRow[])
    .execute();
  const { id: account_id } = await store.selectFrom("accounts").select("id").executeTakeFirstOrThrow();
  const well = { ...RETIRED_CONNECTION, account_id, label: "Front door" };
  const connections = BAD_CONNECTIONS.map((change, index) => ({
    ...well,
    id: `con_damaged${index}`,
    integration: "good",
    is_default: 0,
    ...change,
  }));
  const apps = ["good", ...Object.keys(BAD_PROPOSALS)].map((integration) => ({
    ...well,
    id: `con_${integration}`,
    integration,
    settings: "{}",
  }));
  await store
    .insertInto("connections")
    .values([{ ...RETIRED_CONNECTION, account_id }, ...apps, ...connections] as (typeof well)[])
    .execute();
  await store.destroy();
}

const svc = (...args: string[]) => runSvc([...args, "--data", folder, "--yes"], home);
const get = (path: string) => call(`${url}${path}`, { key: apiKey });
const listTools = async () => (await get("/api/tools?limit=200")).json.tools.map(({ name }: { name: string }) => name);

/** Holds no character that draws something else than itself. */
function expectSeen(text: string): void {
  for (const hidden of ["\u202e", "\u001b"]) expect(text).not.toContain(hidden);
}

function readCard(page: string, slug: string): string {
  return new RegExp(`<section[^>]*aria-labelledby="app-${slug}">[\\s\\S]*?</section>`).exec(page)?.[0] ?? "";
}

test("a connector of activepieces says at the start that it stopped working, and what replaces it", () => {
  expect(started).toMatch(
    /error: The app "parcel" stopped working\. It is a connector of activepieces, and this version runs none of them\. Put .*"svc add mcp parcel --replace …".*"svc add openapi parcel --replace …".*"svc remove parcel"/,
  );
});

test("the list of integrations says the same, for people and for agents", async () => {
  const list = await runSvc(["integrations"], home, { env: { SVC_BASE_URL: url, SVC_API_KEY: apiKey } });
  expect(list.stdout).toMatch(/^parcel +Parcel +stopped working$/m);
  expect(list.stdout).toMatch(/^Parcel stopped working\. It is a connector of activepieces.*"svc remove parcel"/m);
  const { items } = (await get("/api/integrations?query=parcel&page_size=100")).json;
  expect(items).toContainEqual(
    expect.objectContaining({ integration_id: "parcel", connection_state: "error", capabilities: [] }),
  );
});

test("its actions are in no list, and a call of one says why it cannot be run", async () => {
  expect((await listTools()).filter((name: string) => name.startsWith("parcel_"))).toEqual([]);
  const said = {
    code: "integration_misconfigured",
    message: expect.stringMatching(/^Parcel stopped working\. It is a/),
  };
  const run = await execute({ url, apiKey }, "parcel_track", { arguments: { id: "1" } });
  expect([run.status, run.json.error]).toEqual([422, expect.objectContaining(said)]);
  const canonical = await call(`${url}/api/executions`, {
    method: "POST",
    key: apiKey,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ integration_id: "parcel", action_id: "track", input: { id: "1" } }),
  });
  expect(canonical.text).toContain("Parcel stopped working. It is a connector");
  expect((await browser.open(`${url}/connect/parcel`)).status).toBe(422);
  expect((await browser.open(`${url}/apps/parcel/review`)).status).toBe(422);
  const page = await browser.open(`${url}/connections/${RETIRED_CONNECTION.id}`);
  expect(page.text).toMatch(/Needs attention[\s\S]*This app stopped working\./);
});

test("damaged apps keep neither the page nor each other nor an app that is well from working", async () => {
  const page = await browser.open(`${url}/connections`);
  expect(page.status).toBe(200);
  for (const slug of [...Object.keys(DAMAGES), "parcel"]) {
    expect(readCard(page.text, slug), slug).toMatch(/This app stopped working\.<\/strong> .*svc remove/);
    expect(started).toContain(`The app "${slug}" stopped working.`);
  }
  expectSeen(page.text);
  expect(readCard(page.text, "name-hostile")).toContain("Bank\\u202e\\u001b[31m&lt;b&gt;");
  expect(started).toMatch(/The app "drive" is left out: this service has another app of that name\./);
  const usable = ["good", ...Object.keys(BAD_PROPOSALS)];
  for (const slug of usable) {
    expect(readCard(page.text, slug), slug).not.toContain("stopped working");
    expect((await browser.open(`${url}/apps/${slug}/review`)).status, slug).toBe(200);
    const run = await execute({ url, apiKey }, `${slug}_look`, { arguments: {}, connectionId: `con_${slug}` });
    expect(run.status, `${slug}: ${run.text}`).toBe(200);
  }
  const added = (await listTools()).filter((name: string) => name.endsWith("_look"));
  expect(added.sort()).toEqual(usable.map((slug) => `${slug}_look`).sort());
  expect((await execute({ url, apiKey }, "drive_list_files", { arguments: {} })).status).toBe(200);
});

test("a damaged connection needs attention and keeps no other from working", async () => {
  for (const [index] of BAD_CONNECTIONS.entries()) {
    const page = await browser.open(`${url}/connections/con_damaged${index}`);
    expect(page.status, `${index}`).toBe(200);
    expectSeen(page.text);
    if (index !== BAD_CONNECTIONS.length - 1) expect(page.text, `${index}`).toContain("Needs attention");
  }
});

test("every damaged app can be replaced, and taken away", async () => {
  for (const slug of ["content-empty", "content-bytes", "kind-other", "parcel", "proposed-broken"]) {
    const added = await svc("add", "openapi", slug, document, "--private", "--replace");
    expect(added, `${slug}: ${added.stderr}`).toMatchObject({ code: 0 });
  }
  await expect.poll(listTools).toContain("parcel_look");
  const put = readCard((await browser.open(`${url}/connections`)).text, "parcel");
  expect(put).toContain("Parcel office");
  expect(put).not.toContain("stopped working");
  for (const slug of ["content-broken", "name-hostile", "parcel", "drive"]) {
    const removed = await svc("remove", slug);
    expect(removed, `${slug}: ${removed.stderr}`).toMatchObject({ code: 0 });
    expectSeen(removed.stdout + removed.stderr);
  }
  const admin = await openSourceAdmin({ dataDir: folder, ...(await findStore(folder)) });
  for (const { slug } of await admin.list()) if (slug !== "good") expect(await admin.remove(slug), slug).toBe(true);
  await admin.close();
  await expect.poll(async () => (await browser.open(`${url}/connections`)).text).not.toContain("stopped working");
  expect((await listTools()).filter((name: string) => name.endsWith("_look"))).toEqual(["good_look"]);
}, 120_000);
