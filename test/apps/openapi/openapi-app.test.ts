import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { prepareOpenApi } from "../../../src/apps/openapi/prepare-openapi.ts";
import { openSourceAdmin, type SourceAdmin } from "../../../src/service/added/open-source-admin.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { startMockApi } from "./mock-api.ts";

let service: TestService;
let admin: SourceAdmin;
let folder: string;
let api: Awaited<ReturnType<typeof startMockApi>>;

const DOCUMENT = `
openapi: 3.0.3
info: { title: Tracker, version: "1", description: "Issues of a team.\\n\\nMore text." }
servers: [{ url: "https://tracker.example.org/v1" }]
security: [{ token: [] }]
components:
  securitySchemes:
    token: { type: http, scheme: bearer }
    legacy: { type: apiKey, in: query, name: api_key }
  parameters:
    Id: { name: id, in: path, required: true, schema: { type: string } }
  schemas:
    Issue:
      type: object
      required: [id, title]
      properties:
        id: { type: string, readOnly: true }
        title: { type: string, maxLength: 200, example: "Door stuck" }
        due: { type: string, format: date, nullable: true }
        weight: { type: number, minimum: 0, exclusiveMinimum: true }
        parent: { $ref: "#/components/schemas/Issue" }
paths:
  /issues:
    get:
      operationId: listIssues
      summary: List issues
      parameters:
        - { name: tag, in: query, schema: { type: array, items: { type: string } } }
        - { name: ids, in: query, explode: false, schema: { type: array, items: { type: integer } } }
        - { name: filter, in: query, style: deepObject, schema: { type: object, properties: { state: { type: string } } } }
        - { name: X-Team, in: header, schema: { type: string } }
    post:
      operationId: createIssue
      summary: Create an issue
      requestBody: { required: true, content: { application/json: { schema: { $ref: "#/components/schemas/Issue" } } } }
  /issues/{id}:
    parameters: [{ $ref: "#/components/parameters/Id" }]
    get: { operationId: getIssue, security: [{ legacy: [] }, { token: [] }] }
    put:
      operationId: replaceIssue
      requestBody: { content: { application/json: { schema: { type: object, properties: { id: { type: string }, title: { type: string } } } } } }
    delete: { operationId: deleteIssue }
  /issues/{id}/files:
    parameters: [{ $ref: "#/components/parameters/Id" }]
    get: { operationId: downloadFile }
    post:
      operationId: attachFile
      requestBody:
        content:
          multipart/form-data:
            schema: { type: object, required: [file], properties: { note: { type: string }, file: { type: string, format: binary } } }
  /open: { get: { operationId: readOpenly, security: [] } }
  /soap: { post: { operationId: soap, requestBody: { content: { application/soap: { schema: { type: string } } } } } }
`;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-openapi-"));
  await writeFile(join(folder, "tracker.yaml"), DOCUMENT);
  api = await startMockApi();
  service = await startTestService();
  admin = await openSourceAdmin({ dataDir: service.dataDir });
  const { source } = await prepareOpenApi({ ...place(), baseUrl: api.url, isPrivate: true });
  await admin.add(source, { connection: { label: "Tracker", settings: { token: "tok-123" } } });
  await vi.waitFor(async () => expect(await listTools()).not.toEqual([]), { timeout: 30_000, interval: 200 });
}, 60_000);

beforeEach(() => {
  api.seen.length = 0;
});

afterAll(async () => {
  await admin?.close();
  await service?.close();
  await api?.close();
  await rm(folder, { recursive: true, force: true });
});

function place() {
  const document = join(folder, "tracker.yaml");
  return { slug: "tracker", document, name: undefined, baseUrl: undefined, isPrivate: false, takesToken: false };
}

async function ask(
  path: string,
  body?: unknown,
): Promise<{ status: number; body: Record<string, unknown>; headers: Headers }> {
  const response = await fetch(service.url + path, {
    headers: { "x-svc-api-key": service.apiKey, "content-type": "application/json" },
    ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
  });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Record<string, unknown>,
  };
}

const call = (action: string, args: object = {}, more: object = {}) =>
  ask(`/api/tools/tracker_${action}/execute`, { arguments: args, ...more });
const write = (action: string, args: object) => call(action, args, { confirmed: true });

async function listTools(): Promise<string[]> {
  const { body } = await ask("/api/tools?integration=tracker");
  return (body.tools as { name: string }[]).map(({ name }) => name);
}

