import { Validator } from "@cfworker/json-schema";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createArgumentGuard } from "../../src/schema/argument-guard.ts";
import { projectToolSchema } from "../../src/schema/project-schema.ts";
import { restoreRenamedKeys } from "../../src/schema/rename-keys.ts";
import { findIllegal, showRenamedKeys } from "./corpus-measures.ts";

const RUNS = { numRuns: 300 };

const key = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom("a", "b", "id", "top", "kind") },
  fc.constantFrom("$top", "@type", "a b", "x[y]", "constructor", "日本", "k".repeat(70)),
);
const scalarValue = fc.oneof(
  fc.integer({ min: -5, max: 50 }),
  fc.boolean(),
  fc.constantFrom("x", "y", "5", "true", ""),
);

/** A schema together with a way to make arguments it accepts. */
interface Pair {
  readonly schema: unknown;
  readonly value: fc.Arbitrary<unknown>;
}

const leaf: fc.Arbitrary<Pair> = fc.oneof(
  fc.constant<Pair>({ schema: { type: "string" }, value: fc.string({ maxLength: 8 }) }),
  fc.constant<Pair>({ schema: { type: "integer", minimum: 0, maximum: 9 }, value: fc.integer({ min: 0, max: 9 }) }),
  fc.constant<Pair>({
    schema: { type: "number", minimum: 0, exclusiveMinimum: true },
    value: fc.integer({ min: 1, max: 9 }),
  }),
  fc.constant<Pair>({ schema: { type: ["boolean", "null"] }, value: fc.constantFrom(true, false, null) }),
  fc.constant<Pair>({ schema: { enum: ["x", "y", null, 5] }, value: fc.constantFrom("x", "y", null, 5) }),
  fc.constant<Pair>({ schema: { type: "string", pattern: "^[a-c]+$" }, value: fc.constantFrom("a", "abc", "cc") }),
  fc.constant<Pair>({ schema: { $ref: "#/$defs/Word" }, value: fc.constantFrom("w", "v") }),
  fc.constant<Pair>({ schema: { $ref: "#/$defs/Nowhere" }, value: scalarValue }),
  fc.constant<Pair>({ schema: true, value: scalarValue }),
);

function nest(inner: fc.Arbitrary<Pair>): fc.Arbitrary<Pair> {
  const list = inner.map(
    (pair): Pair => ({
      schema: { type: "array", items: pair.schema, maxItems: 3 },
      value: fc.array(pair.value, { maxLength: 3 }),
    }),
  );
  const union = fc.tuple(inner, fc.constantFrom("anyOf", "oneOf")).map(
    ([pair, keyword]): Pair => ({
      schema: { [keyword]: [pair.schema, { type: "object", required: ["never"] }] },
      value: pair.value,
    }),
  );
  const object = fc
    .dictionary(key, fc.tuple(inner, fc.boolean()), { maxKeys: 4, noNullPrototype: true })
    .map((fields) => makeObject(fields));
  const merged = object.map(
    (pair): Pair => ({ schema: { allOf: [pair.schema, { description: "d" }] }, value: pair.value }),
  );
  return fc.oneof(list, union, object, merged);
}

function makeObject(fields: Record<string, [Pair, boolean]>): Pair {
  const names = Object.keys(fields);
  const requiredKeys = names.filter((name) => fields[name]?.[1]);
  const properties = Object.fromEntries(names.map((name) => [name, fields[name]?.[0].schema]));
  const values = Object.fromEntries(names.map((name) => [name, fields[name]?.[0].value ?? fc.constant(1)]));
  return {
    schema: { type: "object", properties, required: requiredKeys, additionalProperties: names.length % 2 === 0 },
    value: fc.record(values, { requiredKeys, noNullPrototype: true }),
  };
}

const nested = nest(fc.oneof(leaf, nest(fc.oneof(leaf, nest(leaf)))));
const tool = fc
  .dictionary(key, fc.tuple(fc.oneof(leaf, nested), fc.boolean()), { minKeys: 1, maxKeys: 5, noNullPrototype: true })
  .map(makeObject)
  .map(({ schema, value }): Pair => ({ schema: { ...Object(schema), $defs: { Word: { enum: ["w", "v"] } } }, value }));
const toolSchema = tool.map(({ schema }) => schema);
const call = tool.chain(({ schema, value }) => fc.tuple(fc.constant(schema), value));

describe("for generated schemas", () => {
  test("a valid call passes as the very same object", () => {
    fc.assert(
      fc.property(call, ([schema, args]) => {
        const before = structuredClone(args);
        const result = createArgumentGuard(schema)(args);
        expect(result).toMatchObject({ ok: true, repairs: [], problems: [] });
        expect(result.args).toBe(args);
        expect(args).toEqual(before);
      }),
      RUNS,
    );
  });

  test("and is valid for what the model is shown, with its keys given back", () => {
    fc.assert(
      fc.property(call, ([schema, args]) => {
        const { schema: shown, renamed } = projectToolSchema(schema, { profile: "full" });
        const written = showRenamedKeys(structuredClone(args), renamed);
        expect(new Validator(structuredClone(shown), "2020-12").validate(written).errors).toEqual([]);
        expect(restoreRenamedKeys(Object(written), renamed)).toEqual(args);
      }),
      RUNS,
    );
  });

  test("projections are legal, stay legal when projected again, and leave the schema as it was", () => {
    fc.assert(
      fc.property(toolSchema, fc.constantFrom("full" as const, "gemini" as const), (schema, profile) => {
        const before = JSON.stringify(schema);
        const once = projectToolSchema(schema, { profile });
        const twice = projectToolSchema(once.schema, { profile });
        expect(findIllegal(once)).toEqual([]);
        expect(findIllegal(twice)).toEqual([]);
        expect(twice.renamed).toEqual([]);
        if (profile === "full") expect(twice.schema).toEqual(once.schema);
        expect(JSON.stringify(schema)).toBe(before);
      }),
      RUNS,
    );
  });

  test("whatever the arguments, the guard answers, changes nothing it was given and means what it says", () => {
    fc.assert(
      fc.property(toolSchema, fc.anything({ withDate: true, withBigInt: true, maxDepth: 4 }), (schema, args) => {
        const guard = createArgumentGuard(schema);
        const result = guard(args);
        expect(typeof result.args).toBe("object");
        expect(result.problems.length > 0).toBe(!result.ok);
        if (result.ok) expect(guard(result.args)).toMatchObject({ ok: true, repairs: [] });
      }),
      RUNS,
    );
  });

  test("broken schemas of any kind are no reason to throw", () => {
    fc.assert(
      fc.property(fc.anything({ maxDepth: 4 }), fc.object({ maxDepth: 3 }), (junk, args) => {
        const keywords = [
          "type",
          "properties",
          "items",
          "anyOf",
          "allOf",
          "oneOf",
          "not",
          "required",
          "enum",
          "$ref",
          "pattern",
          "minimum",
          "additionalProperties",
          "dependencies",
          "if",
          "default",
        ];
        for (const schema of [junk, ...keywords.map((keyword) => ({ type: "object", [keyword]: junk }))]) {
          expect(findIllegal(projectToolSchema(schema))).toEqual([]);
          expect(typeof createArgumentGuard(schema)(args).ok).toBe("boolean");
        }
      }),
      { numRuns: 150 },
    );
  });
});
