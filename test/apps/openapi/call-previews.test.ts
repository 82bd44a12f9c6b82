import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openApiKind } from "../../../src/apps/openapi/openapi-kind.ts";
import { prepareOpenApi } from "../../../src/apps/openapi/prepare-openapi.ts";
import { applyLevels } from "../../../src/apps/port/action-levels.ts";
import type { OpenSource } from "../../../src/apps/port/source.ts";
import { ServiceError } from "../../../src/service/service-error.ts";
import { listenPausably } from "../../service/pausable-server.ts";
import { createPreviewer, createRunner, refusal } from "../run-action.ts";

const RUNS = 50;
const TOKEN = "tok-1234567890";
const settings = { token: TOKEN };
const DOCUMENT = `
openapi: 3.0.3
info: { title: Tracker, version: "1" }
servers: [{ url: "https://tracker.example.org/v1" }]
security: [{ token: [] }]
components: { securitySchemes: { token: { type: http, scheme: bearer } } }
paths:
  /issues/{id}:
    parameters: [{ name: id, in: path, required: true, schema: { type: string } }]
    get: { operationId: getIssue }
    put:
      operationId: replaceIssue
      summary: Replace an issue
      requestBody: { content: { application/json: { schema: { type: object, properties: { title: { type: string }, text: { type: string } } } } } }
    patch:
      operationId: changeIssue
      requestBody: { content: { application/json: { schema: { type: object, properties: { title: { type: string }, text: { type: string }, labels: { type: array, items: { type: string } } } } } } }
    delete: { operationId: deleteIssue }
  /notes/{id}:
    parameters: [{ name: id, in: path, required: true, schema: { type: string } }]
    delete: { operationId: deleteNote }
  /pages/{id}:
    parameters: [{ name: id, in: path, required: true, schema: { type: string } }]
    get: { operationId: getPage, parameters: [{ name: view, in: query, required: true, schema: { type: string } }] }
    delete: { operationId: deletePage }
`;

/** Things of an API by their paths, with strong ETags where it is told to give them. */
const things = new Map<string, Record<string, unknown>>();
const seen: string[] = [];
let givesTags = false;
let onWrite: () => void = () => undefined;
let status = 0;
let source: OpenSource;
let stop: () => Promise<void>;

const toTag = (thing: unknown) => `"${Buffer.from(JSON.stringify(thing)).toString("base64url").slice(-40)}"`;

async function answer(request: IncomingMessage): Promise<{ status: number; body?: unknown; etag?: string }> {
  const { method = "", url = "", headers } = request;
  const body = await buffer(request);
  seen.push(`${method} ${url}`);
  if (method !== "GET") onWrite();
  const thing = things.get(url);
  if (method === "GET" && status !== 0) return { status, body: {} };
  if (thing === undefined && method !== "PUT") return { status: 404, body: { message: "Not here" } };
  if (method === "GET") return { status: 200, body: thing, ...(givesTags && { etag: toTag(thing) }) };
  if (givesTags && headers["if-match"] !== undefined && headers["if-match"] !== toTag(thing))
    return { status: 412, body: {} };
  if (method === "DELETE") things.delete(url);
  else things.set(url, { ...(method === "PATCH" && thing), ...JSON.parse(body.toString()) });
  return { status: 200, body: {} };
}

beforeAll(async () => {
  const server = createServer(async (request, response) => {
    const { status, body, etag } = await answer(request);
    response.writeHead(status, { "content-type": "application/json", ...(etag && { etag }) }).end(JSON.stringify(body));
  });
  const { port, close } = await listenPausably(server);
  const folder = await mkdtemp(join(tmpdir(), "svc-previews-"));
  await writeFile(join(folder, "api.yaml"), DOCUMENT);
  const place = { slug: "tracker", document: join(folder, "api.yaml"), name: undefined, takesToken: false };
  const prepared = await prepareOpenApi({ ...place, baseUrl: `http://127.0.0.1:${port}/v1`, isPrivate: true });
  const levels = { trusted: true };
  const stored = { ...prepared.source, levels, content: applyLevels(prepared.source.content, levels) };
  source = await openApiKind.open({ ...stored, proposal: undefined, revision: "1", addedAt: "" }, {
    log: () => undefined,
  } as never);
  stop = async () => {
    await source.close();
    await close();
    await rm(folder, { recursive: true, force: true });
  };
}, 60_000);
afterAll(() => stop());

beforeEach(() => {
  things.clear();
  things.set("/v1/issues/7", {
    id: 7,
    title: "Door stuck",
    text: "one\ntwo",
    labels: ["a"],
    api_key: "k-1",
    owner: TOKEN,
  });
  seen.length = 0;
  givesTags = false;
  status = 0;
  onWrite = () => undefined;
});

const preview = (action: string, args: Record<string, unknown>) =>
  createPreviewer(source.integration, { settings })(action, args);
const run = (action: string, args: Record<string, unknown>, expectedState: string) =>
  createRunner(source.integration, { settings, expectedState })(action, args);

