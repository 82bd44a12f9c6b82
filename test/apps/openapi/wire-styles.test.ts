import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildRequest } from "../../../src/apps/openapi/build-request.ts";
import { operationCallSchema, readOpenApiDefinition } from "../../../src/apps/openapi/openapi-definition.ts";
import { prepareOpenApi } from "../../../src/apps/openapi/prepare-openapi.ts";

/** What is sent for a value, to the byte, in each way that a document can ask for. */

let folder: string;
let count = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-wire-styles-"));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const SERVER = "https://echo.example.org";
const LIST = ["blue", "black", "brown"];
const OBJECT = { R: 100, G: 200, B: 150 };
const BYTES = Buffer.from([0, 255, 10]);
const FILE = { name: "a.png", mimetype: "image/png", s3key: "held" };

type Operation = Record<string, unknown>;

async function prepare(document: Operation) {
  count += 1;
  const file = join(folder, `${count}.json`);
  await writeFile(file, JSON.stringify({ info: { title: "Echo", version: "1" }, ...document }));
  return prepareOpenApi({
    slug: "x",
    document: file,
    name: undefined,
    baseUrl: undefined,
    isPrivate: false,
    takesToken: false,
  });
}

function prepareOne(version: string, operation: Operation, path = "/a", method = "get") {
  return prepare({ openapi: version, servers: [{ url: SERVER }], paths: { [path]: { [method]: operation } } });
}

async function send({ source }: Awaited<ReturnType<typeof prepare>>, args: Record<string, unknown>, index = 0) {
  const call = operationCallSchema.parse(source.content.actions[index]?.call);
  const connection = { integration: "x", id: "c", label: "c", settings: {}, scopes: [], state: "healthy" as const };
  const held = { ...FILE, size: 3, sha256: "", open: () => Readable.from([BYTES]) };
  const request = buildRequest(readOpenApiDefinition(source.definition), call, args, { connection, file: () => held });
  const body = request.body === undefined ? undefined : await readAll(request.body);
  return { target: request.url.href.slice(SERVER.length), headers: request.headers, body };
}

async function readAll(body: string | AsyncIterable<Uint8Array>): Promise<string> {
  if (typeof body === "string") return body;
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  return Buffer.concat(parts).toString("latin1");
}

const schemaOf = (value: unknown) => ({
  schema: { type: Array.isArray(value) ? "array" : typeof value === "object" ? "object" : typeof value },
});

