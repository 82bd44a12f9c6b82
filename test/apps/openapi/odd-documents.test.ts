import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { buildRequest } from "../../../src/apps/openapi/build-request.ts";
import { operationCallSchema, readOpenApiDefinition } from "../../../src/apps/openapi/openapi-definition.ts";
import { prepareOpenApi } from "../../../src/apps/openapi/prepare-openapi.ts";
import { openSourceAdmin } from "../../../src/service/added/open-source-admin.ts";
import { startTestService } from "../../../src/testing.ts";
import { startMockApi } from "./mock-api.ts";

/** Documents that are valid but seldom, or nearly valid and common. */

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-odd-openapi-"));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const SERVER = "https://odd.example.org/v1";

async function prepare(paths: object, more: object = {}, file = "odd.json") {
  const document = join(folder, file);
  const whole = { openapi: "3.0.3", info: { title: "Odd", version: "1" }, servers: [{ url: SERVER }], paths, ...more };
  await writeFile(document, JSON.stringify(whole));
  return prepareAt(document);
}

const prepareAt = (document: string, more: object = {}) =>
  prepareOpenApi({
    slug: "odd",
    document,
    name: undefined,
    baseUrl: undefined,
    isPrivate: false,
    takesToken: false,
    ...more,
  });

const problemOf = (prepared: Promise<unknown>) =>
  prepared.then(
    () => "taken",
    (error: Error) => error.message,
  );

/** What the first operation sends for these arguments. */
async function write(path: string, method: string, operation: object, args: Record<string, unknown>) {
  const { source } = await prepare({ [path]: { [method]: operation } });
  const call = operationCallSchema.parse(source.content.actions[0]?.call);
  const connection = { integration: "odd", id: "c", label: "c", settings: {}, scopes: [], state: "healthy" as const };
  const file = () => {
    throw new Error("There is no file.");
  };
  const { url, body } = buildRequest(readOpenApiDefinition(source.definition), call, args, { connection, file });
  return decodeURIComponent(body === undefined ? url.href.slice(SERVER.length) : String(body));
}

const query = (name: string, more: object) => ({ parameters: [{ name, in: "query", ...more }] });

describe("parameters", () => {
  const OBJECT = { schema: { type: "object" } };

  test.each([
    ["an object, as the default says", OBJECT, { a: 1, b: "x" }, "?a=1&b=x"],
    ["an object, not exploded", { ...OBJECT, explode: false }, { a: 1, b: "x" }, "?f=a,1,b,x"],
    ["JSON", { content: { "application/json": OBJECT } }, { a: [1] }, '?f={"a":[1]}'],
    ["deep", { ...OBJECT, style: "deepObject" }, { a: { b: 1 }, c: ["x"] }, "?f[a][b]=1&f[c][0]=x"],
  ])("%s", async (_, more, value, expected) => {
    expect(await write("/q", "get", query("f", more), { f: value })).toBe(`/q${expected}`);
  });

  test("what stands in the path is asked for also when the document forgot it", async () => {
    const { source } = await prepare({ "/a/{id}/b": { get: { operationId: "a" } } });
    expect(source.content.actions[0]?.inputSchema).toMatchObject({ required: ["id"] });
    expect(await write("/a/{id}/b", "get", {}, { id: "x/y" })).toBe("/a/x/y/b");
  });

  test("a name in the path keeps its slashes where the document says so, and leads nowhere else", async () => {
    const name = { name: "id", in: "path", required: true, allowReserved: true, schema: { type: "string" } };
    const send = (id: string) => write("/a/{id}/b", "get", { parameters: [name] }, { id });
    expect(await send("projects/one two")).toBe("/a/projects/one two/b");
    for (const id of ["a/../../x", "/x", "a//b", "."]) {
      await expect(send(id)).rejects.toMatchObject({ code: "invalid_arguments" });
    }
  });

  test("an operation with a style that cannot be written is left out and named", async () => {
    const parameters = [{ name: "p", in: "path", required: true, style: "matrix", schema: { type: "string" } }];
    const { notes, source } = await prepare({ "/m/{p}": { get: { parameters } }, "/n": { get: {} } });
    expect(source.content.actions).toHaveLength(1);
    expect(notes).toContain('GET /m/{p}: "p" is to be written in the style "matrix", which is not supported.');
  });
});

