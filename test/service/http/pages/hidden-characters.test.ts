import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { prepareMcp } from "../../../../src/apps/mcp/read-mcp-tools.ts";
import { prepareOpenApi } from "../../../../src/apps/openapi/prepare-openapi.ts";
import { openSourceAdmin } from "../../../../src/service/added/open-source-admin.ts";
import type { SourceRow } from "../../../../src/service/store/schema.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { startMockApi } from "../../../apps/openapi/mock-api.ts";
import { runSvc } from "../../../e2e/run-svc.ts";
import { closeAll, closeLater, makeFolder } from "../../../plugin/calls/open-test-session.ts";
import { waitForTool } from "../../added/wait-for-tool.ts";
import { findStore, openStoreOf } from "../../find-store.ts";
import { call, execute } from "../../http-calls.ts";
import { type Browser, openBrowser } from "./browser.ts";

/** Apps that draw with what they say of themselves: newly added, and stored by an earlier version. */

/** Override of the direction, terminal escape, bell, zero width space, line separator, tag letter, and a wide gap. */
const DRAWING = ["\u202e", "\u2066", "\u001b[31m", "\u0007", "\u200b", "\u2028", "\u{e0041}", "\u00ad"];
const DRAW = `${DRAWING.join("x")}y      z`;
const SERVER = fileURLToPath(new URL("../../../apps/mcp/hostile-server.ts", import.meta.url));

let service: TestService;
let home: string;
let browser: Browser;

beforeAll(async () => {
  home = await makeFolder();
  const api = closeLater(await startMockApi());
  service = closeLater(await startTestService());
  const place = { dataDir: service.dataDir, ...(await findStore(service.dataDir)) };
  const admin = await openSourceAdmin(place);
  const document = join(home, "door.json");
  await writeFile(document, JSON.stringify(createDocument(api.url)));
  const options = { slug: "door", document, name: undefined, baseUrl: undefined, isPrivate: true, takesToken: false };
  const door = (await prepareOpenApi(options)).source;
  const settings = Object.fromEntries(door.content.settingsForm.map(({ name }) => [name, "key-of-the-door"]));
  await admin.add(door, { connection: { label: door.name, settings } });
  const definition = { transport: "stdio", command: process.execPath, args: [SERVER, DRAW], env: [] } as const;
  const shown = { slug: "draws", name: undefined, definition: { ...definition, trusted: true } };
  const draws = (await prepareMcp(shown, {}, AbortSignal.timeout(30_000))).source;
  await admin.add(draws, { connection: { label: draws.name, settings: {} } });
  await admin.close();
  await storeAsBefore(api.url);
  for (const tool of ["door_look", "draws_look", "old_look"]) await waitForTool(service, tool);
  for (const tool of ["door_look", "draws_look", "draws_untitled", "old_look"]) {
    expect((await execute(service, tool, { arguments: {} })).status, tool).toBe(200);
  }
  browser = openBrowser();
  await browser.open(await service.service.signInUrl());
}, 120_000);

afterAll(closeAll);

function createDocument(url: string) {
  const key = { type: "apiKey", in: "header", name: "X-Key", description: `Key${DRAW}` };
  const look = { operationId: "look", summary: `Look${DRAW}`, description: `Looks.${DRAW}\n\nThen rests.` };
  return {
    openapi: "3.1.0",
    info: { title: `Door${DRAW}`, description: `A door.${DRAW}` },
    servers: [{ url }],
    security: [{ [`key${DRAW}`]: [] }, { other: [] }],
    components: { securitySchemes: { [`key${DRAW}`]: key, other: { type: "http", scheme: "bearer" } } },
    paths: { "/door": { get: look } },
  };
}

