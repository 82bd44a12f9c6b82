/** A schema as services really publish them, and how a guard must judge arguments for it. */
export interface MessySchema {
  readonly name: string;
  readonly schema: unknown;
  readonly accepts: readonly unknown[];
  readonly refuses: readonly unknown[];
}

function nest(levels: number, leaf: unknown, wrap: (inner: unknown) => unknown): unknown {
  let node = leaf;
  for (let level = 0; level < levels; level++) node = wrap(node);
  return node;
}

const inObject = (inner: unknown) => ({ type: "object", properties: { a: inner } });
const inKey = (inner: unknown) => ({ a: inner });

export const MESSY_SCHEMAS: readonly MessySchema[] = [
  {
    name: "OpenAPI 3.0 nullable, alone, with enum, beside $ref and with const",
    schema: {
      type: "object",
      properties: {
        a: { type: "string", nullable: true },
        b: { type: "string", enum: ["x", "y"], nullable: true },
        c: { $ref: "#/definitions/C", nullable: true },
        d: { const: 1, nullable: true },
        e: { type: "string", "x-nullable": true },
      },
      definitions: { C: { type: "integer" } },
    },
    accepts: [{ a: null, b: null, c: null, d: null, e: null }, { a: "s", b: "x", c: 4, d: 1 }, {}],
    refuses: [{ a: {} }, { b: "z" }, { c: "many" }, { d: 2 }],
  },
  {
    name: "discriminated union with recursive definitions",
    schema: {
      type: "object",
      required: ["filter"],
      properties: { filter: { $ref: "#/$defs/Filter" } },
      $defs: {
        Filter: {
          oneOf: [{ $ref: "#/$defs/And" }, { $ref: "#/$defs/Field" }],
          discriminator: { propertyName: "kind" },
        },
        And: {
          type: "object",
          properties: { kind: { const: "and" }, parts: { type: "array", items: { $ref: "#/$defs/Filter" } } },
          required: ["kind", "parts"],
        },
        Field: {
          type: "object",
          properties: { kind: { const: "field" }, name: { type: "string" } },
          required: ["kind", "name"],
        },
      },
    },
    accepts: [
      { filter: { kind: "field", name: "a" } },
      {
        filter: {
          kind: "and",
          parts: [
            { kind: "and", parts: [] },
            { kind: "field", name: "b" },
          ],
        },
      },
    ],
    refuses: [
      {},
      { filter: { kind: "or" } },
      { filter: { kind: "and", parts: [{ kind: "and", parts: [{ kind: "field" }] }] } },
    ],
  },
  {
    name: "root anyOf",
    schema: {
      anyOf: [
        { type: "object", properties: { id: { type: "integer" } }, required: ["id"] },
        { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
      ],
    },
    accepts: [{ id: 1 }, { name: "a" }],
    refuses: [{}, { id: {} }],
  },
  {
    name: "root $ref",
    schema: {
      $ref: "#/definitions/Args",
      definitions: { Args: { type: "object", required: ["a"], properties: { a: { type: "boolean" } } } },
    },
    accepts: [{ a: true }],
    refuses: [{}, { a: "maybe" }],
  },
  {
    name: "draft-07 tuple, additionalItems and dependencies",
    schema: {
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      properties: { point: { type: "array", items: [{ type: "number" }, { type: "number" }], additionalItems: false } },
      dependencies: { card: ["address"], gift: { required: ["note"] } },
    },
    accepts: [{ point: [1, 2] }, { card: "1", address: "2" }, { gift: 1, note: "n" }],
    refuses: [{ point: [1, "two"] }, { point: [1, 2, 3] }, { card: "1" }, { gift: 1 }],
  },
  {
    name: "draft-04 exclusive limits and id",
    schema: {
      id: "http://example.com/root.json#",
      type: "object",
      properties: {
        low: { type: "number", minimum: 0, exclusiveMinimum: true },
        high: { type: "number", maximum: 10, exclusiveMaximum: false },
      },
    },
    accepts: [{ low: 0.1, high: 10 }],
    refuses: [{ low: 0 }, { high: 10.5 }],
  },
  {
    name: "draft-07 ignores what stands beside $ref",
    schema: {
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      properties: { a: { $ref: "#/definitions/A", type: "integer" } },
      definitions: { A: { type: "string" } },
    },
    accepts: [{ a: "text" }],
    refuses: [{ a: {} }],
  },
  {
    name: "type names of Python and odd letter case",
    schema: {
      type: "dict",
      properties: { s: { type: "str" }, n: { type: "INTEGER" }, f: { type: "file" }, d: { type: "datetime" } },
    },
    accepts: [{ s: "x", n: 5, f: { any: 1 }, d: 7 }],
    refuses: [{ n: "many" }, { s: [] }],
  },
  {
    name: "dangling, remote and looping references",
    schema: {
      type: "object",
      properties: {
        a: { $ref: "#/definitions/Missing" },
        b: { $ref: "https://example.com/schema.json" },
        c: { $ref: "#/definitions/Loop" },
        d: { $ref: "#/definitions/Left" },
        n: { type: "integer" },
      },
      definitions: {
        Loop: { $ref: "#/definitions/Loop" },
        Left: { allOf: [{ $ref: "#/definitions/Right" }] },
        Right: { anyOf: [{ $ref: "#/definitions/Left" }] },
      },
    },
    accepts: [{ a: 1, b: {}, c: "x", d: [], n: 3 }],
    refuses: [{ n: "x" }],
  },
  {
    name: "a loop of references below not",
    schema: {
      type: "object",
      properties: { a: { not: { $ref: "#/definitions/L" } } },
      definitions: { L: { allOf: [{ $ref: "#/definitions/L" }] } },
    },
    accepts: [{ a: 1 }],
    refuses: [],
  },
  {
    name: "patterns that do not compile, or are written for another language",
    schema: {
      type: "object",
      properties: {
        a: { type: "string", pattern: "(?i)^abc" },
        b: { type: "string", pattern: "[" },
        c: { type: "string", pattern: "/^[a-z]+$/i" },
        d: { type: "string", pattern: "^\\@[a-z]+$" },
      },
    },
    accepts: [{ a: "ABC", b: "x", c: "abc", d: "@abc" }],
    refuses: [{ d: "abc" }],
  },
  {
    name: "dangerous and strange property names",
    schema: JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"integer"},"constructor":{"type":"string"},"$ref":{"type":"string"},"toString":{"type":"boolean"}},"required":["constructor"]}',
    ),
    accepts: [JSON.parse('{"__proto__":1,"constructor":"c","$ref":"#/x","toString":true}')],
    refuses: [{}, JSON.parse('{"constructor":"c","__proto__":"one"}'), { constructor: "c", toString: "maybe" }],
  },
  {
    name: "300 levels",
    schema: nest(300, { type: "integer" }, inObject),
    accepts: [nest(300, 1, inKey)],
    refuses: [nest(300, "x", inKey)],
  },
  {
    name: "boolean schemas",
    schema: { type: "object", properties: { yes: true, no: false }, additionalProperties: true },
    accepts: [{ yes: 1 }, { other: 1 }],
    refuses: [{ no: 1 }],
  },
  {
    name: "conditions and dependent keys",
    schema: {
      type: "object",
      properties: { kind: { enum: ["a", "b"] }, value: {} },
      // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema.
      allOf: [{ if: { properties: { kind: { const: "a" } }, required: ["kind"] }, then: { required: ["value"] } }],
      dependentRequired: { from: ["to"] },
    },
    accepts: [{ kind: "a", value: 1 }, { kind: "b" }, { from: 1, to: 2 }],
    refuses: [{ kind: "a" }, { from: 1 }],
  },
  {
    name: "formats decide nothing, not even in oneOf or not",
    schema: {
      type: "object",
      properties: {
        when: {
          oneOf: [
            { type: "string", format: "date" },
            { type: "string", format: "date-time" },
          ],
        },
        mail: { type: "string", format: "email" },
        notUri: { not: { type: "string", format: "uri" } },
      },
    },
    accepts: [{ when: "2026-01-01", mail: "not a mail", notUri: "plain" }],
    refuses: [{ when: [] }],
  },
  {
    name: "keywords with values that make no sense",
    schema: {
      type: "object",
      properties: {
        a: { type: "string", minLength: "5", maxLength: -1 },
        b: { type: "array", items: null, minItems: 0.5 },
        c: { type: "number", multipleOf: 0, minimum: "0" },
        d: { enum: [] },
        e: { anyOf: [] },
        f: { type: [] },
        g: "string",
      },
      required: "a",
    },
    accepts: [{ a: "", b: [1], c: -1, d: 1, e: 1, f: 1, g: 1 }, {}],
    refuses: [{ a: {} }],
  },
  {
    name: "keys by pattern",
    schema: {
      type: "object",
      patternProperties: { "^x-": { type: "string" }, "^(a+)+$": { type: "integer" } },
      additionalProperties: false,
    },
    accepts: [{ "x-a": "1" }, { aaaa: 1 }],
    refuses: [{ "x-a": [] }],
  },
  {
    name: "deep allOf of references",
    schema: {
      allOf: [{ $ref: "#/$defs/A" }, { properties: { z: { type: "string" } }, required: ["z"] }],
      $defs: { A: { allOf: [{ $ref: "#/$defs/B" }], required: ["y"] }, B: { properties: { y: { type: "integer" } } } },
    },
    accepts: [{ y: 1, z: "" }],
    refuses: [{ y: 1 }, { z: "" }, { y: [], z: "" }],
  },
  {
    name: "an enum of 4,000 values",
    schema: {
      type: "object",
      properties: { zone: { type: "string", enum: Array.from({ length: 4_000 }, (_, i) => `zone-${i}`) } },
    },
    accepts: [{ zone: "zone-3999" }],
    refuses: [{ zone: "zone-4000" }],
  },
  {
    name: "a root that says it is no object",
    schema: { type: "string" },
    accepts: [{}, { a: 1 }],
    refuses: [],
  },
  {
    name: "an anchor, an $id and a reference to a property",
    schema: {
      $id: "https://example.com/tool.json",
      type: "object",
      properties: {
        a: { $ref: "#word" },
        b: { $ref: "#/properties/n" },
        c: { $ref: "https://example.com/word.json" },
        n: { type: "integer" },
      },
      $defs: { W: { $anchor: "word", $id: "https://example.com/word.json", type: "string" } },
    },
    accepts: [{ a: "x", b: 1, c: "y" }],
    refuses: [{ a: [] }, { b: "x" }, { c: {} }],
  },
];