test("operations become actions with levels by method; what cannot be sent is left out and named", async () => {
  const { source, notes } = await prepareOpenApi(place());
  expect(source.name).toBe("Tracker");
  expect(source.definition).toMatchObject({
    baseUrl: "https://tracker.example.org/v1",
    isPrivate: false,
    origin: "tracker.yaml",
  });
  expect(source.content.description).toBe("Tracker: Issues of a team.");
  expect(
    source.content.actions.map(({ id, level, requiresConfirmation, idempotent }) => [
      id,
      level,
      requiresConfirmation,
      idempotent,
    ]),
  ).toEqual([
    ["listIssues", "read", false, true],
    ["createIssue", "write", true, false],
    ["getIssue", "read", false, true],
    ["replaceIssue", "write", true, true],
    ["deleteIssue", "delete", true, true],
    ["downloadFile", "read", false, true],
    ["attachFile", "write", true, false],
    ["readOpenly", "read", false, true],
  ]);
  expect(notes).toEqual([
    "Its calls go to https://tracker.example.org/v1.",
    "POST /soap: takes only application/soap, which cannot be sent.",
  ]);
  expect(source.content.settingsForm.map(({ name, kind, optional }) => [name, kind, optional])).toEqual([
    ["sign_in_with", "choice", true],
    ["token", "secret", true],
    ["legacy", "secret", true],
  ]);
});

test("schemas are JSON Schema 2020-12: null, bounds, no read-only members, references that may turn in circles", async () => {
  const { source } = await prepareOpenApi(place());
  const find = (id: string) => source.content.actions.find((action) => action.id === id)?.inputSchema;
  expect(find("createIssue")).toEqual({
    type: "object",
    properties: {
      title: { type: "string", maxLength: 200, examples: ["Door stuck"] },
      due: { type: ["string", "null"], description: "Format: date." },
      weight: { type: "number", exclusiveMinimum: 0 },
      parent: { $ref: "#/$defs/Issue" },
    },
    required: ["title"],
    $defs: {
      Issue: {
        type: "object",
        required: ["title"],
        properties: {
          title: { type: "string", maxLength: 200, examples: ["Door stuck"] },
          due: { type: ["string", "null"], description: "Format: date." },
          weight: { type: "number", exclusiveMinimum: 0 },
          parent: { $ref: "#/$defs/Issue" },
        },
      },
    },
  });
  // A member of the body and a parameter share a name: the body stays one argument.
  expect(Object.keys(find("replaceIssue")?.properties ?? {})).toEqual(["id", "body"]);
  expect(find("attachFile")?.properties).toMatchObject({ file: { type: "object", file_uploadable: true } });
});

test("parameters travel as the document says, with the connection's token", async () => {
  api.answer({ body: '[{"id":"7"}]' });
  const answer = await call("listIssues", {
    tag: ["a b", "c&d"],
    ids: [1, 2],
    filter: { state: "open" },
    "X-Team": "blue",
  });
  expect(answer).toMatchObject({ status: 200, body: { result: [{ id: "7" }] } });
  expect(api.seen).toMatchObject([
    {
      method: "GET",
      path: "/v1/issues?tag=a%20b&tag=c%26d&ids=1,2&filter%5Bstate%5D=open",
      headers: { authorization: "Bearer tok-123", "x-team": "blue" },
    },
  ]);
});

test("a body is sent once, after a confirmation", async () => {
  expect((await call("createIssue", { title: "Door" })).status).toBe(412);
  expect(api.seen).toEqual([]);
  api.answer({ status: 201, body: '{"id":"9"}' });
  expect(await write("createIssue", { title: "Door", due: null })).toMatchObject({
    status: 200,
    body: { result: { id: "9" } },
  });
  expect(api.seen.map(({ method, path, body }) => [method, path, body.toString()])).toEqual([
    ["POST", "/v1/issues", '{"title":"Door","due":null}'],
  ]);
  await write("replaceIssue", { id: "a/b", body: { id: "x", title: "T" } });
  expect(api.seen.at(-1)).toMatchObject({ method: "PUT", path: "/v1/issues/a%2Fb" });
});

const JSON_TYPE = { "content-type": "application/json" };

test("a write that was answered with too much was done all the same: its outcome is in doubt, a read just failed", async () => {
  const body = JSON.stringify("x".repeat(11 * 1024 * 1024));
  api.answer({ status: 201, body }, { body });
  const written = await write("createIssue", { title: "Long" });
  expect(written.body.error).toMatchObject({ code: "outcome_unknown", retryable: false });
  expect((await call("listIssues")).body.error).toMatchObject({ code: "provider_error" });
});

