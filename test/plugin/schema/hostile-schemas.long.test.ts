import { describe, expect, test } from "vitest";
import { projectToolSchema } from "../../../src/plugin/schema/project/project-schema.ts";
import { restoreRenamedKeys } from "../../../src/plugin/schema/project/rename-keys.ts";
import { createArgumentGuard } from "../../../src/plugin/schema/repair/argument-guard.ts";
import { measureCpuTime } from "../../cpu-time.ts";
import { findIllegal } from "./corpus-measures.ts";

/** Each definition refers twice to the next: 2 to the power of 30 ways through. */
function doubling(keyword: "allOf" | "anyOf"): unknown {
  const $defs: Record<string, unknown> = { a30: { type: "string" } };
  for (let step = 0; step < 30; step++) {
    $defs[`a${step}`] = { [keyword]: [{ $ref: `#/$defs/a${step + 1}` }, { $ref: `#/$defs/a${step + 1}`, title: "t" }] };
  }
  return { type: "object", properties: { x: { $ref: "#/$defs/a0" } }, $defs };
}

function property(x: unknown): unknown {
  return { type: "object", properties: { x } };
}

function nest(levels: number): unknown {
  let node: unknown = { type: "integer" };
  for (let level = 0; level < levels; level++) node = { properties: { x: node } };
  return node;
}

const cyclic: Record<string, unknown> = { type: "object", default: {} };
cyclic.properties = { x: cyclic };
Object.assign(cyclic.default ?? {}, { cyclic });

const many = (count: number, make: (index: number) => [string, unknown]) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => make(index)));

const tree = {
  anyOf: [
    { type: "object", properties: { x: { $ref: "#/$defs/T" } }, required: ["x", "y"] },
    { type: "object", properties: { x: { $ref: "#/$defs/T" } }, required: ["x", "z"] },
  ],
};
let chain: unknown = 1;
for (let level = 0; level < 40; level++) chain = { x: chain };

const names = Array.from({ length: 1_000 }, (_, i) => `n${i}`);
const needs = { dependentRequired: many(1_000, (i) => [`k${i}`, names]) };

/** What any of these does to a naive implementation is in its name. */
const HOSTILE: readonly [name: string, schema: unknown, args: unknown][] = [
  ["exponential allOf", doubling("allOf"), { x: 5 }],
  ["exponential anyOf", doubling("anyOf"), { x: 5 }],
  ["exponential recursion", { ...Object(property({ $ref: "#/$defs/T" })), $defs: { T: tree } }, { x: chain }],
  ["regex bomb", property({ type: "string", pattern: "^(a+)+$" }), { x: `${"a".repeat(40)}!` }],
  ["polynomial regex", property({ type: "string", pattern: ".*.*.*.*x" }), { x: "a".repeat(1_000) }],
  ["regex on many values", property({ items: { pattern: "a*a*$" } }), { x: Array(5_000).fill(`${"a".repeat(250)}b`) }],
  ["regex too large to compile", property({ pattern: "((a{1000}){1000}){1000}" }), { x: "a" }],
  ["regex bomb on keys", { patternProperties: { "^(a+)+$": false } }, { [`${"a".repeat(40)}!`]: 1 }],
  ["a schema inside itself", cyclic, { x: { x: 1 } }],
  ["100,000 levels", nest(100_000), { x: { x: 1 } }],
  [
    "60,000 properties",
    { properties: many(60_000, (i) => [`p${i}`, { type: "string" }]), additionalProperties: false },
    { p59999: 1 },
  ],
  ["5 MB of description", property({ type: "string", description: "d".repeat(5e6) }), { x: [] }],
  [
    "5 MB of default and examples",
    property({ type: "integer", default: { a: "d".repeat(2e6) }, examples: ["d".repeat(3e6)] }),
    { x: [] },
  ],
  ["a key of 5 MB", { properties: { ["k".repeat(5e6)]: { type: "string" } } }, { x: 1 }],
  ["400,000 allowed values", property({ enum: Array.from({ length: 400_000 }, (_, i) => `v${i}`) }), { x: "w" }],
  [
    "branches that require thousands of keys",
    {
      anyOf: Array.from({ length: 40 }, (_, i) => ({ title: `${i}`, $ref: "#/$defs/R" })),
      $defs: {
        R: {
          properties: many(8_000, (i) => [`f${i}`, { const: i }]),
          required: Object.keys(many(8_000, (i) => [`r${i}`, i])),
        },
      },
    },
    {},
  ],
  [
    "100 lists of large objects to choose from",
    {
      properties: many(100, (i) => [`p${i}`, { $ref: "#/$defs/E" }]),
      $defs: { E: { enum: Array.from({ length: 900 }, (_, i) => ({ text: "x".repeat(3_000), i })) } },
    },
    { p1: 1 },
  ],
  [
    "900 branches of thousands of properties",
    {
      anyOf: Array.from({ length: 900 }, (_, i) => ({ title: `${i}`, $ref: "#/$defs/P" })),
      $defs: { P: { properties: many(4_000, (i) => [`p${i}`, { type: "string" }]) } },
    },
    { p1: 1 },
  ],
  ["10,000 branches", property({ anyOf: Array.from({ length: 10_000 }, (_, i) => ({ const: i })) }), { x: -1 }],
  ["100,000 required keys", { required: Array.from({ length: 100_000 }, (_, i) => `r${i}`) }, {}],
  [
    "5 MB of text for 20 limits",
    property({ anyOf: Array.from({ length: 20 }, (_, i) => ({ maxLength: i })) }),
    { x: "a".repeat(5e6) },
  ],
  ["9,000 faults", property({ type: "array", items: { type: "integer" } }), { x: Array(9_000).fill("1") }],
  ["unique among thousands", property({ uniqueItems: true }), { x: Array.from({ length: 3_000 }, (_, i) => ({ i })) }],
  ["half a character as key", { additionalProperties: { type: "integer" } }, { "\ud800": "x" }],
  ["numbers of 300 digits", property({ multipleOf: 1e-300 }), { x: 1e308 }],
];