/** An app as an earlier version stored it: word for word what it said. */
async function storeAsBefore(baseUrl: string): Promise<void> {
  const action = {
    id: "look",
    title: `Look${DRAW}`,
    description: `Looks.${DRAW}`,
    level: "read",
    requiresConfirmation: false,
    idempotent: true,
    inputSchema: { type: "object", properties: {} },
    scopes: [],
    call: { method: "GET", path: "/door", parameters: [], body: null, security: [] },
  };
  const field = { name: "note", label: `Note${DRAW}`, kind: "text", help: `Help${DRAW}`, optional: true };
  const content = {
    description: `Old.${DRAW}`,
    category: `api${DRAW}`,
    scopes: [],
    actions: [action],
    settingsForm: [field],
    settingsHelp: `Help${DRAW}`,
  };
  const changed = { ...content, actions: [{ ...action, title: `New${DRAW}`, description: `New.${DRAW}` }] };
  const row: Omit<SourceRow, "proposal_dismissed"> = {
    slug: "old",
    kind: "openapi",
    name: `Old${DRAW}`,
    definition: JSON.stringify({ baseUrl, variables: [], isPrivate: true, origin: "old.json", schemes: {} }),
    content: JSON.stringify(content),
    digest: "0".repeat(64),
    proposed_content: JSON.stringify(changed),
    proposed_digest: "1".repeat(64),
    proposed_at: "2026-11-20T10:00:00.000Z",
    revision: "rev_old",
    added_at: "2026-11-20T10:00:00.000Z",
  };
  const store = await openStoreOf(service.dataDir);
  await store.insertInto("integration_sources").values(row).execute();
  const { id: account_id } = await store.selectFrom("accounts").select("id").executeTakeFirstOrThrow();
  const at = { created_at: "2026-11-20T10:00:00.000Z", updated_at: "2026-11-20T10:00:00.000Z" };
  const connection = {
    id: "con_old",
    account_id,
    integration: "old",
    label: `Old${DRAW}`,
    settings: "{}",
    scopes: "[]",
  };
  await store
    .insertInto("connections")
    .values({ ...connection, ...at, state: "healthy", is_default: 1 })
    .execute();
  await store.destroy();
}

function expectPlain(text: string, where: string): void {
  for (const drawing of DRAWING) {
    expect(text.includes(drawing), `${where} holds ${JSON.stringify(drawing)}`).toBe(false);
  }
}

/** Every text of an answer, as a client reads it. */
function listTexts(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(listTexts) : [];
}

test.each([
  "/",
  "/connections",
  "/connections/con_old",
  "/connections/con_old/reconnect",
  "/connect/door",
  "/connect/draws",
  "/connect/old",
  "/apps/old/review",
  "/log",
])("the page %s shows what they say without what draws", async (path) => {
  const page = await browser.open(`${service.url}${path}`);
  expect(page.status).toBe(200);
  expect(page.text).toMatch(/Door|Draws|Old/);
  expectPlain(page.text, path);
});

test.each([
  "/api/tools?limit=200",
  "/api/tools/door_look",
  "/api/tools/draws_look",
  "/api/tools/draws_untitled",
  "/api/integrations",
  "/api/actions?integration_id=draws",
  "/api/search?query=look",
])("the answer of %s, from which cards are made, holds nothing that draws", async (path) => {
  const answer = await call(`${service.url}${path}`, { key: service.apiKey });
  expect(answer.status).toBe(200);
  const texts = listTexts(answer.json);
  expect(texts.join()).toMatch(/look|draws/i);
  for (const text of texts) expectPlain(text, path);
});

test.each([["integrations"], ["tools", "--integration", "draws"], ["describe", "door_look"], ["search", "look"]])(
  "svc %s %s prints nothing that draws",
  async (...args) => {
    const env = { SVC_BASE_URL: service.url, SVC_API_KEY: service.apiKey };
    const run = await runSvc(args, home, { env });
    expect(run.code).toBe(0);
    expectPlain(run.stdout + run.stderr, args.join(" "));
  },
);

test("a title is one line without gaps, a description keeps its lines, and what is only drawn has the name of its action", async () => {
  const read = async (tool: string) =>
    (await call(`${service.url}/api/tools/${tool}`, { key: service.apiKey })).json.tool;
  const titles = (await call(`${service.url}/api/actions?integration_id=draws`, { key: service.apiKey })).json.items;
  expect(titles.map(({ title }: { title: string }) => title)).toEqual([
    expect.stringMatching(/^Look\\u202ex.*y z$/),
    expect.stringMatching(/^\\u202ex.*y z$/),
  ]);
  expect((await read("draws_look")).description).toMatch(/^Looks\.\\u202e[^\n]*\n\nThen rests\.$/);
});