describe("a query", () => {
  test.each<[string, object, unknown, string]>([
    ["form, list", {}, LIST, "?color=blue&color=black&color=brown"],
    ["form, list as one", { explode: false }, LIST, "?color=blue,black,brown"],
    ["a comma in an item", { explode: false }, ["a,b", "c"], "?color=a%2Cb,c"],
    ["form, object", {}, OBJECT, "?R=100&G=200&B=150"],
    ["form, object as one", { explode: false }, OBJECT, "?color=R,100,G,200,B,150"],
    ["spaces", { style: "spaceDelimited", explode: false }, LIST, "?color=blue%20black%20brown"],
    ["spaces, object", { style: "spaceDelimited", explode: false }, OBJECT, "?color=R%20100%20G%20200%20B%20150"],
    ["pipes", { style: "pipeDelimited", explode: false }, LIST, "?color=blue%7Cblack%7Cbrown"],
    ["pipes, object", { style: "pipeDelimited", explode: false }, OBJECT, "?color=R%7C100%7CG%7C200%7CB%7C150"],
    ["spaces as the default of the style", { style: "spaceDelimited" }, LIST, "?color=blue%20black%20brown"],
    ["deep", { style: "deepObject", explode: true }, OBJECT, "?color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150"],
    ["a space", {}, "a b", "?color=a%20b"],
    ["what else means something", {}, "a+b&c=d#e%f(!)", "?color=a%2Bb%26c%3Dd%23e%25f%28%21%29"],
    ["reserved characters", { allowReserved: true }, "/a:b,c?d", "?color=/a:b,c?d"],
    ["escapes", { allowReserved: true }, "%41%zz", "?color=%41%25zz"],
    ["never another parameter", { allowReserved: true }, "x&key=1#y+z", "?color=x%26key=1%23y%2Bz"],
    ["an empty text", {}, "", "?color="],
    ["an empty list", {}, [], ""],
    ["an empty object", {}, {}, ""],
    ["no value", {}, null, ""],
    ["no value in a list", {}, ["a", null, "b"], "?color=a&color=b"],
    ["no value in an object", {}, { a: null, b: 1 }, "?b=1"],
  ])("%s", async (_, how, value, expected) => {
    const parameter = { name: "color", in: "query", ...schemaOf(value), ...how };
    expect((await send(await prepareOne("3.1.0", { parameters: [parameter] }), { color: value })).target).toBe(
      `/a${expected}`,
    );
  });

  test.each([
    ["text/plain", "a", "?color=a"],
    ["application/json", { a: [1] }, "?color=%7B%22a%22%3A%5B1%5D%7D"],
    ["application/problem+json; v=1", "a", "?color=%22a%22"],
  ])("content %s", async (type, value, expected) => {
    const parameter = { name: "color", in: "query", content: { [type]: schemaOf(value) } };
    expect((await send(await prepareOne("3.0.3", { parameters: [parameter] }), { color: value })).target).toBe(
      `/a${expected}`,
    );
  });
});

describe("a path", () => {
  test.each<[string, object, unknown, string]>([
    ["simple", {}, LIST, "/blue,black,brown"],
    ["an object", {}, OBJECT, "/R,100,G,200,B,150"],
    ["an object, exploded", { explode: true }, OBJECT, "/R=100,G=200,B=150"],
    ["signs in an item", {}, ["a/b", "c,d"], "/a%2Fb,c%2Cd"],
    ["a part that keeps its slashes", { allowReserved: true }, "a/b:c", "/a/b:c"],
  ])("%s", async (_, how, value, expected) => {
    const parameter = { name: "color", in: "path", required: true, ...schemaOf(value), ...how };
    const prepared = await prepareOne("3.0.3", { parameters: [parameter] }, "/p/{color}");
    expect((await send(prepared, { color: value })).target).toBe(`/p${expected}`);
  });

  test.each([null, [], {}, ""])("no value: %j", async (value) => {
    const parameter = { name: "q", in: "path", required: true, schema: {} };
    const prepared = await prepareOne("3.1.0", { parameters: [parameter] }, "/p/{q}");
    await expect(send(prepared, { q: value })).rejects.toMatchObject({
      code: "invalid_arguments",
      message: expect.stringContaining("arguments.q"),
    });
  });
});

describe("a header and a cookie", () => {
  test.each<[string, object, unknown, string | undefined]>([
    ["list", {}, LIST, "blue,black,brown"],
    ["object", { explode: true }, OBJECT, "R=100,G=200,B=150"],
    ["no value", {}, null, undefined],
  ])("header, %s", async (_, how, value, expected) => {
    const parameter = { name: "X-A", in: "header", ...schemaOf(value), ...how };
    const { headers } = await send(await prepareOne("3.1.0", { parameters: [parameter] }), { "X-A": value });
    expect(headers["x-a"]).toBe(expected);
  });

  test.each<[string, object, unknown, string | undefined]>([
    ["text", {}, "a b", "color=a%20b"],
    ["object", {}, OBJECT, "R=100&G=200&B=150"],
    ["object as one", { explode: false }, OBJECT, "color=R,100,G,200,B,150"],
    ["in the style of cookies", { style: "cookie" }, OBJECT, "R=100; G=200; B=150"],
    ["no value", {}, null, undefined],
  ])("cookie, %s", async (_, how, value, expected) => {
    const parameter = { name: "color", in: "cookie", ...schemaOf(value), ...how };
    const { headers } = await send(await prepareOne("3.2.0", { parameters: [parameter] }), { color: value });
    expect(headers.cookie).toBe(expected);
  });

  test("what the connection itself says is no argument", async () => {
    const parameters = ["Expect", "Connection", "Transfer-Encoding", "TE"].map((name) => ({ name, in: "header" }));
    const { source } = await prepareOne("3.0.3", { parameters });
    expect(source.content.actions[0]?.inputSchema.properties).toEqual({});
  });
});

