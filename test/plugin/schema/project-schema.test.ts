import { Validator } from "@cfworker/json-schema";
import { describe, expect, test } from "vitest";
import { projectToolSchema } from "../../../src/plugin/schema/project/project-schema.ts";
import { restoreRenamedKeys } from "../../../src/plugin/schema/project/rename-keys.ts";
import { isRecord } from "../../../src/shared/base/json.ts";
import type { JsonSchema } from "../../../src/shared/schema-check/json-schema.ts";
import { findIllegal } from "./corpus-measures.ts";

/** The projection of one property. */
function projectProperty(property: unknown, rest: JsonSchema = {}, profile: "full" | "gemini" = "full"): unknown {
  const { schema } = projectToolSchema({ type: "object", properties: { p: property }, ...rest }, { profile });
  return isRecord(schema.properties) ? schema.properties.p : undefined;
}

describe("full: one property", () => {
  test.each<[string, unknown, unknown]>([
    [
      "annotations and limits stay",
      {
        type: "string",
        title: "T",
        description: "D",
        format: "email",
        minLength: 1,
        maxLength: 9,
        pattern: "^a",
        default: "a",
        examples: ["ab"],
      },
      {
        type: "string",
        title: "T",
        description: "D",
        format: "email",
        minLength: 1,
        maxLength: 9,
        pattern: "^a",
        default: "a",
        examples: ["ab"],
      },
    ],
    [
      "identifiers, comments and extensions go",
      { $id: "x", id: "y", $comment: "c", $anchor: "a", "x-internal": 1, discriminator: {}, type: "string" },
      { type: "string" },
    ],
    ["const is a list of one", { const: "a" }, { enum: ["a"], type: "string" }],
    [
      "allowed values without repeats, with their type",
      { enum: ["a", "b", "a"] },
      { enum: ["a", "b"], type: "string" },
    ],
    ["an empty list of allowed values says nothing", { type: "string", enum: [] }, { type: "string" }],
    [
      "a list of types becomes a union",
      { type: ["string", "integer"], minLength: 1, minimum: 5, description: "D" },
      {
        description: "D",
        anyOf: [
          { type: "string", minLength: 1 },
          { type: "integer", minimum: 5 },
        ],
      },
    ],
    ["a type and null stay a type and null", { type: ["null", "integer"] }, { type: ["integer", "null"] }],
    [
      "nullable is a type and null",
      { type: "string", nullable: true, enum: ["a"] },
      { type: ["string", "null"], enum: ["a", null] },
    ],
    [
      "a union with null collapses",
      { anyOf: [{ type: "integer", minimum: 1 }, { type: "null" }], title: "Outer" },
      { type: ["integer", "null"], minimum: 1, title: "Outer" },
    ],
    ["a union of one collapses", { oneOf: [{ type: "string" }] }, { type: "string" }],
    [
      "a union of fixed values is a list with a line each",
      {
        oneOf: [
          { const: 1, title: "ONE", description: "first" },
          { const: 2, title: "TWO" },
        ],
      },
      { type: "integer", enum: [1, 2], description: "1: first; 2: TWO" },
    ],
    [
      "a line for an object shows it",
      { oneOf: [{ const: JSON.parse('{"toString":1}'), title: "ONE" }, { const: { b: 2 } }] },
      { type: "object", enum: [{ toString: 1 }, { b: 2 }], description: '{"toString":1}: ONE' },
    ],
    [
      "other unions become anyOf",
      { oneOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] },
      { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] },
    ],
    [
      "a nullable union gets a null branch",
      { nullable: true, anyOf: [{ type: "string" }, { type: "boolean" }] },
      { anyOf: [{ type: "string" }, { type: "boolean" }, { type: "null" }] },
    ],
    ["lists get items", { type: "array" }, { type: "array", items: {} }],
    [
      "tuples become lists",
      {
        type: "array",
        items: [
          { type: "number", title: "lat" },
          { type: "number", title: "lat" },
        ],
        maxItems: 2,
      },
      { type: "array", items: { type: "number", title: "lat" }, maxItems: 2, description: "In this order: lat, lat." },
    ],
    [
      "a closed tuple gets a length",
      { type: "array", prefixItems: [{ type: "string" }, { type: "integer" }], items: false },
      {
        type: "array",
        items: { anyOf: [{ type: "string" }, { type: "integer" }] },
        maxItems: 2,
        description: "In this order: string, integer.",
      },
    ],
    [
      "an open tuple takes anything",
      { type: "array", items: [{ type: "string" }] },
      { type: "array", items: {}, description: "In this order: string." },
    ],
    [
      "exclusive limits of draft-04 are numbers",
      { type: "number", minimum: 0, exclusiveMinimum: true, maximum: 5, exclusiveMaximum: false },
      { type: "number", exclusiveMinimum: 0, maximum: 5 },
    ],
    [
      "allOf is merged",
      {
        allOf: [
          { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
          { properties: { b: {} }, required: ["b"] },
        ],
        description: "D",
      },
      { type: "object", properties: { a: { type: "string" }, b: {} }, required: ["a", "b"], description: "D" },
    ],
    [
      "required names properties, once",
      { type: "object", properties: { a: {} }, required: ["a", "a", "ghost", 5] },
      { type: "object", properties: { a: {} }, required: ["a"] },
    ],
    [
      "required that is no list goes",
      { type: "object", properties: { a: { required: true } }, required: true },
      { type: "object", properties: { a: {} } },
    ],
    [
      "a property that may not be given is not shown",
      { type: "object", properties: { a: false, b: true } },
      { type: "object", properties: { b: {} } },
    ],
    ["an unknown type says nothing", { type: "file", description: "D" }, { description: "D" }],
    ["null as default goes", { type: "string", default: null }, { type: "string" }],
    ["a single example is a list of one", { type: "string", example: "e" }, { type: "string", examples: ["e"] }],
    [
      "examples of OpenAPI are their values",
      { type: "string", examples: { first: { value: "e" } } },
      { type: "string", examples: ["e"] },
    ],
    [
      "additionalProperties stay",
      { type: "object", additionalProperties: { type: "integer" } },
      { type: "object", additionalProperties: { type: "integer" } },
    ],
    [
      "keys by pattern are additional keys",
      { type: "object", patternProperties: { "^x": { type: "string" } }, additionalProperties: false },
      { type: "object", additionalProperties: { type: "string" } },
    ],
    ["patterns no engine takes go", { type: "string", pattern: "(?i)a" }, { type: "string" }],
  ])("%s", (_, property, projected) => {
    expect(projectProperty(property)).toEqual(projected);
  });

  test("references are inlined, what stands beside them wins, and recursion is cut", () => {
    const definitions = {
      Node: { type: "object", description: "A node", properties: { next: { $ref: "#/definitions/Node" } } },
    };
    expect(projectProperty({ $ref: "#/definitions/Node", description: "Mine" }, { definitions })).toEqual({
      type: "object",
      description: "Mine",
      properties: { next: { type: "object", description: "(nested Node)" } },
    });
    const { notes } = projectToolSchema({
      type: "object",
      properties: { p: { $ref: "#/definitions/Gone", title: "T" } },
    });
    expect(notes).toEqual([expect.stringContaining("#/definitions/Gone")]);
    expect(projectProperty({ $ref: "#/definitions/Gone", title: "T" })).toEqual({ title: "T" });
  });

  test("what cannot be shown is named", () => {
    const { notes } = projectToolSchema({
      properties: { a: { not: { type: "null" }, propertyNames: { pattern: "^a" } } },
      dependentRequired: { a: ["b"] },
    });
    expect(notes).toEqual(["Not shown: dependentRequired, not, propertyNames."]);
  });

  test("13 levels are shown, deeper ones named", () => {
    const nest = (levels: number): unknown =>
      levels === 0 ? { type: "string" } : { type: "object", properties: { a: nest(levels - 1) } };
    const projected = projectToolSchema(nest(20), { profile: "full" });
    expect(JSON.stringify(projected.schema)).toContain("(nested value)");
    expect(JSON.stringify(projected.schema).match(/"a"/g)).toHaveLength(13);
  });
});

