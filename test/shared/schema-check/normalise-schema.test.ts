import { describe, expect, test } from "vitest";
import { isRecord } from "../../../src/shared/base/json.ts";
import { normaliseSchema } from "../../../src/shared/schema-check/normalise-schema.ts";

function normaliseProperty(property: unknown, rest: Record<string, unknown> = {}): unknown {
  const { properties } = normaliseSchema({ type: "object", properties: { p: property }, ...rest });
  return isRecord(properties) ? properties.p : undefined;
}

describe("one property", () => {
  test.each<[string, unknown, unknown]>([
    [
      "annotations go",
      { type: "string", title: "T", description: "D", default: "x", examples: [1], "x-a": 1 },
      { type: "string" },
    ],
    ["formats go", { type: "string", format: "email" }, { type: "string" }],
    [
      "null is allowed by nullable",
      { type: "string", nullable: true, enum: ["a"] },
      { type: ["string", "null"], enum: ["a", null] },
    ],
    [
      "also beside a union",
      { nullable: true, anyOf: [{ type: "string" }] },
      { anyOf: [{ anyOf: [{ type: "string" }] }, { type: "null" }] },
    ],
    ["unknown types go", { type: ["string", "file"] }, {}],
    [
      "draft-04 limits are numbers",
      { minimum: 1, exclusiveMinimum: true, maximum: 2, exclusiveMaximum: false },
      { exclusiveMinimum: 1, maximum: 2 },
    ],
    [
      "tuples are prefixItems",
      { items: [{ type: "string" }], additionalItems: false },
      { prefixItems: [{ type: "string" }], items: false },
    ],
    [
      "dependencies are split",
      { dependencies: { a: ["b"], c: { required: ["d"] } } },
      { dependentRequired: { a: ["b"] }, dependentSchemas: { c: { required: ["d"] } } },
    ],
    ["patterns stay, costly ones too", { type: "string", pattern: "^(a+)+$" }, { type: "string", pattern: "^(a+)+$" }],
    ["patterns of other languages go", { type: "string", pattern: "(?i)a" }, { type: "string" }],
    ["broken counts go", { minLength: "1", maxLength: -1, minItems: 1.5, required: true }, {}],
    ["files are anything", { type: "object", file_uploadable: true, required: ["name"] }, true],
    [
      "unions stay",
      { oneOf: [{ type: "string" }, { type: "integer" }] },
      { oneOf: [{ type: "string" }, { type: "integer" }] },
    ],
    ["an opened branch opens oneOf", { oneOf: [{ format: "date" }, { format: "uri" }] }, { anyOf: [{}, {}] }],
    ["an opened not goes", { not: { format: "date" } }, {}],
    ["an opened if goes", { if: { pattern: "\\Aa" }, else: { type: "string" } }, {}],
    [
      "keys by an unusable pattern open the object",
      { patternProperties: { "(?i)a": {} }, additionalProperties: false },
      {},
    ],
    [
      "unevaluated goes where something was dropped",
      { allOf: [{ format: "x" }], unevaluatedProperties: false },
      { allOf: [{}] },
    ],
    [
      "and where a reference was, which may have spoken of more",
      { $ref: "https://example.org/base", properties: { b: {} }, unevaluatedProperties: false },
      { properties: { b: {} } },
    ],
  ])("%s", (_, property, normalised) => {
    expect(normaliseProperty(property)).toEqual(normalised);
  });

  test("a reference leads to a copy of its own; one that leads nowhere accepts anything", () => {
    expect(normaliseProperty({ $ref: "#/definitions/A" }, { definitions: { A: { type: "str" } } })).toEqual({
      $ref: "#/$defs/d1",
    });
    expect(normaliseSchema({ $ref: "#/definitions/A", definitions: { A: { type: "str" } } })).toEqual({
      $ref: "#/$defs/d1",
      $defs: { d1: { type: "string" } },
    });
    expect(normaliseProperty({ $ref: "#/definitions/Gone", type: "string" })).toEqual({ type: "string" });
  });

  test("references that never end are opened, those that step into the value are kept", () => {
    const loop = { $defs: { A: { allOf: [{ $ref: "#/$defs/B" }] }, B: { anyOf: [{ $ref: "#/$defs/A" }] } } };
    expect(JSON.stringify(normaliseSchema({ properties: { p: { $ref: "#/$defs/A" } }, ...loop }))).toBe(
      '{"properties":{"p":{"$ref":"#/$defs/d1"}},"$defs":{"d2":{"anyOf":[{"$ref":"#/$defs/d1"}]},"d1":{"allOf":[{}]}}}',
    );
    const tree = { type: "object", properties: { child: { $ref: "#" } } };
    expect(normaliseSchema(tree)).toEqual(tree);
  });
});

test("the root always takes objects, and the input stays as it was", () => {
  expect(normaliseSchema({ type: "array" })).toEqual({});
  expect(normaliseSchema(null)).toEqual({});
  expect(normaliseSchema("x")).toEqual({});
  const schema = { type: "object", properties: { a: { type: "string", nullable: true, enum: ["x"] } } };
  const before = structuredClone(schema);
  normaliseSchema(schema);
  expect(schema).toEqual(before);
});
