import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { prepareOpenApi } from "../../../src/apps/openapi/prepare-openapi.ts";
import { openSourceAdmin, type SourceAdmin } from "../../../src/service/added/open-source-admin.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { openBrowser } from "../../service/http/pages/browser.ts";
import { startMockApi } from "./mock-api.ts";

/** Documents in the shape of well-known ones, whose keys are arguments of every operation. */

const REAL = "4321:real-bot-token_of-the-owner";
const OF_MODEL = "xoxb-secret-that-a-model-holds";

let service: TestService;
let admin: SourceAdmin;
let folder: string;
let api: Awaited<ReturnType<typeof startMockApi>>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-credentials-"));
  api = await startMockApi();
  service = await startTestService();
  admin = await openSourceAdmin({ dataDir: service.dataDir });
});

beforeEach(() => {
  api.seen.length = 0;
});

afterAll(async () => {
  await admin?.close();
  await service?.close();
  await api?.close();
  await rm(folder, { recursive: true, force: true });
});

const text = { type: "string" };
const oauth = { type: "oauth2", flows: {} };
const post = (properties: object, required: string[] = [], type = "application/json") => ({
  requestBody: { content: { [type]: { schema: { type: "object", properties, required } } } },
});

async function prepare(slug: string, document: object, more: { baseUrl?: string; isPrivate?: boolean } = {}) {
  const file = join(folder, `${slug}.json`);
  const info = { title: slug, version: "1" };
  const servers = [{ url: "https://api.example.org" }];
  await writeFile(file, JSON.stringify({ openapi: "3.0.3", info, servers, ...document }));
  const place = { slug, document: file, name: undefined, baseUrl: undefined, isPrivate: false, takesToken: false };
  return prepareOpenApi({ ...place, ...more });
}

/** Adds the app and waits until the service offers it. */
async function add(slug: string, document: object, o: { baseUrl?: string; settings?: Record<string, string> }) {
  const { source, notes } = await prepare(slug, document, { baseUrl: o.baseUrl ?? api.url, isPrivate: true });
  await admin.add(source, o.settings === undefined ? {} : { connection: { label: slug, settings: o.settings } });
  const isThere = async () => expect((await ask(`/api/tools?integration=${slug}`)).body.count).toBeGreaterThan(0);
  await vi.waitFor(isThere, { timeout: 30_000, interval: 200 });
  return { source, notes };
}

