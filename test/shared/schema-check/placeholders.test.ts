import { describe, expect, test } from "vitest";
import { findPlaceholderArguments, isPlaceholderSchema } from "../../../src/shared/schema-check/placeholders.ts";
import { verifies } from "../../contract/verifies.ts";

describe("isPlaceholderSchema", () => {
  test.each([
    [null],
    [undefined],
    [{}],
    [{ type: "object" }],
    [{ type: "object", properties: {} }],
    [{ type: "object", properties: {}, required: [], additionalProperties: true, description: "Any" }],
  ])("%j stands in for a schema", (schema) => {
    verifies("tool.placeholder-is-not-empty-arguments");
    expect(isPlaceholderSchema(schema)).toBe(true);
  });

  test.each([
    [{ type: "object", properties: { a: {} } }],
    [{ type: "object", properties: {}, additionalProperties: false }],
    [{ $ref: "#/$defs/A" }],
    [{ anyOf: [] }],
    [{ type: "string" }],
    [[]],
    ["{}"],
    [true],
  ])("%j is one", (schema) => {
    expect(isPlaceholderSchema(schema)).toBe(false);
  });
});

describe("findPlaceholderArguments", () => {
  test.each([
    "<id>",
    "<your page id>",
    "{id}",
    "{{ file_id }}",
    "\u0024{TOKEN}",
    "YOUR_API_KEY",
    "REPLACE_ME",
    "REPLACE_WITH_ID",
    "INSERT_NAME_HERE",
    "[your name]",
    "your-api-key-here",
  ])("%j is not a value", (value) => {
    expect(findPlaceholderArguments({ a: [{ b: value }] }, null)).toEqual([{ path: "a[0].b", value }]);
  });

  test.each([
    "me",
    "self",
    "null",
    "TODO",
    "",
    "<p>",
    "<b>bold</b>",
    '{"a":1}',
    "{}",
    "<https://example.com>",
    "Hello <name>, welcome",
    "YOURS",
    "[link]",
    "a < b > c",
    "<>",
    "$5",
  ])("%j is a value", (value) => {
    expect(findPlaceholderArguments({ a: value }, null)).toEqual([]);
  });

  test.each([
    { type: "object", properties: { a: { enum: ["<id>", "<name>"] } } },
    { $defs: { A: { const: "<id>" } }, properties: { a: { $ref: "#/$defs/A" } } },
    { properties: { a: { type: "string", default: "<id>" } } },
    { properties: { a: { type: "array", default: ["<id>"] } } },
    { properties: { b: { type: "object", default: { a: "<id>" } } } },
    { properties: { default: { const: { list: [{ a: "<id>" }] } } } },
    { anyOf: [{ $defs: { const: { default: { default: "<id>" } } } }] },
  ])("what the schema writes out is a value: %j", (schema) => {
    expect(findPlaceholderArguments({ a: "<id>" }, schema)).toEqual([]);
    expect(findPlaceholderArguments({ a: "<other>" }, schema)).toHaveLength(1);
  });

  test.each([
    { properties: { a: { type: "string", examples: ["<id>"], description: "<id>" } } },
    { properties: { default: { type: "string", description: "<id>" }, enum: { title: "<id>" } } },
    { $defs: { const: { title: "<id>" } }, dependentSchemas: { default: { title: "<id>" } } },
    { properties: { b: { examples: [{ default: "<id>" }], example: { const: "<id>" } } } },
  ])("what it only shows is not: %j", (schema) => {
    expect(findPlaceholderArguments({ a: "<id>" }, schema)).toHaveLength(1);
  });

  test("at most 20 are listed and no depth is too much", () => {
    expect(findPlaceholderArguments({ a: Array.from({ length: 100 }, () => "<id>") }, null)).toHaveLength(20);
    let deep: unknown = "<id>";
    for (let level = 0; level < 10_000; level++) deep = [deep];
    expect(findPlaceholderArguments(deep, null)).toEqual([]);
  });
});
