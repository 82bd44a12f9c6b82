import fc from "fast-check";

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
/** Schemas of tools, as services write them. */
export const toolSchema = tool.map(({ schema }) => schema);
/** A schema with arguments that it accepts. */
export const call = tool.chain(({ schema, value }) => fc.tuple(fc.constant(schema), value));
