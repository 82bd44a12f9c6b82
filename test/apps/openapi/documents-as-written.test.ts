import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { prepareOpenApi } from "../../../src/apps/openapi/prepare-openapi.ts";
import { checkStrictly } from "../../../src/shared/schema-check/check-strictly.ts";

/** What documents offer, and which arguments are accepted for it. */

let folder: string;
let count = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-documents-"));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const SERVER = "https://echo.example.org";

async function prepare(document: object, baseUrl?: string) {
  count += 1;
  const file = join(folder, `${count}.json`);
  const whole = { openapi: "3.0.3", info: { title: "Echo", version: "1" }, servers: [{ url: SERVER }], ...document };
  await writeFile(file, JSON.stringify(whole));
  const { source, notes } = await prepareOpenApi({
    slug: "x",
    document: file,
    name: undefined,
    baseUrl,
    isPrivate: false,
    takesToken: false,
  });
  return { actions: source.content.actions, settings: source.content.settingsForm, notes };
}

const one = (operation: object, more: object = {}, [path, method] = ["/a", "get"]) =>
  prepare({ paths: { [path]: { [method]: operation } }, ...more });

const text = { type: "string" };
const query = (schema: object, name = "n") => ({ parameters: [{ name, in: "query", required: true, schema }] });
const json = (schema: object) => ({ requestBody: { required: true, content: { "application/json": { schema } } } });
const post = (schema: object, more: object = {}) => one(json(schema), more, ["/a", "post"]);

const accepts = (schema: Record<string, unknown>, args: Record<string, unknown>) =>
  checkStrictly(schema, args).kind === "valid";

describe("addresses", () => {
  test.each([
    ["https://h.example", "https://h.example/"],
    ["https://H.example:443/v1", "https://h.example/v1/"],
    ["//h.example", "https://h.example"],
  ])("%s is %s", async (shared, own) => {
    const paths = { "/a": { get: { servers: [{ url: own }] } } };
    expect((await prepare({ servers: [{ url: shared }], paths }, SERVER)).actions).toHaveLength(1);
  });

  test("of operations are that of the API, where the document has none", async () => {
    const servers = [{ url: SERVER }];
    const paths = { "/a": { servers, get: {} }, "/b": { get: { servers } } };
    expect((await prepare({ servers: undefined, paths })).actions).toHaveLength(2);
    expect((await prepare({ servers: undefined, paths }, "https://other.example.org")).actions).toHaveLength(2);
  });
});

describe("references", () => {
  const answer = (example: unknown) => ({ responses: { 200: { content: { "application/json": { example } } } } });
  const foreign = { members: [{ $ref: "https://other.example.com/u/1" }] };

  test.each([
    ["an example of an answer", answer(foreign)],
    ["an example of a schema", json({ type: "object", properties: { a: text }, example: foreign })],
    ["a default", query({ type: "object", default: foreign })],
    ["a value of a list", query({ enum: [foreign] })],
  ])("in %s are data, and nothing is fetched", async (_, operation) => {
    expect((await one(operation, {}, ["/a", "post"])).actions).toHaveLength(1);
  });

  test("a property may be called like a word for data", async () => {
    const schemas = { Name: { type: "string", maxLength: 3 } };
    const schema = { type: "object", properties: { example: { $ref: "#/components/schemas/Name" } } };
    const [action] = (await post(schema, { components: { schemas } })).actions;
    expect(action?.inputSchema).toMatchObject({ $defs: { Name: { maxLength: 3 } } });
  });

  test("one that leads nowhere is named, and ends no other operation", async () => {
    const { actions, notes } = await prepare({
      paths: { "/a": { get: query({ $ref: "#/components/schemas/Nope" }) }, "/b": { get: {} } },
    });
    expect(actions).toHaveLength(2);
    expect(notes).toContain(
      "GET /a: it refers to #/components/schemas/Nope, which is not there; any value is taken for it.",
    );
  });

  test("in 3.1, what stands beside one counts; in 3.0 it does not", async () => {
    const schemas = { M: { type: "string" }, B: { type: "object", properties: { x: text, y: text }, required: ["y"] } };
    const more = { openapi: "3.1.0", components: { schemas } };
    const beside = { $ref: "#/components/schemas/M", default: "b" };
    const [action] = (await one(query(beside, "m"), more)).actions;
    expect(action?.inputSchema.properties).toMatchObject({ m: { default: "b" } });
    const body = { $ref: "#/components/schemas/B", required: ["x"] };
    expect((await post(body, more)).actions[0]?.inputSchema.required).toEqual(["y", "x"]);
    expect((await post(body, { components: { schemas } })).actions[0]?.inputSchema.required).toEqual(["y"]);
  });
});

