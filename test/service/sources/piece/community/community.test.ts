import { createHash } from "node:crypto";
import { Validator } from "@cfworker/json-schema";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createArgumentGuard, projectToolSchema } from "../../../../../src/index.ts";
import { openBrowser, readCsrf } from "../../../pages/browser.ts";
import { openPieces } from "../open-piece.ts";
import { findPieces } from "./find-pieces.ts";

let opened: Awaited<ReturnType<typeof openPieces>>;

beforeAll(async () => {
  opened = await openPieces(findPieces() ?? [], [
    { piece: "notion", host: "api.notion.com", settings: { accessToken: "ntn_secret-of-notion" } },
    { piece: "slack", host: "slack.com", settings: { botToken: "xoxb-secret-of-slack" } },
  ]);
}, 180_000);

beforeEach(() => {
  opened.api.seen.length = 0;
});

afterAll(() => opened?.close());

const json = (value: unknown) => ({ body: JSON.stringify(value) });
const say = ({ status, body }: { status: number; body: { error: { code: string; retryable: boolean } } }) =>
  `${status} ${body.error.code} ${body.error.retryable}`;

test.each([
  ["notion", { read: 9, write: 9, delete: 4 }],
  ["slack", { read: 29, write: 26, delete: 3 }],
])("%s: every action for agents is listed, with a schema that compiles", async (slug, levels) => {
  const source = await opened.desk.find(slug);
  const actions = source?.content.actions ?? [];
  const count = (level: string) => actions.filter((action) => action.level === level).length;
  expect({ read: count("read"), write: count("write"), delete: count("delete") }).toEqual(levels);
  const tools = await opened.listTools(slug);
  expect(tools.toSorted()).toEqual(actions.map(({ id }) => `${slug}_${id}`).toSorted());
  for (const name of tools) {
    const { inputSchema, description } = (await opened.ask(`/api/tools/${name}`)).body.tool;
    expect(description).not.toBe("");
    expect(() => new Validator(inputSchema, "2020-12", false).validate({})).not.toThrow();
    expect(createArgumentGuard(inputSchema)({ "no such field": 1 }).ok).toBe(false);
    expect(projectToolSchema(inputSchema, { profile: "gemini" }).notes).toEqual([]);
  }
});

test("notion: a read and a confirmed write reach the API with the owner's token", async () => {
  const page = { id: "p1", object: "page", properties: { title: { type: "title", title: [{ plain_text: "Plan" }] } } };
  opened.api.answer(json({ results: [page], has_more: false }));
  const found = await opened.call("notion_search", { query: "Plan" });
  expect(found).toMatchObject({ status: 200, body: { result: { count: 1, results: [{ id: "p1", title: "Plan" }] } } });

  const draft = { parent_page_id: "p1", title: "Today", content: "# Hello" };
  expect((await opened.call("notion_create_page", draft)).status).toBe(412);
  opened.api.answer(json({ object: "page", id: "p2" }));
  const made = await opened.write("notion_create_page", draft);
  expect(made).toMatchObject({ status: 200, body: { result: { id: "p2" } } });

  const headers = { host: "api.notion.com", authorization: "Bearer ntn_secret-of-notion" };
  expect(opened.api.seen).toMatchObject([
    { method: "POST", path: "/v1/search", headers },
    { method: "POST", path: "/v1/pages", headers },
  ]);
  expect(JSON.parse(String(opened.api.seen[1]?.body))).toMatchObject({
    parent: { page_id: "p1" },
    children: [{ type: "heading_1" }],
  });
});

test.each([
  [401, "unauthorized", "notion_create_page", "401 needs_reauth false"],
  [403, "restricted_resource", "notion_search", "403 forbidden false"],
  [404, "object_not_found", "notion_create_page", "404 not_found false"],
  [409, "conflict_error", "notion_create_page", "409 conflict false"],
  [422, "validation_error", "notion_create_page", "400 invalid_arguments false"],
  [429, "rate_limited", "notion_query_database", "429 rate_limited true"],
  [429, "rate_limited", "notion_create_page", "429 rate_limited true"],
  [500, "internal_server_error", "notion_search", "503 provider_unavailable true"],
  [500, "internal_server_error", "notion_create_page", "500 outcome_unknown false"],
  [503, "service_unavailable", "notion_create_page", "503 provider_unavailable true"],
])("notion's %i %s in %s becomes %s", async (status, code, tool, expected) => {
  const headers = { "content-type": "application/json", ...(status === 429 && { "retry-after": "3" }) };
  opened.api.answer({ status, headers, ...json({ object: "error", status, code, message: "Because." }) });
  const args = { query: "x", database_id: "d1", parent_page_id: "p1" };
  const { inputSchema } = (await opened.ask(`/api/tools/${tool}`)).body.tool;
  const known = Object.entries(args).filter(([name]) => Object.hasOwn(inputSchema.properties, name));
  const answer = await opened.write(tool, Object.fromEntries(known));
  expect(say(answer)).toBe(expected);
  if (status === 429) expect(answer.headers.get("retry-after")).toBe("3");
  expect(opened.api.seen).toHaveLength(1);
  const [connection] = await opened.service.service.connections.list("notion");
  expect(connection?.state).toBe(status === 401 ? "reauth_required" : "healthy");
  await opened.service.service.connections.update(connection?.id ?? "", { state: "healthy" });
});