describe("a body", () => {
  const bodyOf = (type: string, properties: object, more: object = {}) => ({
    requestBody: { required: true, content: { [type]: { schema: { type: "object", properties }, ...more } } },
  });
  const text = { type: "string" };
  const FORM = "application/x-www-form-urlencoded";

  test.each<[string, object, unknown, string]>([
    ["a list", {}, LIST, "b=blue&b=black&b=brown"],
    ["a list as one", { style: "form", explode: false }, ["1", "2"], "b=1,2"],
    ["pipes", { style: "pipeDelimited", explode: false }, ["1", "2"], "b=1%7C2"],
    ["an object", {}, { a: 1 }, "b=%7B%22a%22%3A1%7D"],
    ["an object, member by member", { style: "form", explode: true }, OBJECT, "R=100&G=200&B=150"],
    ["deep", { style: "deepObject", explode: true }, { a: { b: 1 } }, "b%5Ba%5D%5Bb%5D=1"],
    ["JSON", { contentType: "application/json" }, [1, 2], "b=%5B1%2C2%5D"],
    ["no value", {}, null, ""],
  ])("form, %s", async (_, encoding, value, expected) => {
    const more = Object.keys(encoding).length === 0 ? {} : { encoding: { b: encoding } };
    const prepared = await prepareOne("3.0.3", bodyOf(FORM, { b: schemaOf(value).schema }, more), "/a", "post");
    expect(await send(prepared, { b: value })).toMatchObject({ body: expected, headers: { "content-type": FORM } });
  });

  const partsOf = (body: string | undefined) => (body ?? "").split(/--svc-[0-9a-f-]+(?:--)?\r\n/).slice(1, -1);

  test("multipart: no value is no part; a member has the type that its encoding names", async () => {
    const properties = { a: { ...text, nullable: true }, b: text, o: { type: "object" } };
    const encoding = { b: { contentType: "text/markdown" } };
    const prepared = await prepareOne("3.0.3", bodyOf("multipart/form-data", properties, { encoding }), "/a", "post");
    const { body } = await send(prepared, { a: null, b: "x", o: { n: 1 } });
    expect(partsOf(body)).toEqual([
      'content-disposition: form-data; name="b"\r\ncontent-type: text/markdown\r\n\r\nx\r\n',
      'content-disposition: form-data; name="o"\r\ncontent-type: application/json\r\n\r\n{"n":1}\r\n',
    ]);
  });

  test.each([
    ["application/json", "{}", "application/json"],
    [FORM, "", FORM],
    ["multipart/form-data", /^--svc-[0-9a-f-]+--\r\n$/, /^multipart\/form-data; boundary=/],
  ])("a required %s is sent also without a member", async (type, body, sentType) => {
    const sent = await send(await prepareOne("3.0.3", bodyOf(type, { x: text }), "/a", "post"), {});
    expect(sent.body).toEqual(typeof body === "string" ? body : expect.stringMatching(body));
    expect(sent.headers["content-type"]).toEqual(expect.stringMatching(sentType));
  });

  test.each(["application/json; version=2", "application/vnd.x+json; profile=a", "text/plain; charset=utf-8"])(
    "the type is sent as it is written: %s",
    async (type) => {
      const isText = type.startsWith("text");
      const schema = isText ? text : { type: "object", properties: { a: text } };
      const operation = { requestBody: { required: true, content: { [type]: { schema } } } };
      const sent = await send(await prepareOne("3.1.0", operation, "/a", "post"), isText ? { body: "x" } : { a: "x" });
      expect(sent.headers["content-type"]).toBe(type);
    },
  );

  test("a text in an encoding that cannot be written is left out and named", async () => {
    const content = { "text/plain; charset=utf-16": { schema: text } };
    await expect(prepareOne("3.0.3", { requestBody: { content } }, "/a", "post")).rejects.toThrow("utf-16");
  });

  test("members that are not named are sent too, but none that the connection gives", async () => {
    const prepared = await prepareOne("3.0.3", bodyOf("application/json", { a: text }), "/a", "post");
    expect((await send(prepared, { a: "1", extra: "2" })).body).toBe('{"a":"1","extra":"2"}');
    expect(prepared.source.content.actions[0]?.inputSchema.additionalProperties).toBeUndefined();
  });

  test("three parameters of one name, or nearly, each arrive where they belong", async () => {
    const parameters = [
      { name: "id", in: "path", required: true, schema: text },
      { name: "query_id", in: "query", schema: text },
      { name: "id", in: "query", schema: text },
    ];
    const prepared = await prepareOne("3.0.3", { parameters }, "/v/{id}");
    const names = Object.keys(prepared.source.content.actions[0]?.inputSchema.properties ?? {});
    expect(new Set(names).size).toBe(3);
    const [path, own, other] = names as [string, string, string];
    expect((await send(prepared, { [path]: "1", [own]: "2", [other]: "3" })).target).toBe("/v/1?query_id=2&id=3");
  });
});