describe("full: the root", () => {
  test("is an object with properties, whatever it was", () => {
    const open = { type: "object", properties: {} };
    for (const schema of [null, undefined, {}, [], "x", { type: "string" }, { enum: ["a"] }, true]) {
      expect(projectToolSchema(schema, { profile: "full" }).schema).toEqual(open);
    }
    expect(projectToolSchema(null, { profile: "full" }).notes).toEqual([expect.stringMatching(/^Schema unavailable/)]);
  });

  test("unions become one object that lists the alternatives", () => {
    const { schema } = projectToolSchema({
      description: "Sends.",
      required: ["to"],
      properties: { to: { type: "string" } },
      oneOf: [
        { properties: { kind: { const: "text" }, body: { type: "string" } }, required: ["kind", "body"] },
        { properties: { kind: { const: "file" }, url: { type: "string" } }, required: ["kind", "url"] },
      ],
    });
    expect(schema).toEqual({
      type: "object",
      description: 'Give the fields of one of these: kind "text" with body; or kind "file" with url. Sends.',
      properties: {
        to: { type: "string" },
        kind: { type: "string", enum: ["text", "file"] },
        body: { type: "string" },
        url: { type: "string" },
      },
      required: ["to", "kind"],
    });
  });

  test("alternatives of required keys become a sentence", () => {
    const { schema } = projectToolSchema({
      properties: { id: {}, name: {} },
      anyOf: [{ required: ["id"] }, { required: ["name"] }],
    });
    expect(schema.description).toBe("Give the fields of one of these: id; or name.");
    expect(schema.required).toBeUndefined();
  });

  test("allOf and references at the root are merged", () => {
    const { schema } = projectToolSchema({
      allOf: [{ $ref: "#/$defs/A" }, { properties: { b: { type: "integer" } } }],
      $defs: { A: { type: "object", properties: { a: { type: "string" } }, required: ["a"] } },
    });
    expect(schema).toEqual({
      type: "object",
      properties: { a: { type: "string" }, b: { type: "integer" } },
      required: ["a"],
    });
  });
});