describe.each(HOSTILE)("%s", (_, schema, args) => {
  test("neither throws nor hangs the guard", () => {
    const guard = createArgumentGuard(schema);
    for (let call = 0; call < 2; call++) {
      const { ok, problems } = guard(args);
      expect(ok || problems.length > 0).toBe(true);
    }
  });

  test.each(["full", "gemini"] as const)("gives a small and legal %s projection", (profile) => {
    const projected = projectToolSchema(schema, { profile });
    expect(findIllegal(projected, profile)).toEqual([]);
    expect(JSON.stringify(projected.schema).length).toBeLessThan(20_000);
    expect(projected.notes.join("").length).toBeLessThan(20_000);
  });
});

test("a property called __proto__ is shown under another name and comes back as a plain key", () => {
  const schema = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"object","properties":{"a":{}}}}}');
  const { schema: shown, renamed } = projectToolSchema(schema);
  expect(shown.properties).toEqual({ proto: { type: "object", properties: { a: {} } } });
  const restored = restoreRenamedKeys({ proto: { a: 1 } }, renamed);
  expect(Object.keys(restored)).toEqual(["__proto__"]);
  expect(Object.getPrototypeOf(restored)).toBe(Object.prototype);
});

test("300 nulls are left out in one go", () => {
  const guard = createArgumentGuard({ properties: many(300, (i) => [`n${i}`, { type: "string" }]) });
  expect(guard(many(300, (i) => [`n${i}`, null]))).toMatchObject({ ok: true, args: {} });
});

describe("a large definition merged into a thousand branches", () => {
  const large = (keys: number) => ({ properties: many(keys, (i) => [`k${i}`, {}]) });
  const thousand = (make: (index: number) => unknown) => Array.from({ length: 1_000 }, (_, index) => make(index));
  const beside = thousand((i) => ({ $ref: "#/$defs/L", properties: { [`own${i}`]: {} } }));

  test.each([
    ["of the root", { $defs: { L: large(20_000) }, anyOf: beside }],
    ["of a property", { $defs: { L: large(20_000) }, properties: { x: { anyOf: beside } } }],
    [
      "that are unions",
      {
        $defs: { L: large(9_000), M: large(9_001) },
        anyOf: thousand(() => ({ anyOf: [{ $ref: "#/$defs/L" }, { $ref: "#/$defs/M" }] })),
      },
    ],
    [
      "as one property of each",
      {
        $defs: { L: { properties: { x: large(50_000) } } },
        anyOf: thousand((i) => ({ $ref: "#/$defs/L", properties: { x: { title: `${i}` } } })),
      },
    ],
    [
      "as a list of values",
      {
        $defs: { L: { enum: Array.from({ length: 10_000 }, (_, i) => `v${i}`) } },
        properties: many(300, (i) => [`p${i}`, { anyOf: Array(12).fill({ $ref: "#/$defs/L" }) }]),
      },
    ],
  ])("%s is not copied a thousand times", (_, schema) => {
    const spent = measureCpuTime();
    const { schema: shown } = projectToolSchema(schema);
    expect(spent()).toBeLessThan(2_000);
    expect(shown.type).toBe("object");
    expect(shown.required).toBeUndefined();
  });
});

test.each([
  [
    "a long address that thousands of parts are named by",
    {
      $id: `https://a.example/${"x/".repeat(10_000)}`,
      properties: { x: { $ref: "b" }, ...many(1_500, (i) => [`p${i}`, { $id: `a${i}`, $anchor: `b${i}` }]) },
    },
  ],
  [
    "a default of 100,000 items that hundreds of properties share",
    {
      $defs: { D: { default: Array(100_000).fill("x") } },
      properties: many(400, (i) => [`p${i}`, { $ref: "#/$defs/D" }]),
    },
  ],
])("%s takes no time", (_, schema) => {
  const spent = measureCpuTime();
  expect(projectToolSchema(schema).schema.type).toBe("object");
  expect(spent()).toBeLessThan(1_000);
});

test("a thousand keys that each need a thousand others do not hang the guard", () => {
  const guard = createArgumentGuard(needs);
  guard({});
  const spent = measureCpuTime();
  const { ok, problems } = guard(many(1_000, (i) => [`k${i}`, 1]));
  expect(ok || problems[0]?.path === "n0").toBe(true);
  expect(spent()).toBeLessThan(6_000);
  const few = createArgumentGuard({ dependentRequired: { a: ["b", "c"] } });
  expect(few({ a: 1, b: 1 }).problems).toHaveLength(1);
});