describe("a file", () => {
  const post = (content: object) => ({ requestBody: { required: true, content } });
  const fileOf = (properties: unknown) => (properties as Record<string, { file_uploadable?: boolean }>) ?? {};

  test.each<[string, object]>([
    ["a media type of bytes", { type: "string", contentMediaType: "application/octet-stream" }],
    ["a media type alone", { contentMediaType: "image/png" }],
    ["of 3.0", { type: "string", format: "binary" }],
    ["that may be null", { type: ["string", "null"], format: "binary" }],
    ["in base64", { type: "string", contentMediaType: "image/png", contentEncoding: "base64" }],
  ])("%s is a member of a form", async (_, file) => {
    const content = { "multipart/form-data": { schema: { type: "object", properties: { file } } } };
    const prepared = await prepareOne("3.1.0", post(content), "/a", "post");
    expect(fileOf(prepared.source.content.actions[0]?.inputSchema.properties).file?.file_uploadable).toBe(true);
    const { body } = await send(prepared, { file: FILE });
    expect(body).toContain('name="file"; filename="a.png"\r\ncontent-type: image/png\r\n\r\n\u0000\u00ff\n\r\n');
  });

  test.each<[string, object]>([
    ["image/png", {}],
    ["*/*", { schema: { type: "string", format: "binary" } }],
    ["application/pdf", { schema: { type: "string", format: "binary" } }],
    ["video/*", {}],
  ])("%s is the whole body", async (type, media) => {
    const prepared = await prepareOne("3.1.0", post({ [type]: media }), "/a", "post");
    expect(fileOf(prepared.source.content.actions[0]?.inputSchema.properties).body?.file_uploadable).toBe(true);
    const { body, headers } = await send(prepared, { body: FILE });
    expect([body, headers["content-type"]]).toEqual(["\u0000\u00ff\n", "image/png"]);
  });

  test("in JSON is base64, and no storage key leaves", async () => {
    const file = { type: "string", contentMediaType: "image/png", contentEncoding: "base64" };
    const content = {
      "application/json": { schema: { type: "object", properties: { file, list: { type: "array", items: file } } } },
    };
    const prepared = await prepareOne("3.1.0", post(content), "/a", "post");
    expect((await send(prepared, { file: FILE, list: [FILE] })).body).toBe('{"file":"AP8K","list":["AP8K"]}');
  });

  test("beside JSON is an action of its own", async () => {
    const content = {
      "application/json": { schema: { type: "object", properties: { url: { type: "string" } } } },
      "multipart/form-data": { schema: { type: "object", properties: { file: { type: "string", format: "binary" } } } },
    };
    const prepared = await prepareOne("3.0.3", { operationId: "x_op", ...post(content) }, "/a", "post");
    expect(prepared.source.content.actions.map(({ id, title }) => [id, title])).toEqual([
      ["x_op", "POST /a"],
      ["x_op_with_file", "POST /a (with a file)"],
    ]);
    expect((await send(prepared, { url: "u" })).body).toBe('{"url":"u"}');
    expect((await send(prepared, { file: FILE }, 1)).body).toContain('filename="a.png"');
  });

  test("is never put into a form that cannot hold one", async () => {
    const file = { type: "string", format: "binary" };
    const content = { "application/x-www-form-urlencoded": { schema: { type: "object", properties: { file } } } };
    await expect(prepareOne("3.0.3", post(content), "/a", "post")).rejects.toThrow("with a file in it");
  });
});