describe("what the service takes is not refused by what is shown", () => {
  const tree = (next: unknown, rest: JsonSchema = {}): JsonSchema => ({
    properties: { p: { $ref: "#/$defs/Node" } },
    $defs: { Node: { type: "object", properties: { next }, ...rest } },
  });
  const property = (p: unknown): JsonSchema => ({ properties: { p } });
  const kinds = Array.from({ length: 60 }, (_, index) => ({ properties: { kind: { const: `k${index}` } } }));

  test.each<[string, JsonSchema, unknown]>([
    [
      "a branch with an exception",
      property({ anyOf: [{ type: "string", not: { const: "x" } }, { type: "integer" }, { type: "boolean" }] }),
      { p: "a" },
    ],
    ["the last of 60 kinds at the root", { oneOf: kinds }, { kind: "k59" }],
    [
      "the last of 60 kinds in a branch at the root",
      { anyOf: [{ oneOf: kinds }, { properties: { kind: { const: "other" } } }] },
      { kind: "k59" },
    ],
    [
      "a limit beside one that excludes itself",
      property({
        allOf: [{ minimum: 5, exclusiveMinimum: true, maximum: 20, exclusiveMaximum: true }, { minimum: 10 }],
      }),
      { p: 10 },
    ],
    [
      "a key by a pattern that one of two parts allows",
      property({
        allOf: [
          { patternProperties: { "^y": { type: "string" } } },
          { patternProperties: { "^x": { type: "integer" } }, additionalProperties: false },
        ],
      }),
      { p: { x1: 1 } },
    ],
    [
      "a key by a pattern of a closed branch at the root",
      {
        anyOf: [
          { properties: { a: {} }, patternProperties: { "^x-": {} }, additionalProperties: false },
          { properties: { b: {} }, additionalProperties: false },
        ],
      },
      { a: 1, "x-y": 1 },
    ],
    [
      "the second place of a tuple that another part closes",
      property({
        allOf: [{ prefixItems: [{ type: "string" }] }, { prefixItems: [{}, { type: "integer" }], items: false }],
      }),
      { p: ["a", 1] },
    ],
    [
      "the same in the older form",
      property({
        allOf: [{ items: [{ type: "string" }] }, { items: [{}, { type: "integer" }], additionalItems: false }],
      }),
      { p: ["a", 1] },
    ],
    [
      "a value of another type far down a long list",
      property({ enum: [...Array.from({ length: 1_000 }, (_, index) => `v${index}`), 5] }),
      { p: 5 },
    ],
    [
      "a fixed value whose type nobody knows",
      property({
        anyOf: [
          { type: "string", enum: ["a"] },
          { type: "uuid", enum: [5] },
        ],
      }),
      { p: 5 },
    ],
    [
      "null for a definition inside itself, said beside the reference",
      tree({ $ref: "#/$defs/Node", nullable: true }),
      { p: { next: null } },
    ],
    [
      "null for a definition inside itself, said by the definition",
      tree({ $ref: "#/$defs/Node" }, { nullable: true }),
      { p: { next: null } },
    ],
  ])("%s", (_, schema, args) => {
    const projected = projectToolSchema({ type: "object", ...schema });
    expect(findIllegal(projected)).toEqual([]);
    expect(new Validator(structuredClone(projected.schema), "2020-12").validate(args).errors).toEqual([]);
  });

  test("a definition inside itself, or null, is named", () => {
    const schema = { type: "object", ...tree({ anyOf: [{ $ref: "#/$defs/Node" }, { type: "null" }] }) };
    expect(projectToolSchema(schema).schema).toMatchObject({
      properties: { p: { properties: { next: { type: ["object", "null"], description: "(nested Node)" } } } },
    });
  });
});

