import { createHash } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openPieces } from "./open-piece.ts";

const FIXTURE = fileURLToPath(new URL("../../../fixtures/pieces/parcel", import.meta.url));
const SECRET = "key-of-the-parcel-office";

let opened: Awaited<ReturnType<typeof openPieces>>;

beforeAll(async () => {
  opened = await openPieces([FIXTURE], [{ piece: "parcel", host: "api.parcel.test", settings: { secret: SECRET } }]);
}, 180_000);

beforeEach(() => {
  opened.api.seen.length = 0;
});

afterAll(() => opened?.close());

const tool = (id: string) => `parcel_${id}`;
const say = ({ status, body }: { status: number; body: { error: { code: string; retryable: boolean } } }) =>
  `${status} ${body.error.code} ${body.error.retryable}`;

test("a piece is installed without its scripts, with what npm checked it against", async () => {
  const source = await opened.desk.find("parcel");
  expect(source).toMatchObject({
    name: "Parcel",
    content: { description: "Sends parcels.", category: "commerce" },
    definition: {
      package: "@activepieces/piece-parcel",
      version: "1.2.3",
      integrity: expect.stringMatching(/^sha512-/),
      folder: "pieces/parcel/1.2.3",
    },
  });
  const files = await readdir(join(opened.service.dataDir, "pieces", "parcel"), { recursive: true });
  expect(files).toContain("1.2.3/node_modules/@activepieces/piece-parcel/src/index.js");
  expect(files.join()).not.toContain("scripts-ran");
  expect(JSON.stringify(source)).not.toContain(SECRET);
});

test("actions for agents become actions, levels by what they do; without a word they are confirmed writes", async () => {
  const { source, notes } = await opened.prepare("parcel", { slug: "parcel-two" });
  const actions = source.content.actions.map(
    ({ id, level, requiresConfirmation, idempotent }) => `${id} ${level} ${requiresConfirmation} ${idempotent}`,
  );
  expect(actions.slice(0, 7)).toEqual([
    "track read false true",
    "find read false true",
    "send write true false",
    "send_options_service read false true",
    "send_options_extras read false true",
    "send_options_routes read false true",
    "cancel delete true true",
  ]);
  expect(actions).toContain("vague write true false");
  expect(actions.join()).not.toContain("for_people");
  expect(notes).toEqual([
    expect.stringMatching(/^@activepieces\/piece-parcel 1\.2\.3, sha512-\S+: code of other people;/),
    "1 actions that are made for humans only are left out.",
    "1 actions do not say whether they only read; they count as writes and ask a human first.",
    'The field "shape" is of a kind that is not known here (HOLOGRAM) and takes plain text.',
  ]);
  expect(source.content.settingsForm).toEqual([
    { name: "secret", label: "API key", kind: "secret", help: "From your account." },
  ]);
});

test("fields become JSON Schema", async () => {
  const { body } = await opened.ask("/api/tools/parcel_send");
  const text = { type: "string", minLength: 1 };
  expect(body.tool.inputSchema).toEqual({
    type: "object",
    properties: {
      to: { type: "string", description: "Receiver" },
      service: { type: "string", description: 'How it travels. "parcel_send_options_service" lists its values.' },
      extras: { type: "object", description: 'Extras "parcel_send_options_extras" lists its fields.' },
      items: {
        type: "array",
        description: "Items",
        items: {
          type: "object",
          properties: {
            what: { type: "string", description: "What" },
            scan: {
              type: "object",
              description: "Scan",
              properties: { name: text, mimetype: text, s3key: text },
              required: ["name", "mimetype", "s3key"],
              file_uploadable: true,
            },
          },
          required: ["what"],
          additionalProperties: false,
        },
      },
      tags: { type: "array", items: { type: "string" }, description: "Tags" },
      size: {
        type: "string",
        enum: ["m", "l"],
        default: "m",
        description: 'Size Values: "m" (Medium), "l" (Large).',
      },
      days: {
        type: "array",
        items: { type: "number", enum: [1, 2] },
        description: "Days Values: 1 (Monday), 2 (Tuesday).",
      },
      routes: {
        type: "array",
        items: { type: "string" },
        description: 'Routes "parcel_send_options_routes" lists its values.',
      },
      weight: { type: "number", minimum: 0, maximum: 30, description: "Weight" },
      fragile: { type: "boolean", description: "Fragile" },
      day: { type: "string", format: "date-time", description: "Day" },
      customs: { type: ["object", "array"], description: "Customs" },
      labels: { type: "object", description: "Labels" },
      shape: { type: "string", description: "Shape" },
    },
    required: ["to", "service"],
    additionalProperties: false,
  });
});

test("a read reaches the provider with the connection's secret", async () => {
  opened.api.answer({ body: '{"at":"Lyon"}' }, { body: '[{"id":1}]' });
  expect(await opened.call(tool("track"), { id: "7" })).toMatchObject({
    status: 200,
    body: { result: { at: "Lyon" } },
  });
  expect(await opened.call(tool("find"))).toMatchObject({ status: 200, body: { result: [{ id: 1 }] } });
  const authorization = `Bearer ${SECRET}`;
  expect(opened.api.seen).toMatchObject([
    { method: "GET", path: "/v1/parcels/7", headers: { host: "api.parcel.test", authorization } },
    { method: "GET", path: "/v1/parcels", headers: { host: "api.parcel.test", authorization } },
  ]);
});

