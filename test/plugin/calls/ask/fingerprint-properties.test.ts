import fc, { type Arbitrary } from "fast-check";
import { describe, expect, test, vi } from "vitest";
import {
  canonicalJson,
  createFingerprint,
  type FingerprintSubject,
} from "../../../../src/plugin/calls/ask/fingerprint.ts";
import { FUZZ_FACTOR, fuzzOptions } from "../../../fuzz/fuzz-options.ts";
import { hostileArguments, similarArguments } from "../../../hostile/arguments.ts";

vi.setConfig({ testTimeout: 60_000 * FUZZ_FACTOR });

const text = fc.oneof(fc.constantFrom("", "a", "b", "a,b", '"', "null", "__proto__"), fc.string({ maxLength: 4 }));
const file = fc.record({
  field: fc.constantFrom("a", "b", "c[0]", "c[1]", "c[10]"),
  name: text,
  mimetype: text,
  size: fc.nat(9),
  md5: fc.constantFrom("00", "01", "ff"),
  sha256: fc.constantFrom("00", "01", "ff"),
});
const subject: Arbitrary<FingerprintSubject> = fc.record({
  tool: text,
  arguments: hostileArguments,
  connection: fc.option(text, { nil: undefined }),
  files: fc.uniqueArray(file, { maxLength: 4, selector: ({ field }) => field }),
  principal: text,
  effect: fc.option(fc.constantFrom("read", "write", "delete", "admin", "unknown"), { nil: undefined }),
});

/** The same JSON with the members of every object in another order. */
function reorder(value: unknown, turn: number): unknown {
  if (Array.isArray(value)) return value.map((item) => reorder(item, turn + 1));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, part]) => [key, reorder(part, turn + 1)] as const);
  const turned = turn % 2 === 0 ? entries.toReversed() : [...entries.slice(turn % 3), ...entries.slice(0, turn % 3)];
  return Object.fromEntries(turned);
}

/** Equal as JSON, worked out without any canonical form. */
function isEqual(one: unknown, other: unknown): boolean {
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return one === other;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const [keys, others] = [Object.keys(one), Object.keys(other)];
  return (
    keys.length === others.length &&
    keys.every((key) => Object.hasOwn(other, key) && isEqual(Reflect.get(one, key), Reflect.get(other, key)))
  );
}

/** Every place of a value with something else put there. */
function* changeEach(value: unknown): Generator<unknown> {
  yield typeof value === "string" ? `${value} ` : typeof value === "number" ? (value === 7 ? 8 : 7) : [value];
  if (value === null || typeof value !== "object") return;
  for (const [key, part] of Object.entries(value)) {
    for (const changed of changeEach(part)) {
      if (Array.isArray(value)) yield value.with(Number(key), changed);
      else yield Object.fromEntries(Object.entries(value).map(([name, old]) => [name, name === key ? changed : old]));
    }
    const without = Object.entries(value).filter(([name]) => name !== key);
    yield Array.isArray(value) ? without.map(([, item]) => item) : Object.fromEntries(without);
  }
}

describe("canonical JSON", () => {
  test("is equal exactly for values that are equal, whatever the order of their members, and says all", () => {
    fc.assert(
      fc.property(similarArguments, fc.nat(5), ([one, other], turn) => {
        expect(canonicalJson(one) === canonicalJson(other)).toBe(isEqual(one, other));
        expect(canonicalJson(reorder(one, turn))).toBe(canonicalJson(one));
        expect(isEqual(JSON.parse(canonicalJson(one)), one)).toBe(true);
      }),
      fuzzOptions({ runs: 1_500 }),
    );
  });
});

describe("a fingerprint", () => {
  test("does not depend on the order of members or files", () => {
    fc.assert(
      fc.property(subject, fc.nat(5), (one, turn) => {
        const turned = { ...one, arguments: Object(reorder(one.arguments, turn)), files: one.files.toReversed() };
        expect(createFingerprint(turned)).toBe(createFingerprint(one));
        expect(createFingerprint(one)).toMatch(/^[0-9a-f]{64}$/);
      }),
      fuzzOptions({ runs: 800 }),
    );
  });

  test("is another one for any other argument, file, account, tool or key", () => {
    fc.assert(
      fc.property(subject, (one) => {
        const mine = createFingerprint(one);
        const others = [
          { ...one, tool: `${one.tool}x` },
          { ...one, principal: `${one.principal}x` },
          { ...one, connection: one.connection === undefined ? "" : undefined },
          { ...one, connection: `${one.connection ?? ""}x` },
          { ...one, effect: one.effect === undefined ? ("delete" as const) : undefined },
          { ...one, effect: one.effect === "write" ? ("delete" as const) : ("write" as const) },
          { ...one, tool: one.principal, principal: `${one.tool}.` },
          ...[...changeEach(one.arguments)].map((args) => ({ ...one, arguments: { args } })),
          ...Object.keys(one.arguments).map((key) => {
            const { [key]: old, ...rest } = one.arguments;
            return { ...one, arguments: { ...rest, [`${key}x`]: old } };
          }),
          ...one.files.flatMap((file, index) => [
            { ...one, files: one.files.toSpliced(index, 1) },
            ...(["field", "name", "mimetype", "md5", "sha256"] as const).map((member) => ({
              ...one,
              files: one.files.with(index, { ...file, [member]: `${file[member]}x` }),
            })),
            { ...one, files: one.files.with(index, { ...file, size: file.size + 1 }) },
          ]),
        ];
        for (const other of others) expect(createFingerprint(other)).not.toBe(mine);
        for (const args of changeEach(one.arguments)) {
          if (typeof args !== "object" || args === null || Array.isArray(args)) continue;
          expect(createFingerprint({ ...one, arguments: { ...args } })).not.toBe(mine);
        }
      }),
      fuzzOptions({ runs: 150 }),
    );
  });
});