test("a change shows its fields beside those that are there", async () => {
  const shown = await preview("changeIssue", { id: "7", title: "Door open", text: "one\n2", labels: ["a"] });
  expect(shown).toMatchObject({
    summary: 'Change 2 fields of "Door stuck" in "Test"',
    objects: [{ kind: "entry", name: "Door stuck" }],
    changes: [
      { field: "title", before: "Door stuck", after: "Door open" },
      { field: "text", diff: "@@ -1,2 +1,2 @@\n one\n-two\n+2" },
    ],
    effects: [{ code: "sends_outside", text: expect.stringContaining("127.0.0.1") }],
  });
  expect(seen).toEqual(["GET /v1/issues/7"]);
});

test("what is replaced or deleted is named, with what is lost", async () => {
  const replaced = await preview("replaceIssue", { id: "7", title: "New" });
  expect(replaced.summary).toBe('Replace "Door stuck" in "Test" (1 field change)');
  expect(replaced.effects[0]?.text).toContain("may be emptied: id, text, labels");
  expect(await preview("deleteIssue", { id: "7" })).toMatchObject({
    summary: 'Delete "Door stuck" in "Test"',
    effects: [{ code: "final" }, {}],
  });
  expect(await preview("replaceIssue", { id: "8", title: "New" })).toMatchObject({
    summary: 'Create something new in "Test" by "Replace an issue"',
    effects: [{ code: "creates" }, {}],
  });
  things.set("/v1/issues/9", { data: { name: "Inside", text: "x" } });
  expect((await preview("changeIssue", { id: "9", text: "y" })).summary).toBe('Change 1 field of "Inside" in "Test"');
});

test("no secret is shown, and no more than a preview may hold", async () => {
  const shown = await preview("deleteIssue", { id: "7" });
  expect(JSON.stringify(shown)).not.toMatch(/k-1|tok-12/);
  things.set("/v1/issues/8", { title: "Long", text: "ä".repeat(300_000) });
  const long = await preview("deleteIssue", { id: "8" });
  expect(Buffer.byteLength(JSON.stringify(long))).toBeLessThan(64 * 1024);
});

test("there is none without a GET that needs no more, and a missing thing is refused", async () => {
  const find = (id: string) => source.integration.actions.find((action) => action.id === id);
  expect([find("deleteNote")?.preview, find("getIssue")?.preview]).toEqual([undefined, undefined]);
  await expect(preview("deletePage", { id: "1" })).rejects.toThrow("no preview");
  expect(await refusal(preview("deleteIssue", { id: "8" }))).toMatchObject({ status: 404, code: "not_found" });
  status = 403;
  await expect(preview("deleteIssue", { id: "7" })).rejects.toThrow("no preview");
  status = 500;
  expect((await refusal(preview("deleteIssue", { id: "7" }))).status).toBe(503);
});

test("an app that tells versions compares them itself", async () => {
  givesTags = true;
  const { state } = await preview("changeIssue", { id: "7", title: "Mine" });
  onWrite = () => things.set("/v1/issues/7", { title: "Theirs, at the last moment" });
  const refused = await refusal(run("changeIssue", { id: "7", title: "Mine" }, state));
  expect([refused.status, refused.code]).toEqual([412, "state_changed"]);
  expect(things.get("/v1/issues/7")).toEqual({ title: "Theirs, at the last moment" });
});

test("nothing is sent for a state that was not shown", async () => {
  const counts = { same: 0, refused: 0 };
  const calls = fc.constantFrom<[string, Record<string, unknown>]>(
    ["changeIssue", { id: "7", title: "Mine" }],
    ["replaceIssue", { id: "7", title: "Mine" }],
    ["replaceIssue", { id: "8", title: "Mine" }],
    ["deleteIssue", { id: "7" }],
  );
  const kinds = fc.constantFrom("none", "field", "gone", "made", "other");
  await fc.assert(
    fc.asyncProperty(calls, kinds, fc.boolean(), async ([action, args], kind, tags) => {
      givesTags = tags;
      things.clear();
      things.set("/v1/issues/7", { title: "Door stuck" });
      const { state } = await preview(action, args);
      if (kind === "field") things.set("/v1/issues/7", { title: "Door stuck", text: "theirs" });
      if (kind === "gone") things.delete("/v1/issues/7");
      if (kind === "made") things.set("/v1/issues/8", { title: "Theirs" });
      if (kind === "other") things.set("/v1/issues/9", { title: "Theirs" });
      seen.length = 0;
      const done = await run(action, args, state).catch((error: unknown) => error);
      const isSame = args.id === "7" ? kind !== "field" && kind !== "gone" : kind !== "made";
      counts[isSame ? "same" : "refused"] += 1;
      expect(done instanceof ServiceError, `${action} ${kind}`).toBe(!isSame);
      expect(seen.filter((line) => !line.startsWith("GET"))).toHaveLength(isSame ? 1 : 0);
    }),
    { numRuns: RUNS },
  );
  console.log(`calls of an API: ${JSON.stringify(counts)}`);
  expect(counts.refused).toBeGreaterThan(RUNS / 10);
});