test("a write is confirmed first, then sent once, with its files, values of lists and defaults", async () => {
  const bytes = Buffer.from("%PDF-1.4\n%%EOF\n");
  const files = [
    {
      pointer: "here",
      name: "a.pdf",
      mimetype: "application/pdf",
      md5: createHash("md5").update(bytes).digest("hex"),
      dataBase64: bytes.toString("base64"),
    },
  ];
  const scan = { name: "a.pdf", mimetype: "application/pdf", s3key: "here" };
  const args = { to: "Ann", service: 'json:{"zone":3}', items: [{ what: "Book", scan }] };
  expect((await opened.call(tool("send"), args, { files })).status).toBe(412);
  expect(opened.api.seen).toEqual([]);
  expect((await opened.write(tool("send"), args, { files })).status).toBe(200);
  expect(opened.api.seen.map(({ body }) => JSON.parse(body.toString()))).toEqual([
    {
      to: "Ann",
      service: { zone: 3 },
      size: "m",
      items: [{ what: "Book", scan: ["a.pdf", bytes.toString("base64")] }],
    },
  ]);
});

test("values and fields of lists are looked up by actions of their own", async () => {
  expect((await opened.call(tool("send_options_service"))).status).toBe(400);
  opened.api.answer({ body: '{"services":[{"name":"Express","code":"ex"},{"name":"Zone 3","zone":3}]}' });
  const found = await opened.call(tool("send_options_service"), { to: "Ann", search: "e" });
  expect(found.body.result).toEqual({
    options: [
      { label: "Express", value: "ex" },
      { label: "Zone 3", value: 'json:{"zone":3}' },
    ],
  });
  expect(opened.api.seen.at(-1)?.path).toBe("/v1/services?to=Ann&search=e");
  expect((await opened.call(tool("send_options_extras"), { service: "ex" })).body.result).toEqual({
    fields: {
      type: "object",
      properties: { insured: { type: "boolean", description: "Insured by ex" } },
      required: ["insured"],
      additionalProperties: false,
    },
  });
});

test("files of a piece become files of the service", async () => {
  expect((await opened.call(tool("print_label"))).body.result).toEqual({
    labels: [
      { name: "label.pdf", mimetype: "application/pdf", size: 12, s3key: expect.any(String) },
      { name: "copy.txt", mimetype: "text/plain", size: 14, s3key: expect.any(String) },
    ],
  });
});

test.each([
  [400, {}, "track", "400 invalid_arguments false"],
  [403, {}, "track", "403 forbidden false"],
  [403, { "x-ratelimit-remaining": "0" }, "find", "429 rate_limited true"],
  [404, {}, "find", "404 not_found false"],
  [409, {}, "send", "409 conflict false"],
  [422, {}, "send", "400 invalid_arguments false"],
  [429, { "retry-after": "7" }, "find", "429 rate_limited true"],
  [429, { "retry-after": "7" }, "send", "429 rate_limited true"],
  [500, {}, "track", "503 provider_unavailable true"],
  [500, {}, "send", "500 outcome_unknown false"],
  [500, {}, "cancel", "503 provider_unavailable true"],
  [503, {}, "send", "503 provider_unavailable true"],
])("the provider's %i with %o in %s becomes %s", async (status, headers, action, expected) => {
  opened.api.answer({ status, headers, body: "Because." });
  const answer = await (action === "send"
    ? opened.write(tool(action), { to: "Ann", service: "ex" })
    : opened.write(tool(action), action === "find" ? {} : { id: "7" }));
  expect(say(answer)).toBe(expected);
  expect(answer.body.error.message).toContain(`Parcel answered ${expected.startsWith("429") ? 429 : status}`);
  if (status === 429) expect(answer.headers.get("retry-after")).toBe("7");
  expect(opened.api.seen).toHaveLength(1);
});

test("garbage and broken connections are named; a write is left in doubt, never sent again", async () => {
  opened.api.answer({ body: "<html>" }, { body: "<html>" }, { drop: true }, { drop: true }, { drop: true });
  const send = { to: "Ann", service: "ex" };
  expect(say(await opened.call(tool("track"), { id: "7" }))).toBe("500 provider_error false");
  expect(say(await opened.write(tool("send"), send))).toBe("500 outcome_unknown false");
  expect(say(await opened.call(tool("track"), { id: "7" }))).toBe("503 provider_unavailable true");
  expect(say(await opened.call(tool("find")))).toBe("503 provider_unavailable true");
  expect(say(await opened.write(tool("send"), send))).toBe("500 outcome_unknown false");
  expect(opened.api.seen).toHaveLength(5);
});

