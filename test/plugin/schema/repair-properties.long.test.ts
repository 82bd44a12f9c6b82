import fc, { type Arbitrary } from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { createArgumentGuard } from "../../../src/plugin/schema/repair/argument-guard.ts";
import { isRecord } from "../../../src/shared/base/json.ts";
import { createChecker } from "../../../src/shared/schema-check/check-arguments.ts";
import { normaliseSchema } from "../../../src/shared/schema-check/normalise-schema.ts";
import { FUZZ_FACTOR, fuzzOptions } from "../../fuzz/fuzz-options.ts";
import { call, toolSchema } from "./generated-schemas.ts";

vi.setConfig({ testTimeout: 60_000 * FUZZ_FACTOR });

type Harm = (value: unknown) => unknown;

/** What models do to a value. */
const HARMS: readonly Harm[] = [
  (value) => JSON.stringify(value),
  (value) => String(value),
  (value) => [value],
  (value) => (Array.isArray(value) && value.length === 1 ? value[0] : value),
  (value) => (typeof value === "string" ? value.toUpperCase() : value),
  (value) => (typeof value === "string" ? ` ${value} ` : value),
  () => null,
  () => ({}),
  (value) => value,
];

function harmOne(value: unknown, pick: () => number): unknown {
  if (pick() % 3 === 0) return HARMS[pick() % HARMS.length]?.(value);
  if (Array.isArray(value)) return value.map((item) => harmOne(item, pick));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, harmOne(part, pick)]));
}

/** Schemas with arguments: valid ones harmed as models do it, or anything. */
const attempts: Arbitrary<readonly [unknown, Record<string, unknown>]> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(call, fc.array(fc.nat(1_000), { minLength: 1, maxLength: 30 }))
      .map(([[schema, args], picks]) => {
        let at = 0;
        const harmed = Object.entries(Object(args)).map(([key, part]) => [
          key,
          harmOne(part, () => picks[at++ % picks.length] ?? 0),
        ]);
        return [schema, Object.fromEntries(harmed)] as const;
      }),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(
      toolSchema,
      fc.dictionary(fc.constantFrom("a", "b", "id", "top"), fc.jsonValue({ maxDepth: 3 }), { noNullPrototype: true }),
    ),
  },
);

/** Every value and key that is written somewhere in the arguments, also in JSON text. */
function collect(
  value: unknown,
  found = { values: new Set<string>(), keys: new Set<string>(), kept: [] as string[] },
  depth = 0,
) {
  if (Array.isArray(value)) for (const item of value) collect(item, found, depth);
  else if (isRecord(value)) {
    for (const [key, part] of Object.entries(value)) {
      found.keys.add(key);
      collect(part, found, depth);
    }
  } else {
    found.values.add(fold(value));
    if (value !== null) found.kept.push(fold(value));
    if (typeof value === "string" && depth < 4) collect(parse(value), found, depth + 1);
  }
  return found;
}

/** The same for 5, "5" and " 5 ", for true and "TRUE". */
function fold(value: unknown): string {
  const text = String(value).trim().toLowerCase();
  const number = typeof value === "string" && text !== "" ? Number(text) : Number.NaN;
  return Number.isNaN(number) ? text : String(number);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

describe("a repair, for any schema and arguments", () => {
  test("gives what the schema accepts, or refuses; a second one changes nothing; what was given stays as it was", () => {
    let repaired = 0;
    fc.assert(
      fc.property(attempts, ([schema, args]) => {
        const before = JSON.stringify(args);
        const guard = createArgumentGuard(schema);
        const result = guard(args);
        expect(JSON.stringify(args)).toBe(before);
        const again = guard(result.args);
        expect(again.repairs).toEqual([]);
        expect(JSON.stringify(again.args)).toBe(JSON.stringify(result.args));
        expect(again.ok).toBe(result.ok);
        if (result.repairs.length === 0) return;
        repaired += 1;
        const checker = createChecker(normaliseSchema(schema));
        if (result.ok) expect(checker.check(result.args).verdict).not.toBe("invalid");
      }),
      fuzzOptions({ runs: 2_000 }),
    );
    expect(repaired).toBeGreaterThan(100);
  });

  test("invents no value and no key, and drops nothing but null", () => {
    fc.assert(
      fc.property(attempts, ([schema, args]) => {
        const { args: sent } = createArgumentGuard(schema)(args);
        const [given, made] = [collect(args), collect(sent)];
        for (const key of made.keys) expect(given.keys).toContain(key);
        for (const value of made.values) expect(given.values).toContain(value);
        const written = `${JSON.stringify(sent)} ${[...made.values].join(" ")}`.toLowerCase();
        for (const value of collect(args).kept) {
          const inner = parse(value);
          if (typeof inner === "object") continue;
          expect(made.values.has(value) || written.includes(value)).toBe(true);
        }
      }),
      fuzzOptions({ runs: 2_000 }),
    );
  });
});