describe("files", () => {
  const shown = {
    type: "object",
    properties: {
      s3key: { type: "string", description: expect.stringContaining("HTTPS URL") },
      name: { type: "string", description: expect.any(String) },
      mimetype: { type: "string", description: expect.any(String) },
    },
    required: ["s3key"],
  };
  const file = {
    type: "object",
    properties: { name: { type: "string" }, mimetype: { type: "string" }, s3key: { type: "string" } },
    required: ["name", "mimetype", "s3key"],
    additionalProperties: false,
  };

  test.each<[string, unknown, unknown]>([
    ["marked", { file_uploadable: true, description: "The file" }, { ...shown, description: "The file" }],
    ["by shape", file, shown],
    ["by reference", { $ref: "#/$defs/File" }, shown],
    ["in a list", { type: "array", items: file }, { type: "array", items: shown }],
    ["or null", { anyOf: [file, { type: "null" }] }, { ...shown, type: ["object", "null"] }],
  ])("%s: only a reference is asked for", (_, property, projected) => {
    expect(projectProperty(property, { $defs: { File: file } })).toEqual(projected);
  });
});

describe("keys", () => {
  const odata = {
    type: "object",
    properties: {
      $top: { type: "integer" },
      top: { type: "string" },
      "@odata.type": { type: "string" },
      ["k".repeat(80)]: { type: "string" },
      "": { type: "string" },
      日本: { type: "string" },
      "filter[name]": { type: "string" },
      list: { type: "array", items: { type: "object", properties: { $id: { type: "string" } }, required: ["$id"] } },
      map: { type: "object", additionalProperties: { type: "object", properties: { $id: {} } } },
    },
    required: ["$top", "list"],
  };

  test("get legal names, each its own", () => {
    const projected = projectToolSchema(odata, { profile: "full" });
    expect(findIllegal(projected)).toEqual([]);
    const properties = isRecord(projected.schema.properties) ? projected.schema.properties : {};
    expect(Object.keys(properties)).toEqual([
      "top_2",
      "top",
      "odata.type",
      expect.stringMatching(/^k{56}_[0-9a-f]{7}$/),
      "field",
      "field_2",
      "filter_name",
      "list",
      "map",
    ]);
    expect(projected.schema.required).toEqual(["top_2", "list"]);
    expect(projected.renamed).toContainEqual({ path: ["list", "[]"], original: "$id", shown: "id" });
  });

  test("come back in arguments, in lists and maps too, and nowhere else", () => {
    const { renamed } = projectToolSchema(odata, { profile: "full" });
    const args = {
      top_2: 5,
      top: "x",
      list: [{ id: "a" }, { id: "b", $id: "kept" }],
      map: { id: { id: 1 } },
      free: { top_2: 1 },
    };
    const before = structuredClone(args);
    expect(restoreRenamedKeys(args, renamed)).toEqual({
      $top: 5,
      top: "x",
      list: [{ $id: "a" }, { id: "b", $id: "kept" }],
      map: { id: { $id: 1 } },
      free: { top_2: 1 },
    });
    expect(args).toEqual(before);
    const plain = { top: "x" };
    expect(restoreRenamedKeys(plain, renamed)).toBe(plain);
    expect(restoreRenamedKeys(args, [])).toBe(args);
  });

  test("stay in what a property of its own holds beside a map whose values have renamed ones", () => {
    const value = { type: "object", properties: { $id: {} } };
    const schema = {
      type: "object",
      properties: {
        "@free": { type: "object" },
        map: {
          type: "object",
          properties: { free: { type: "object" }, "@free": { type: "object" } },
          additionalProperties: value,
        },
      },
      additionalProperties: value,
    };
    const { renamed } = projectToolSchema(schema);
    const written = { map: { free: { id: 1 }, free_2: { id: 2 }, x: { id: 3 } }, free_2: { id: 4 }, y: { id: 5 } };
    expect(restoreRenamedKeys(written, renamed)).toEqual({
      map: { free: { id: 1 }, "@free": { id: 2 }, x: { $id: 3 } },
      "@free": { id: 4 },
      y: { $id: 5 },
    });
    const own = { map: { "@free": { id: 1 } }, "@free": { id: 2 } };
    expect(restoreRenamedKeys(own, renamed)).toEqual(own);
  });

  test("Google's adapters lose properties named like keywords, so they get other names there", () => {
    const schema = { type: "object", properties: { strict: { type: "boolean" } }, required: ["strict"] };
    expect(projectToolSchema(schema, { profile: "full" }).renamed).toEqual([]);
    const gemini = projectToolSchema(schema, { profile: "gemini" });
    expect(gemini.schema).toEqual({
      type: "object",
      properties: { strict_2: { type: "boolean" } },
      required: ["strict_2"],
    });
    expect(restoreRenamedKeys({ strict_2: true }, gemini.renamed)).toEqual({ strict: true });
  });
});