test("members of a form are written as its encoding says", async () => {
  const schema = { type: "object", properties: { name: { type: "string" }, metadata: { type: "object" } } };
  const encoding = { metadata: { style: "deepObject", explode: true } };
  const requestBody = { content: { "application/x-www-form-urlencoded": { schema, encoding } } };
  const args = { name: "n", metadata: { a: "1", b: { c: "2" } } };
  expect(await write("/f", "post", { requestBody }, args)).toBe("name=n&metadata[a]=1&metadata[b][c]=2");
});

test("keywords no validator can use are dropped; what is meant by a type is kept", async () => {
  const properties = {
    a: { type: "float", required: true },
    b: { type: "string", pattern: "(?i)abc", enum: "abc" },
    c: { type: ["int", "null"], $id: "https://elsewhere.example.org/c" },
    d: { type: "file" },
    e: { $ref: "#Anchor" },
  };
  const requestBody = { content: { "application/json": { schema: { type: "object", properties } } } };
  const { source } = await prepare({ "/s": { post: { requestBody } } }, { openapi: "3.1.0" });
  expect(source.content.actions[0]?.inputSchema).toMatchObject({
    properties: { a: { type: "number" }, b: { type: "string" }, c: { type: ["integer", "null"] }, d: {} },
  });
  const text = JSON.stringify(source.content.actions[0]?.inputSchema);
  for (const gone of ["(?i)", "elsewhere", '"file"', '"Odd"', '"required"']) expect(text).not.toContain(gone);
});

test("an operation at another server is left out and named, and an address that is none refused", async () => {
  const servers = [{ url: "https://uploads.example.org" }];
  const { notes, source } = await prepare({ "/u": { post: { servers } }, "/v": { get: {} } });
  expect(notes).toContain("POST /u is left out: the document has it at https://uploads.example.org.");
  expect(source.content.actions.map(({ title }) => title)).toEqual(["GET /v"]);
  const open = prepare({ "/u": { get: {} } }, { servers: [{ url: "api/{base}" }] });
  expect(await problemOf(open)).toBe("The document does not say where the API is.");
});