test("a piece that sends again by itself is stopped: the provider's answer counts, and it is asked once", async () => {
  const slow = { status: 429, headers: { "retry-after": "30" }, body: "Slow down." };
  for (const [action, args] of [
    ["insist", { pause: 0 }],
    ["insist", { pause: 600_000 }],
    ["insist_by_fetch", {}],
  ] as const) {
    opened.api.seen.length = 0;
    opened.api.answer(slow);
    const answer = await opened.write(tool(action), args);
    expect(say(answer)).toBe("429 rate_limited true");
    expect(answer.headers.get("retry-after")).toBe("30");
    expect(opened.api.seen).toHaveLength(1);
  }
});

test("a failure after a step that acted leaves the outcome unknown", async () => {
  opened.api.answer({ body: "{}" }, { status: 429, body: "" });
  const answer = await opened.write(tool("send_then_look"));
  expect(say(answer)).toBe("500 outcome_unknown false");
  expect(answer.body.canonical.outcome_unknown).toBe(true);
});

test.each([
  ["invalid_auth", "401 needs_reauth false"],
  ["missing_scope", "403 forbidden false"],
  ["ratelimited", "429 rate_limited true"],
  ["channel_not_found", "404 not_found false"],
  ["too_blue", "500 execution_failed false"],
])("the refusal %s inside an answer of 200 becomes %s", async (error, expected) => {
  opened.api.answer({ body: JSON.stringify({ ok: false, error }) });
  const answer = await opened.write(tool("refuse_inside"));
  expect(say(answer)).toBe(expected);
  expect(answer.body.error.message).toContain(error);
  await restoreConnection();
});

test("a failure that a piece catches and returns is a failure", async () => {
  opened.api.answer({ status: 404, body: "No such parcel." });
  expect(say(await opened.call(tool("excuse")))).toBe("404 not_found false");
});

test("a refused secret asks for a new one, and calls stop until there is one", async () => {
  opened.api.answer({ status: 401 });
  expect(say(await opened.call(tool("track"), { id: "7" }))).toBe("401 needs_reauth false");
  expect((await opened.call(tool("track"), { id: "7" })).body.canonical.recommended_next_action).toMatchObject({
    tool: "svc.connect_app",
    input: { force_reconnect: true },
  });
  expect(opened.api.seen).toHaveLength(1);
  await restoreConnection();
});

test("a connection without its secret is misconfigured", async () => {
  const [connection] = await opened.service.service.connections.list("parcel");
  await opened.service.service.connections.update(connection?.id ?? "", { settings: {} });
  const answer = await opened.call(tool("track"), { id: "7" });
  await opened.service.service.connections.update(connection?.id ?? "", { settings: { secret: SECRET } });
  expect(answer).toMatchObject({
    status: 422,
    body: { error: { code: "integration_misconfigured", message: "Parcel needs a value for API key." } },
  });
});

test("waiting for a human is not supported, and said before anything happens", async () => {
  expect(say(await opened.write(tool("wait")))).toBe("422 unsupported_operation false");
});

test("a piece's own words are told without the secret", async () => {
  const answer = await opened.call(tool("tell_secret"));
  expect(say(answer)).toBe("500 execution_failed false");
  expect(answer.body.error.message).toBe("Parcel: The token *** is too blue.");
});

test("a piece that dies or takes all memory hurts its own call only; a write is left in doubt", async () => {
  expect(say(await opened.write(tool("die")))).toBe("500 outcome_unknown false");
  const hog = await opened.call(tool("hog"));
  expect(say(hog)).toBe("500 execution_failed false");
  expect(hog.body.error.message).toBe("Parcel: It ran out of memory.");
  expect((await opened.write(tool("vague"))).body.result).toBe("done");
}, 180_000);

test("what a piece writes to the service without end is not collected", async () => {
  const flood = await opened.call(tool("flood"));
  expect(say(flood)).toBe("500 execution_failed false");
  expect(flood.body.error.message).toBe("Parcel: Its process said something that cannot be read.");
}, 180_000);

test("a piece sees no environment, no file but its own, and can start nothing", async () => {
  const file = join(opened.service.dataDir, "for-nobody");
  await writeFile(file, "x");
  const { result } = (await opened.call(tool("peek"), { file })).body;
  expect(result).toMatchObject({
    read: "ERR_ACCESS_DENIED",
    write: "ERR_ACCESS_DENIED",
    start: "ERR_ACCESS_DENIED",
    environment: [],
    argv: 2,
  });
  expect(() => process.kill(result.pid, 0)).toThrow();
  await expect(readFile(result.place)).rejects.toMatchObject({ code: "ENOENT" });
});

test("a piece reaches the public internet and the owner's hosts, not the rest of his network", async () => {
  const url = `${opened.service.url}/healthz`;
  for (const address of [url, "http://169.254.169.254/latest", "http://localhost:8080/", "http://[::1]:8080/"]) {
    const answer = await opened.call(tool("peek"), { url: address });
    expect(say(answer)).toBe("422 unsupported_operation false");
  }
  expect(say(await opened.call(tool("peek"), { url: "https://nowhere.parcel.test/" }))).toBe(
    "503 provider_unavailable true",
  );
});

async function restoreConnection() {
  const [connection] = await opened.service.service.connections.list("parcel");
  await opened.service.service.connections.update(connection?.id ?? "", { state: "healthy" });
}