const ANY_ITEM = { anyOf: ["string", "number", "boolean", "object"].map((type) => ({ type })) };
const ANY = { anyOf: [...ANY_ITEM.anyOf, { type: "array", items: ANY_ITEM }] };
const BRANCHES = {
  anyOf: [
    { type: "integer", minimum: 1 },
    { type: "integer", description: "One of -1." },
  ],
};

describe("gemini: one property", () => {
  test.each<[string, unknown, unknown]>([
    ["null is nullable", { type: ["string", "null"] }, { type: "string", nullable: true }],
    [
      "title goes, examples are words",
      { type: "string", title: "T", description: "D.", examples: ["a", "b"] },
      { type: "string", description: "D. Examples: a; b" },
    ],
    ["allowed numbers are words", { enum: [1, 2] }, { type: "integer", description: "One of 1, 2." }],
    ["allowed texts stay", { enum: ["a", null] }, { type: "string", enum: ["a"], nullable: true }],
    [
      "formats of numbers and times stay, others are words",
      { type: "string", format: "email" },
      { type: "string", description: "Format: email." },
    ],
    [
      "a format of another type is words",
      { type: "string", format: "int64" },
      { type: "string", description: "Format: int64." },
    ],
    ["a format without a type is words", { format: "email" }, { type: "string", description: "Format: email." }],
    ["a number's format stays", { type: "integer", format: "int64" }, { type: "integer", format: "int64" }],
    [
      "texts for a number are words",
      { type: "integer", enum: ["1", "2"] },
      { type: "integer", description: 'One of "1", "2".' },
    ],
    ["date-time stays", { type: "string", format: "date-time" }, { type: "string", format: "date-time" }],
    [
      "closed objects are not said",
      { type: "object", properties: { a: {} }, additionalProperties: false },
      { type: "object", properties: { a: ANY } },
    ],
    [
      "exclusive limits are words",
      { type: "number", exclusiveMinimum: 0, multipleOf: 2 },
      { type: "number", description: "Above 0. A multiple of 2." },
    ],
    [
      "nothing stands beside a union",
      {
        description: "D",
        properties: { x: {} },
        type: "object",
        anyOf: [{ required: ["x"] }, { properties: { y: {} } }, { type: "null" }],
      },
      {
        description: "D",
        nullable: true,
        anyOf: [
          { type: "object", properties: { x: ANY }, required: ["x"] },
          { type: "object", properties: { x: ANY, y: ANY } },
        ],
      },
    ],
    ["types that are clear are said", { properties: { a: {} } }, { type: "object", properties: { a: ANY } }],
    ["any value has a type", {}, ANY],
    ["any item has a type", { type: "array" }, { type: "array", items: ANY }],
    ["limits say the type", { minimum: 1 }, { type: "number", minimum: 1 }],
    ["listed values say the type", { enum: [true] }, { type: "boolean", description: "One of true." }],
    ["a branch has the type around it", { type: "integer", anyOf: [{ minimum: 1 }, { enum: [-1] }] }, BRANCHES],
    ["no empty list of properties", { type: "object", properties: {} }, { type: "object" }],
    [
      "a list of types is a union",
      { type: ["string", "number", "null"] },
      { nullable: true, anyOf: [{ type: "string" }, { type: "number" }] },
    ],
    [
      "a map says its values",
      { type: "object", additionalProperties: { type: "string" } },
      { type: "object", description: "Keys are free, values: string." },
    ],
  ])("%s", (_, property, projected) => {
    expect(projectProperty(property, {}, "gemini")).toEqual(projected);
  });
});