describe("what a document refers to", () => {
  const refer = ($ref: string) => ({ "/r": { get: { operationId: "r", ...query("q", { schema: { $ref } }) } } });

  test("is read when it lies beside the document", async () => {
    await mkdir(join(folder, "parts"), { recursive: true });
    await writeFile(join(folder, "parts", "a b.json"), '{"type":"string","const":"beside"}');
    const { source } = await prepare(refer("./parts/a%20b.json"));
    expect(JSON.stringify(source.content.actions)).toContain("beside");
  });

  test("is not read when it is another file of the machine", async () => {
    const home = join(folder, "home");
    await mkdir(join(home, ".config"), { recursive: true });
    await writeFile(join(folder, "secret.json"), '{"type":"string","const":"secret"}');
    await writeFile(join(home, ".config", "key.json"), '{"type":"string","const":"secret"}');
    for (const place of ["../secret.json", join(folder, "secret.json"), `file://${folder}/secret.json`]) {
      expect(await problemOf(prepare(refer(place), {}, "home/odd.json"))).toMatch(/may refer only to files below/);
    }
    expect(await problemOf(prepare(refer(".config/key.json"), {}, "home/odd.json"))).toMatch(/may refer only to/);
    expect(await problemOf(prepare(refer("http://127.0.0.1:1/x"), {}, "home/odd.json"))).toMatch(/may refer only to/);
  });

  test("a document at an address refers to its own origin, and to no file", async () => {
    const asked: string[] = [];
    await writeFile(join(folder, "secret.json"), '{"type":"string","const":"secret"}');
    const others = createServer((_, response) => response.end('{"type":"string"}'));
    const server = createServer(({ url }, response) => {
      asked.push(url ?? "");
      if (url === "/moved") return response.writeHead(302, { location: addressOf(others) }).end();
      if (url === "/part") return response.end('{"type":"string","const":"own"}');
      if (url === "/page") return response.writeHead(200, { "content-type": "text/html" }).end("<html>Sign in</html>");
      if (url === "/gone") return response.writeHead(404).end();
      const info = { title: "Odd", version: "1" };
      const paths = refer(new URL(url ?? "", "http://x").searchParams.get("ref") ?? "");
      return response.end(JSON.stringify({ openapi: "3.0.3", info, servers: [{ url: SERVER }], paths }));
    });
    await Promise.all([server, others].map((one) => new Promise<void>((done) => one.listen(0, "127.0.0.1", done))));
    try {
      const say = (path: string) => problemOf(prepareAt(addressOf(server) + path));
      const sayRef = (ref: string) => say(`/?ref=${encodeURIComponent(ref)}`);
      expect(await sayRef("/part")).toBe("taken");
      const { source } = await prepareAt(`${addressOf(server)}/?ref=%2Fpart&token=tok-secret`);
      expect(source.definition).toMatchObject({ origin: `${addressOf(server)}/` });
      for (const ref of [`file://${folder}/secret.json`, `${addressOf(others)}/x`]) {
        expect(await sayRef(ref)).toBe(
          `The document cannot be read: it refers to ${ref}, and may refer only to addresses of ${addressOf(server)}; put everything into one document first.`,
        );
      }
      expect(await sayRef("/moved")).toMatch(/moved cannot be reached/);
      expect(await say("/page")).toBe(
        `The document cannot be read: ${addressOf(server)}/page answered with a web page.`,
      );
      expect(await say("/gone")).toBe(`The document cannot be read: ${addressOf(server)}/gone answered 404.`);
      expect(asked).not.toContain(`${folder}/secret.json`);
    } finally {
      for (const one of [server, others]) {
        one.closeAllConnections();
        one.close();
      }
    }
  });
});

const addressOf = (server: ReturnType<typeof createServer>) =>
  `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

test("an operation whose key the connection lacks is refused alone; the others go on working", async () => {
  const api = await startMockApi();
  const service = await startTestService();
  const admin = await openSourceAdmin({ dataDir: service.dataDir });
  try {
    const bearer = { type: "http", scheme: "bearer" };
    const securitySchemes = { user: bearer, admin: bearer, digest: { type: "http", scheme: "digest" } };
    const paths = {
      "/mine": { get: { operationId: "mine", security: [{ user: [] }] } },
      "/all": { get: { operationId: "all", security: [{ admin: [], digest: [] }] } },
    };
    await prepare(paths, { components: { securitySchemes } });
    const { source } = await prepareAt(join(folder, "odd.json"), { baseUrl: api.url, isPrivate: true });
    await admin.add(source, { connection: { label: "Odd", settings: { user: "tok" } } });
    const call = async (action: string) => {
      const headers = { "x-svc-api-key": service.apiKey, "content-type": "application/json" };
      const address = `${service.url}/api/tools/odd_${action}/execute`;
      const answer = await fetch(address, { method: "POST", headers, body: '{"arguments":{}}' });
      const { error } = (await answer.json()) as { error?: { code: string; message: string } };
      return [answer.status, error?.code, error?.message];
    };
    await vi.waitFor(async () => expect((await call("mine"))[0]).toBe(200), { timeout: 30_000, interval: 200 });
    expect(await call("all")).toEqual([
      422,
      "integration_misconfigured",
      "This connection lacks the key for it: admin and digest.",
    ]);
    expect((await call("mine"))[0]).toBe(200);
  } finally {
    await admin.close();
    await service.close();
    await api.close();
  }
});
