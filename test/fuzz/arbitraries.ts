import fc, { type Arbitrary } from "fast-check";
import type { FuzzDocument, Schema } from "./document.ts";

/** Texts that break naive programs. */
const HOSTILE_TEXTS = [
  "",
  " ",
  "\u0000",
  "\ud800",
  "null",
  "__proto__",
  "constructor",
  "../../etc/passwd",
  "%00",
  "%E0%A4%A",
  "' OR 1=1 --",
  "<script>alert(1)</script>",
  "\u202Egnp.exe",
  "é́̂ 🧑‍🚀 ﷽",
  "-1",
  "1e309",
  "A".repeat(5000),
];

/** Any text: plain, hostile, or unicode. */
export const anyText: Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.string({ maxLength: 20 }) },
  { weight: 2, arbitrary: fc.constantFrom(...HOSTILE_TEXTS) },
  { weight: 2, arbitrary: fc.string({ unit: "binary", maxLength: 30 }) },
);

/** Any JSON value, with the keys that break naive programs. */
export const anyJson: Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.dictionary(fc.oneof(anyText, fc.constantFrom("toString", "length", "then")), fc.jsonValue({ maxDepth: 1 })),
);

/** Values that a schema of the document allows; `hints` are good values by member name. */
export function fromSchema(
  schema: Schema,
  document: Pick<FuzzDocument, "resolve">,
  hints: Readonly<Record<string, Arbitrary<unknown>>> = {},
): Arbitrary<unknown> {
  const build = (inner: unknown): Arbitrary<unknown> =>
    isSchema(inner) ? fromSchema(inner, document, hints) : anyJson;
  const known = document.resolve(schema);
  if ("const" in known) return fc.constant(known.const);
  if (Array.isArray(known.enum)) return fc.constantFrom(...known.enum);
  const variants = known.anyOf ?? known.oneOf;
  if (Array.isArray(variants)) return fc.oneof(...variants.map(build));
  const types = [known.type].flat();
  return fc.oneof(...types.map((type) => fromType(String(type), known, { build, hints })));
}

interface Builder {
  build(schema: unknown): Arbitrary<unknown>;
  readonly hints: Readonly<Record<string, Arbitrary<unknown>>>;
}

function fromType(type: string, schema: Schema, builder: Builder): Arbitrary<unknown> {
  switch (type) {
    case "string":
      return fromText(schema);
    case "integer":
    case "number":
      return fc.integer({ min: toNumber(schema.minimum, -1000), max: toNumber(schema.maximum, 1000) });
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "array":
      return fc.array(builder.build(schema.items), { minLength: toNumber(schema.minItems, 0), maxLength: 3 });
    case "object":
      return fromObject(schema, builder);
    default:
      return anyJson;
  }
}

function fromText(schema: Schema): Arbitrary<string> {
  const minLength = toNumber(schema.minLength, 0);
  const maxLength = Math.min(toNumber(schema.maxLength, 40), Math.max(40, minLength));
  return fc.oneof(fc.string({ minLength, maxLength }), fc.string({ unit: "grapheme", minLength, maxLength }));
}

function fromObject(schema: Schema, { build, hints }: Builder): Arbitrary<unknown> {
  const properties = isSchema(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  const members = Object.fromEntries(
    Object.entries(properties).map(([name, member]) => {
      const hint = hints[name];
      const plain = build(member);
      return [
        name,
        hint === undefined ? plain : fc.oneof({ weight: 4, arbitrary: hint }, { weight: 1, arbitrary: plain }),
      ];
    }),
  );
  return fc.record(members, { requiredKeys: required.filter((name) => name in members) });
}

function toNumber(value: unknown, byDefault: number): number {
  return typeof value === "number" && Math.abs(value) < 1e9 ? value : byDefault;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