async function ask(path: string, body?: unknown): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(service.url + path, {
    headers: { "x-svc-api-key": service.apiKey, "content-type": "application/json" },
    ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const call = (tool: string, args: object) => ask(`/api/tools/${tool}/execute`, { arguments: args, confirmed: true });
const codeOf = ({ body }: { body: Record<string, unknown> }) => (body.error as { code?: string } | undefined)?.code;

/** Everything that the service keeps, as text. */
async function readKept(): Promise<string> {
  const names = await readdir(service.dataDir, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return (await Promise.all(files.map((file) => readFile(file, "latin1")))).join("\n");
}

const argumentsOf = ({ content }: Awaited<ReturnType<typeof prepare>>["source"]) =>
  Object.fromEntries(
    content.actions.map(({ id, inputSchema }) => [id, Object.keys((inputSchema.properties ?? {}) as object)]),
  );

describe("a token that each operation takes beside its security scheme", () => {
  const token = (place: string) => ({
    ...{ name: "token", in: place, required: true, schema: text },
    description: "Authentication token. Requires scope: `chat:write`",
  });
  const CHAT = {
    components: { securitySchemes: { chatAuth: oauth } },
    security: [{ chatAuth: ["chat:write"] }],
    paths: {
      "/chat.post": { post: { operationId: "post", parameters: [token("header")], ...post({ text }) } },
      "/chat.list": { get: { operationId: "list", parameters: [token("query"), { name: "cursor", in: "query" }] } },
      "/chat.form": {
        post: {
          operationId: "form",
          ...post({ token: { ...text, description: "Authentication token." }, name: text }, ["token"]),
        },
      },
      "/chat.next": { get: { operationId: "next", parameters: [{ name: "page_token", in: "query", schema: text }] } },
    },
  };

  test("is the one field of the form, and travels as the scheme says", async () => {
    const { source } = await add("chat", CHAT, { settings: { chatauth: "real-token-of-the-owner" } });
    expect(argumentsOf(source)).toEqual({ post: ["text"], list: ["cursor"], form: ["name"], next: ["page_token"] });
    expect(source.content.settingsForm.map(({ name, kind }) => [name, kind])).toEqual([["chatauth", "secret"]]);
    await call("chat_post", { text: "hello" });
    await call("chat_list", {});
    await call("chat_form", { name: "n" });
    expect(api.seen.map(({ headers }) => headers.authorization)).toEqual(
      Array(3).fill("Bearer real-token-of-the-owner"),
    );
    expect(api.seen.map(({ path, headers, body }) => [path, headers.token, body.toString()])).toEqual([
      ["/v1/chat.post", undefined, '{"text":"hello"}'],
      ["/v1/chat.list", undefined, ""],
      ["/v1/chat.form", undefined, '{"name":"n"}'],
    ]);
  });

  test.each([
    ["post", { text: "hello", token: OF_MODEL }],
    ["list", { token: OF_MODEL }],
    ["form", { name: "n", token: OF_MODEL }],
  ])("is refused when a model sends it (%s): the provider does not get it, and no row keeps it", async (id, args) => {
    expect(codeOf(await call(`chat_${id}`, args))).toBe("invalid_arguments");
    const canonical = { integration_id: "chat", action_id: id, input: args, confirm: true };
    expect((await ask("/api/executions", canonical)).body).toMatchObject({ status: "failed" });
    expect(api.seen).toEqual([]);
    expect(await readKept()).not.toContain(OF_MODEL);
  });
});

describe("keys that the whole document shares", () => {
  const query = (name: string, description: string) => ({ name, in: "query", description, schema: text });
  const SHEETS = {
    paths: {
      "/sheets": {
        parameters: [
          query("access_token", "OAuth access token."),
          query("oauth_token", "OAuth 2.0 token for the current user."),
          query("key", "API key. Your API key identifies your project and provides you with API access."),
          query("pageToken", "Page token to retrieve a specific page."),
        ],
        get: { operationId: "list" },
        post: { operationId: "make", ...post({ title: text }) },
      },
    },
  };

  test("become fields of the connection, and are set by the service", async () => {
    const settings = { access_token: "real-access-token", key: "real-api-key" };
    const { source } = await add("sheets", SHEETS, { settings });
    expect(argumentsOf(source)).toEqual({ list: ["pageToken"], make: ["pageToken", "title"] });
    expect(source.content.settingsForm.map(({ name, kind, optional }) => [name, kind, optional])).toEqual([
      ["access_token", "secret", true],
      ["oauth_token", "secret", true],
      ["key", "secret", true],
    ]);
    await call("sheets_list", { pageToken: "p2" });
    expect(api.seen.map(({ path }) => path)).toEqual([
      "/v1/sheets?pageToken=p2&access_token=real-access-token&key=real-api-key",
    ]);
    expect(codeOf(await call("sheets_list", { key: OF_MODEL }))).toBe("invalid_arguments");
    expect(await readKept()).not.toMatch(/real-access-token|real-api-key/);
  });

  test("a scheme that no operation asks for by itself is the field of its parameter", async () => {
    const boards = {
      components: { securitySchemes: { boardKey: { type: "apiKey", in: "query", name: "key" } } },
      paths: { "/b": { get: { parameters: [{ name: "key", in: "query", required: true, schema: text }] } } },
    };
    const { source } = await prepare("boards", boards);
    expect(source.content.settingsForm).toMatchObject([{ name: "boardkey", kind: "secret" }]);
    expect(source.content.actions[0]?.inputSchema).toMatchObject({ properties: {} });
  });
});

describe("a token in the address", () => {
  const EXAMPLE = "123456:ABC-DEF1234ghIkl-zyx57W2v1u123ew11";
  const variables = { token: { default: EXAMPLE, description: "Each bot has a token." } };
  const BOT = {
    servers: [{ url: "https://api.bots.example.org/bot{token}", variables }],
    paths: { "/sendMessage": { post: { operationId: "send", ...post({ text }) } } },
  };

  test("is a field of the connection; the example of the document is used by nobody", async () => {
    const { source, notes } = await prepare("bot", BOT);
    expect(JSON.stringify([source, notes])).not.toContain(EXAMPLE);
    expect(notes[0]).toBe("Its calls go to https://api.bots.example.org/bot{token}.");
    expect(source.content.settingsForm).toMatchObject([{ name: "token", kind: "secret" }]);
    expect(source.content.settingsForm[0]?.optional).toBeUndefined();
  });

  test("nothing is called before it is given; then it is in the address of calls and nowhere else", async () => {
    const baseUrl = api.url.replace("/v1", "/bot{token}");
    await add("bot", BOT, { baseUrl });
    expect(codeOf(await call("bot_send", { text: "hello" }))).toBe("needs_connection");
    expect(api.seen).toEqual([]);
    const { id } = await service.service.connections.add({ integration: "bot", label: "Bot", settings: {} });
    expect(codeOf(await call("bot_send", { text: "hello" }))).toBe("integration_misconfigured");
    await service.service.connections.update(id, { settings: { token: REAL } });
    expect((await call("bot_send", { text: "hello" })).status).toBe(200);
    const answer = { status: 400, body: JSON.stringify({ message: `no such chat at /bot${REAL}/sendMessage` }) };
    api.answer(answer);
    expect((await call("bot_send", { text: "hello" })).body.error).toMatchObject({
      message: "bot answered 400: no such chat at /bot[hidden]/sendMessage",
    });
    expect(api.seen.map(({ path }) => path)).toEqual(Array(2).fill(`/bot${REAL}/sendMessage`));
    expect(await readKept()).not.toContain(REAL);
    const browser = openBrowser();
    await browser.open(await service.service.signInUrl());
    for (const page of ["/", "/log", "/connections", `/connections/${id}/reconnect`]) {
      expect((await browser.open(service.url + page)).text).not.toContain("real-bot-token");
    }
  });

  test.each(["../../admin", "a/../b", ".."])("cannot lead out of the API: %s", async (token) => {
    const [connection] = await service.service.connections.list("bot");
    await service.service.connections.update(connection?.id ?? "", { settings: { token } });
    expect(codeOf(await call("bot_send", { text: "hello" }))).toBe("integration_misconfigured");
    expect(api.seen).toEqual([]);
  });
});

describe("an open part of the host", () => {
  const LISTS = {
    servers: [{ url: "https://{dc}.api.example.org/{version}", variables: { dc: {}, version: { default: "3.0" } } }],
    components: { securitySchemes: { basic: { type: "http", scheme: "basic" } } },
    security: [{ basic: [] }],
    paths: { "/lists": { get: { operationId: "lists" } } },
  };

  test("is asked for in clear; one with a default may be left empty", async () => {
    const { source } = await prepare("lists", LISTS);
    expect(source.content.settingsForm.map(({ name, kind, optional }) => [name, kind, optional])).toEqual([
      ["dc", "text", undefined],
      ["version", "text", true],
      ["basic_user", "text", undefined],
      ["basic", "secret", undefined],
    ]);
  });

  test("cannot be filled with another host", async () => {
    const { port } = new URL(api.url);
    const settings = { dc: "127.0.0.1", basic_user: "me", basic: "real-password" };
    await add("lists", LISTS, { baseUrl: `http://{dc}:${port}/{version}`, settings });
    expect((await call("lists_lists", {})).status).toBe(200);
    expect(api.seen.map(({ path }) => path)).toEqual(["/3.0/lists"]);
    const [connection] = await service.service.connections.list("lists");
    for (const dc of ["evil.example.org/x#", "evil.example.org?", "me@evil.example.org", "evil.example.org/"]) {
      await service.service.connections.update(connection?.id ?? "", { settings: { ...settings, dc } });
      expect(codeOf(await call("lists_lists", {}))).toBe("integration_misconfigured");
    }
    expect(api.seen).toHaveLength(1);
  });
});

test("an app that was added when keys were arguments does not offer what takes one", async () => {
  const { source } = await prepare("older", { paths: { "/a": { get: { operationId: "safe" } } } });
  const [safe] = source.content.actions;
  if (safe === undefined) throw new Error("There is no action.");
  const parameters = [{ argument: "token", name: "token", in: "query", list: "repeat", deep: false }];
  const inputSchema = { type: "object", properties: { token: text } };
  const old = { ...safe, id: "old", inputSchema, call: { ...(safe.call as object), parameters } };
  await admin.add({ ...source, content: { ...source.content, actions: [safe, old] } });
  const names = async () => (await ask("/api/tools?integration=older")).body.tools;
  await vi.waitFor(async () => expect(await names()).toMatchObject([{ name: "older_safe" }]), 30_000);
});

test("a secret that belongs to no connection: what needs it is left out and named, what does not goes without", async () => {
  const nested = { type: "object", properties: { url: text, secret: text }, required: ["url"] };
  const people = {
    paths: {
      "/people": { post: { operationId: "make", ...post({ name: text, password: text }, ["name", "password"]) } },
      "/people/{id}": { patch: { operationId: "change", ...post({ name: text, password: text }) } },
      "/hooks": { post: { operationId: "hook", ...post({ config: nested }) } },
      "/values/{key}": {
        get: {
          operationId: "value",
          parameters: [{ name: "token", in: "query", description: "Continue at this page.", schema: text }],
        },
      },
      "/a": { post: { operationId: "a", ...post({ name: text }) } },
      "/b": { post: { operationId: "b", ...post({ name: text }) } },
    },
  };
  const { source, notes } = await prepare("people", people);
  expect(argumentsOf(source)).toEqual({
    ...{ change: ["id", "name"], hook: ["config"], value: ["token", "key"] },
    ...{ a: ["name"], b: ["name"] },
  });
  expect(notes).toContain('POST /people: it needs a secret as its argument "password", and no model is given one.');
  expect(notes).toContain(
    'One action does without the argument "password": it holds a secret, and no model is given one.',
  );
  expect(JSON.stringify(source.content.actions.find(({ id }) => id === "hook")?.inputSchema)).toContain(
    '"propertyNames":{"not":{"enum":["secret"]}}',
  );
});