test("gemini: of two branches that are shown alike, the properties stay beside those around them", () => {
  const branch = { properties: { b: { type: "string" } }, required: ["b"] };
  const node = { type: "object", properties: { a: {} }, anyOf: [branch, { ...branch, "x-order": 2 }] };
  expect(projectProperty(node, {}, "gemini")).toEqual({
    type: "object",
    properties: { a: ANY, b: { type: "string" } },
    required: ["b"],
  });
});

describe.each(["full", "gemini"] as const)("%s: bounds that 64 bits do not hold", (profile) => {
  test.each([2 ** 63, -(2 ** 63), 1e308])("%d is not shown", (bound) => {
    const property = {
      type: "number",
      minimum: -bound,
      maximum: bound,
      exclusiveMaximum: bound,
      multipleOf: Math.abs(bound),
    };
    expect(projectProperty(property, {}, profile)).toEqual({ type: "number" });
  });
});

describe("size", () => {
  test("a schema over 16 KiB loses long texts first", () => {
    const properties = Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => [`p${index}`, { type: "string", description: "Long. ".repeat(150) }]),
    );
    const { schema, notes } = projectToolSchema({ type: "object", properties }, { profile: "full" });
    expect(JSON.stringify(schema).length).toBeLessThan(16 * 1024);
    expect(isRecord(schema.properties) && Object.keys(schema.properties)).toHaveLength(40);
    expect(notes).toContainEqual(expect.stringMatching(/^Shortened/));
  });

  test("then depth", () => {
    const wide = (depth: number): unknown =>
      depth === 0
        ? { type: "string" }
        : {
            type: "object",
            properties: Object.fromEntries(Array.from({ length: 6 }, (_, i) => [`k${i}`, wide(depth - 1)])),
          };
    const { schema } = projectToolSchema(wide(5), { profile: "full" });
    expect(JSON.stringify(schema).length).toBeLessThan(16 * 1024);
  });

  test("then long lists of values", () => {
    const values = (index: number) => Array.from({ length: 300 }, (_, count) => `value-${index}-${count}`);
    const properties = Object.fromEntries(
      Array.from({ length: 12 }, (_, index) => [`p${index}`, { type: "string", enum: values(index) }]),
    );
    const { schema } = projectToolSchema({ type: "object", properties: { ...properties, few: { enum: ["a", "b"] } } });
    expect(JSON.stringify(schema).length).toBeLessThan(16 * 1024);
    expect(schema.properties).toMatchObject({
      p0: { type: "string", description: expect.stringMatching(/^One of 300 values, such as "value-0-0"/) },
      few: { type: "string", enum: ["a", "b"] },
    });
  });

  test("a description is cut after a sentence", () => {
    const text = `${"First part. ".repeat(60)}${"x".repeat(900)}`;
    const shown = projectProperty({ type: "string", description: text });
    expect(isRecord(shown) && shown.description).toMatch(/First part\.$/);
  });

  test("no cut goes through a character", () => {
    const text = "🙂".repeat(600);
    for (const description of [text, `a${text}`]) {
      const shown = projectProperty({ type: "string", description });
      const cut = isRecord(shown) ? String(shown.description) : "";
      expect(cut.isWellFormed()).toBe(true);
      expect(cut).toMatch(/🙂…$/u);
    }
  });

  test("a list of 5,000 allowed values is said in words", () => {
    const values = Array.from({ length: 5_000 }, (_, index) => `v${index}`);
    expect(projectProperty({ enum: values })).toMatchObject({
      type: "string",
      description: expect.stringMatching(/^One of 5000 values/),
    });
  });
});

test("what one of the first forty branches requires is not required when there are more", () => {
  const a = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
  const b = { type: "object", properties: { a: { type: "integer" } }, required: ["a", "b"] };
  const inner = { anyOf: [...Array.from({ length: 39 }, () => ({ type: "string" })), a, { type: "object" }] };
  const { schema } = projectToolSchema({ type: "object", anyOf: [inner, b] });
  expect(schema.required).toBeUndefined();
  expect(schema.properties).toMatchObject({ a: {} });
});