describe("secrets", () => {
  test("one that only an optional part needs leaves the rest", async () => {
    const log = { type: "object", properties: { api_key: text }, required: ["api_key"] };
    const schema = { type: "object", properties: { name: text, log }, required: ["name"] };
    const { actions, notes } = await post(schema);
    expect(actions).toHaveLength(1);
    expect(JSON.stringify(actions[0]?.inputSchema.properties)).toBe('{"name":{"type":"string"}}');
    expect(accepts(actions[0]?.inputSchema ?? {}, { name: "x" })).toBe(true);
    expect(accepts(actions[0]?.inputSchema ?? {}, { name: "x", log: { api_key: "k" } })).toBe(false);
    expect(notes.join()).toContain('"api_key"');
    expect((await post({ ...schema, required: ["name", "log"] }).catch((error: Error) => error)) instanceof Error).toBe(
      true,
    );
  });

  test.each(["oneOf", "anyOf"])("one that only an alternative of %s needs leaves the others", async (union) => {
    const kind = { type: "object", properties: { kind: text }, required: ["kind"] };
    const key = { type: "object", properties: { private_key: text }, required: ["private_key"] };
    const { actions } = await post({ [union]: [kind, key] });
    const schema = actions[0]?.inputSchema ?? {};
    expect(accepts(schema, { body: { kind: "a" } })).toBe(true);
    expect(accepts(schema, { body: { private_key: "k" } })).toBe(false);
  });

  test("an id of a thing in a path is none", async () => {
    const { actions, settings } = await one({}, {}, ["/keys/{access_key}", "get"]);
    expect(settings).toEqual([]);
    expect(actions[0]?.inputSchema.required).toEqual(["access_key"]);
  });

  test("the password of an account that is made or changed never comes from the connection", async () => {
    const user = { type: "object", properties: { name: text, password: text }, required: ["name", "password"] };
    const { actions, settings, notes } = await prepare({
      paths: { "/users": { get: {}, post: json(user) }, "/users/{id}": { put: json({ ...user, required: ["name"] }) } },
    });
    expect(settings).toEqual([]);
    expect(JSON.stringify(actions)).not.toContain('"setting"');
    expect(notes).toContain('POST /users: it needs a secret as its argument "password", and no model is given one.');
  });
});

describe("values", () => {
  test.each([
    [{ type: "string", enum: [1, 2] }, "1", "3"],
    [{ type: "boolean", enum: ["true"] }, true, false],
    [{ type: "integer", enum: ["1", "2"] }, 2, 3],
  ])("%j", async (schema, good, bad) => {
    const inputSchema = (await one(query(schema))).actions[0]?.inputSchema ?? {};
    expect([accepts(inputSchema, { n: good }), accepts(inputSchema, { n: bad })]).toEqual([true, false]);
  });

  test("a member that the server sets is needed by no part", async () => {
    const schemas = {
      Base: { type: "object", properties: { id: { ...text, readOnly: true }, n: text }, required: ["n"] },
    };
    const parts = [{ $ref: "#/components/schemas/Base" }, { type: "object", required: ["id", "n"] }];
    const inputSchema = (await post({ allOf: parts }, { components: { schemas } })).actions[0]?.inputSchema ?? {};
    expect(accepts(inputSchema, { body: { n: "x" } })).toBe(true);
    expect(accepts(inputSchema, { body: {} })).toBe(false);
  });

  test("alternatives that a member tells apart may overlap", async () => {
    const schemas = {
      Cat: { type: "object", properties: { kind: text, name: text }, required: ["kind"] },
      Dog: { type: "object", properties: { kind: text, name: text, bark: text }, required: ["kind"] },
    };
    const refs = ["Cat", "Dog"].map((name) => ({ $ref: `#/components/schemas/${name}` }));
    const pet = {
      oneOf: refs,
      discriminator: { propertyName: "kind", mapping: { cat: refs[0]?.$ref, dog: refs[1]?.$ref } },
    };
    const inputSchema = (await post(pet, { components: { schemas } })).actions[0]?.inputSchema ?? {};
    expect(accepts(inputSchema, { body: { kind: "cat", name: "Tom" } })).toBe(true);
  });

  test("formats are hints; a body takes members that it does not name, unless it says so", async () => {
    const formats = {
      u: { ...text, format: "uri" },
      h: { ...text, format: "hostname" },
      d: { ...text, format: "date-time" },
    };
    const open = (await post({ type: "object", properties: formats })).actions[0]?.inputSchema ?? {};
    expect(accepts(open, { u: "/relative", h: "my_host", d: "soon", extra: "2" })).toBe(true);
    const closed = await post({ type: "object", properties: formats, additionalProperties: false });
    expect(accepts(closed.actions[0]?.inputSchema ?? {}, { extra: "2" })).toBe(false);
  });
});

describe("operations", () => {
  test("of other methods are named", async () => {
    const { actions, notes } = await prepare({
      openapi: "3.2.0",
      paths: { "/a": { get: { deprecated: true }, options: {}, query: {}, additionalOperations: { COPY: {} } } },
    });
    expect(actions.map(({ description }) => description)).toEqual(["Deprecated. GET /a"]);
    for (const method of ["OPTIONS", "QUERY", "COPY"]) {
      expect(notes).toContain(`${method} /a is left out: this method is not used.`);
    }
  });
});