test.each<[string, object, string, string | undefined]>([
  ["csv by default", {}, "/p/1,2?q=1,2", "f=1,2"],
  ["csv", { collectionFormat: "csv" }, "/p/1,2?q=1,2", "f=1,2"],
  ["ssv", { collectionFormat: "ssv" }, "/p/1%202?q=1%202", "f=1%202"],
  ["tsv", { collectionFormat: "tsv" }, "/p/1%092?q=1%092", "f=1%092"],
  ["pipes", { collectionFormat: "pipes" }, "/p/1%7C2?q=1%7C2", "f=1%7C2"],
  ["multi", { collectionFormat: "multi" }, "/p/1,2?q=1&q=2", "f=1&f=2"],
])("a list of Swagger 2.0: %s", async (_, how, target, body) => {
  const list = { type: "array", items: { type: "string" } };
  const inPath = how && "collectionFormat" in how && how.collectionFormat === "multi" ? {} : how;
  const prepared = await prepare({
    swagger: "2.0",
    host: "echo.example.org",
    paths: {
      "/p/{ids}": {
        post: {
          consumes: ["application/x-www-form-urlencoded"],
          parameters: [
            { name: "ids", in: "path", required: true, ...list, ...inPath },
            { name: "q", in: "query", ...list, ...how },
            { name: "f", in: "formData", ...list, ...how },
          ],
        },
      },
    },
  });
  const value = ["1", "2"];
  expect(await send(prepared, { ids: value, q: value, f: value })).toMatchObject({ target, body });
});

test("an app that was added with older words for styles is called as before", () => {
  const base = { argument: "a", name: "a", in: "query" };
  const { parameters, body } = operationCallSchema.parse({
    method: "POST",
    path: "/a",
    parameters: [
      { ...base, list: "repeat", deep: false, object: "members" },
      { ...base, list: ",", deep: false },
      { ...base, list: "|", deep: false },
      { ...base, list: ",", deep: false, object: "json" },
      { ...base, list: "repeat", deep: true },
      { ...base, in: "path", list: ",", deep: false, keepsSlashes: true },
    ],
    body: { type: "form", mimetype: "application/x-www-form-urlencoded", argument: null, deep: ["m"] },
    security: [],
  });
  expect(parameters.map(({ style, explode, allowReserved }) => [style, explode, allowReserved])).toEqual([
    ["form", true, undefined],
    ["simple", false, undefined],
    ["pipeDelimited", false, undefined],
    ["json", false, undefined],
    ["deepObject", true, undefined],
    ["simple", false, true],
  ]);
  expect(body?.encoding).toEqual({ m: { writing: { style: "deepObject", explode: true } } });
});