test("notion: garbage and a broken connection leave a write in doubt", async () => {
  opened.api.answer({ body: "<html>" }, { body: "<html>" }, { drop: true }, { drop: true });
  const draft = { parent_page_id: "p1", title: "Today" };
  expect(say(await opened.call("notion_search", { query: "x" }))).toBe("500 provider_error false");
  expect(say(await opened.write("notion_create_page", draft))).toBe("500 outcome_unknown false");
  expect(say(await opened.call("notion_search", { query: "x" }))).toBe("503 provider_unavailable true");
  expect(say(await opened.write("notion_create_page", draft))).toBe("500 outcome_unknown false");
  expect(opened.api.seen).toHaveLength(4);
});

test.each([
  [
    "notion",
    "accessToken",
    { status: 401, ...json({ status: 401, message: "API token is invalid." }) },
    "API token is invalid.",
  ],
  ["slack", "botToken", json({ ok: false, error: "invalid_auth" }), "Slack auth test failed: invalid_auth"],
])("%s: a wrong token is refused when it is entered, and a good one taken", async (slug, field, answer, words) => {
  const browser = openBrowser();
  await browser.open(await opened.service.service.signInUrl());
  const url = `${opened.service.url}/connect/${slug}`;
  const csrf = readCsrf(await browser.open(url));
  const enter = () => browser.submit(url, { csrf, label: "Another", [`set.${field}`]: "token-that-is-new" });
  opened.api.answer(answer);
  const refused = await enter();
  expect(refused.text).toContain(`It was refused: ${words}`);
  expect(refused.text).not.toContain("token-that-is-new");
  opened.api.answer(json({ ok: true }));
  expect((await enter()).headers.location).toBe("/connections?notice=connected");
  expect(opened.api.seen).toHaveLength(2);
  const [, added] = await opened.service.service.connections.list(slug);
  await opened.service.service.connections.remove(added?.id ?? "");
});

test("slack: a read and a confirmed write", async () => {
  opened.api.answer(json({ ok: true, channels: [{ id: "C1", name: "general", is_private: false }] }));
  expect((await opened.call("slack_list_channels")).body.result).toMatchObject({ count: 1, channels: [{ id: "C1" }] });
  opened.api.answer(json({ ok: true, ts: "1.2", channel: "C1" }));
  expect((await opened.write("slack_post_message", { channel: "C1", text: "Hello" })).body.result).toMatchObject({
    ts: "1.2",
  });
  const headers = { authorization: "Bearer xoxb-secret-of-slack" };
  expect(opened.api.seen).toMatchObject([
    { path: "/api/conversations.list", headers },
    { path: "/api/chat.postMessage", headers },
  ]);
});

test("slack: values of a list are looked up by an action of their own", async () => {
  opened.api.answer(json({ ok: true, channels: [{ id: "C1", name: "general" }] }));
  expect((await opened.call("slack_add_reaction_options_channel")).body.result).toEqual({
    options: [{ label: "general", value: "C1" }],
  });
});

test("slack: a local file is uploaded", async () => {
  opened.api.answer(
    json({ ok: true, upload_url: "https://slack.com/upload/1", file_id: "F1" }),
    { body: "OK" },
    json({ ok: true, files: [{ id: "F1" }] }),
  );
  const bytes = Buffer.from("%PDF-1.4\n%%EOF\n");
  const file = { name: "a.pdf", mimetype: "application/pdf", s3key: "here" };
  const md5 = createHash("md5").update(bytes).digest("hex");
  const files = [{ ...file, pointer: "here", md5, dataBase64: bytes.toString("base64") }];
  expect(await opened.write("slack_uploadFile", { file, channel: "C1" }, { files })).toMatchObject({ status: 200 });
  expect(opened.api.seen.map(({ path }) => path)).toEqual([
    "/api/files.getUploadURLExternal",
    "/upload/1",
    "/api/files.completeUploadExternal",
  ]);
  expect(opened.api.seen[1]?.body.includes(bytes)).toBe(true);
});

test.each([
  ["invalid_auth", "401 needs_reauth false"],
  ["missing_scope", "403 forbidden false"],
  ["channel_not_found", "404 not_found false"],
  ["msg_too_long", "500 execution_failed false"],
])("slack's refusal %s inside an answer of 200 becomes %s", async (error, expected) => {
  opened.api.answer(json({ ok: false, error }));
  expect(say(await opened.write("slack_post_message", { channel: "C1", text: "Hello" }))).toBe(expected);
  const [connection] = await opened.service.service.connections.list("slack");
  await opened.service.service.connections.update(connection?.id ?? "", { state: "healthy" });
});

test("slack: a piece that would wait and send again is stopped; a write is sent once", async () => {
  opened.api.answer({ status: 429, headers: { "retry-after": "30" }, body: "" });
  const limited = await opened.write("slack_post_message", { channel: "C1", text: "Hello" });
  expect(say(limited)).toBe("429 rate_limited true");
  expect(limited.headers.get("retry-after")).toBe("30");
  opened.api.answer({ status: 502, body: "" });
  expect(say(await opened.write("slack_post_message", { channel: "C1", text: "Hello" }))).toBe(
    "500 outcome_unknown false",
  );
  expect(opened.api.seen).toHaveLength(2);
});

test("slack: an action that waits for a human is refused before anything is sent", async () => {
  const answer = await opened.write("slack_request_approval_message", { channel: "C1", text: "May I?" });
  expect(say(answer)).toBe("422 unsupported_operation false");
  expect(opened.api.seen).toEqual([]);
});