test.each([
  ["gzip", gzipSync],
  ["br", brotliCompressSync],
  ["deflate", deflateSync],
] as const)("an answer that is packed unasked (%s) is unpacked, and not beyond the limit", async (encoding, pack) => {
  const headers = { ...JSON_TYPE, "content-encoding": encoding };
  api.answer({ headers, body: pack('[{"id":"7"}]') }, { headers, body: pack(Buffer.alloc(64 * 1024 * 1024, 32)) });
  expect((await call("listIssues")).body.result).toEqual([{ id: "7" }]);
  expect(api.seen[0]?.headers["accept-encoding"]).toBe("identity");
  expect((await call("listIssues")).body.error).toMatchObject({ message: expect.stringContaining("longer than") });
  api.answer({ headers, body: "not packed at all" });
  expect((await call("listIssues")).body.error).toMatchObject({ code: "provider_unavailable" });
});

test("a path value cannot lead out of the API, and an operation without security gets no token", async () => {
  for (const id of ["..", ".", ""]) expect((await call("getIssue", { id })).status).toBe(400);
  await call("getIssue", { id: "../../admin" });
  expect(api.seen.map(({ path }) => path)).toEqual(["/v1/issues/..%2F..%2Fadmin"]);
  await call("readOpenly");
  expect(api.seen.at(-1)?.headers.authorization).toBeUndefined();
});

test("files go out as form parts and come in as files of the service", async () => {
  const bytes = Buffer.from("%PDF-1.4\n%%EOF\n");
  const file = { name: "a.pdf", mimetype: "application/pdf", s3key: "here" };
  const attachment = {
    pointer: "here",
    name: "a.pdf",
    mimetype: "application/pdf",
    md5: createHash("md5").update(bytes).digest("hex"),
    dataBase64: bytes.toString("base64"),
  };
  const sent = await call("attachFile", { id: "7", note: "n", file }, { confirmed: true, files: [attachment] });
  expect(sent.status).toBe(200);
  const form = api.seen[0];
  expect(form?.headers["content-type"]).toMatch(/^multipart\/form-data; boundary=/);
  expect(form?.body.toString("latin1")).toContain(
    'name="file"; filename="a.pdf"\r\ncontent-type: application/pdf\r\n\r\n%PDF-1.4\n%%EOF\n\r\n',
  );
  expect(form?.body.toString("latin1")).toContain('name="note"\r\n\r\nn\r\n');

  api.answer({
    headers: { "content-type": "application/pdf", "content-disposition": 'attachment; filename="b.pdf"' },
    body: bytes,
  });
  expect((await call("downloadFile", { id: "7" })).body.result).toEqual({
    file: { name: "b.pdf", mimetype: "application/pdf", size: bytes.length, s3key: expect.any(String) },
  });
});

test.each([
  [403, { "x-ratelimit-remaining": "0", "retry-after": "7" }, "429 rate_limited true", 429],
  [302, { location: "https://elsewhere.example.org/" }, "500 provider_error false", 302],
])("the API's %i with %o is not what it seems: %s", async (status, headers, expected, said) => {
  api.answer({ status, headers: { "content-type": "application/json", ...headers }, body: '{"message":"Because."}' });
  const answer = await call("listIssues");
  const error = answer.body.error as { code: string; retryable: boolean; message: string };
  expect(`${answer.status} ${error.code} ${error.retryable}`).toBe(expected);
  expect(error.message).toBe(`Tracker answered ${said}: Because.`);
  expect(answer.headers.get("retry-after")).toBe(said === 429 ? "7" : null);
  expect(api.seen).toHaveLength(1);
});

test("addresses are refused that are private, not encrypted or hold a password, each with what to do", async () => {
  const say = async (change: object) =>
    prepareOpenApi({ ...place(), ...change }).then(
      () => "taken",
      (error: Error) => error.message,
    );
  expect(await say({ baseUrl: "https://192.168.1.5/api" })).toBe("192.168.1.5 is not a public host.");
  expect(await say({ baseUrl: "http://tracker.example.org" })).toBe("http://tracker.example.org is not encrypted.");
  expect(await say({ baseUrl: "https://me:secret@tracker.example.org" })).not.toContain("secret");
  expect(await say({ baseUrl: "ftp://tracker.example.org" })).toBe("The document does not say where the API is.");
  await writeFile(join(folder, "old.json"), '{"swagger":"1.2","info":{"title":"x","version":"1"},"paths":{}}');
  expect(await say({ document: join(folder, "old.json") })).toBe(
    "The document cannot be read: Swagger 1.2 is too old; 2.0 can be read.",
  );
  await writeFile(join(folder, "no.json"), "{");
  expect(await say({ document: join(folder, "no.json") })).toMatch(/^The document cannot be read: /);
});
