import { describe, expect, test } from "vitest";
import { projectToolSchema } from "../../../src/plugin/schema/project/project-schema.ts";
import { createArgumentGuard } from "../../../src/plugin/schema/repair/argument-guard.ts";

function accepts(schema: unknown, args: unknown): boolean {
  return createArgumentGuard(schema)(args).ok;
}

/** Two definitions of one name: that of the document, and that of a part with an address of its own. */
function embed(part: Record<string, unknown>, outer: Record<string, unknown> = {}): unknown {
  return {
    type: "object",
    properties: { name: { $ref: "#/$defs/text" }, part: { $ref: "https://example.org/part" } },
    $defs: {
      text: { type: "string", maxLength: 3 },
      part: { $id: "https://example.org/part", type: "object", ...part },
      ...outer,
    },
  };
}

describe("a reference inside a part with an $id", () => {
  const numbered = embed({ properties: { size: { $ref: "#/$defs/text" } }, $defs: { text: { type: "integer" } } });

  test("is one of that part", () => {
    expect(accepts(numbered, { name: "a", part: { size: 5 } })).toBe(true);
    expect(accepts(numbered, { part: { size: "abc" } })).toBe(false);
    expect(accepts(numbered, { name: "much too long" })).toBe(false);
    expect(projectToolSchema(numbered).schema).toMatchObject({
      properties: { name: { type: "string" }, part: { properties: { size: { type: "integer" } } } },
    });
  });

  test("is one of the document when the part has none of that name", () => {
    const schema = embed({ properties: { size: { $ref: "#/$defs/text" } } });
    expect(accepts(schema, { part: { size: "abc" } })).toBe(true);
    expect(accepts(schema, { part: { size: "abcd" } })).toBe(false);
  });

  test("to # is the part, not the document", () => {
    const schema = embed({ properties: { kind: { const: "p" }, next: { $ref: "#" } }, required: ["kind"] });
    expect(accepts(schema, { part: { kind: "p", next: { kind: "p" } } })).toBe(true);
    expect(accepts(schema, { part: { kind: "p", next: { name: "abc" } } })).toBe(false);
  });

  test("to an anchor is the part's own", () => {
    const schema = embed(
      { properties: { size: { $ref: "#word" } }, $defs: { word: { $anchor: "word", type: "integer" } } },
      { other: { $anchor: "word", type: "string" } },
    );
    expect(accepts(schema, { part: { size: 5 } })).toBe(true);
    expect(accepts(schema, { part: { size: "abc" } })).toBe(false);
  });

  test("to a neighbour is read from the part's address", () => {
    const schema = embed(
      { properties: { size: { $ref: "size#/$defs/n" } } },
      { size: { $id: "https://example.org/size", $defs: { n: { type: "integer" } } } },
    );
    expect(accepts(schema, { part: { size: 5 } })).toBe(true);
    expect(accepts(schema, { part: { size: "abc" } })).toBe(false);
  });

  test("a property that is called $id opens none", () => {
    const schema = { properties: { $id: { $ref: "#/$defs/text" } }, $defs: { text: { type: "string" } } };
    expect(accepts(schema, { $id: "a" })).toBe(true);
    expect(accepts(schema, { $id: {} })).toBe(false);
  });
});

describe("what stands beside a reference in draft-07", () => {
  const $schema = "http://json-schema.org/draft-07/schema#";
  const definitions = { Name: { type: "object", properties: { first: { type: "string" } } } };
  const make = (siblings: unknown) => ({
    $schema,
    properties: { name: Object.assign({ $ref: "#/definitions/Name" }, siblings) },
    definitions,
  });

  test("applies, as the model is shown", () => {
    const schema = make({ required: ["first"] });
    expect(projectToolSchema(schema).schema).toMatchObject({ properties: { name: { required: ["first"] } } });
    expect(accepts(schema, { name: {} })).toBe(false);
    expect(accepts(schema, { name: { first: "a" } })).toBe(true);
    expect(accepts(schema, { name: { first: {} } })).toBe(false);
  });

  test("counts as a loss only where it says something", () => {
    const node = { $ref: "#/definitions/Name", description: "d" };
    const schema = { $schema, properties: { x: { not: node }, y: { not: { ...node, required: ["z"] } } }, definitions };
    expect(accepts(schema, { x: {} })).toBe(false);
    expect(accepts(schema, { y: {} })).toBe(true);
  });

  test.each([{ additionalProperties: false }, { type: "string" }])(
    "%j cannot refuse what the reference describes",
    (siblings) => {
      const schema = make(siblings);
      expect(projectToolSchema(schema).schema).toMatchObject({ properties: { name: definitions.Name } });
      expect(accepts(schema, { name: { first: "a" } })).toBe(true);
    },
  );
});
