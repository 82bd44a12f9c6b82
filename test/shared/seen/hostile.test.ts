import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { collectForms } from "../../../src/shared/seen/collect-forms.ts";
import { judgeCall } from "../../../src/shared/seen/judge-call.ts";
import { MAX_ORIGINS } from "../../../src/shared/wire/origin.ts";

const nobody = { find: () => undefined };
const everybody = { find: () => ({ app: "", kind: "note", whose: "yours" as const }) };
const MOST = 20_000;

function nest(levels: number): unknown {
  let inner: unknown = "deep@down.example";
  for (let level = 0; level < levels; level++) inner = level % 2 === 0 ? [inner] : { a: inner };
  return inner;
}

const UNITS = [
  "a@",
  "a.",
  "1-",
  "1 ",
  "%41",
  "://",
  "http://",
  "a/",
  "<a",
  "\u202e",
  "12:",
  "12月",
  "1 may ",
  "+1 ",
  "(",
  "&#64;",
];
const MORE_UNITS = [
  "AB12 1234 ",
  "é",
  "e\u0301",
  "\ud800",
  "ﷺ",
  "Aa1+/",
  " dot ",
  "a b ",
  "1'000",
  "- [ ] ",
  "> ",
  "=",
  "'",
];

describe("hostile results", () => {
  test.each([
    ["ten megabytes", "ask anna@x.example for 1.480 EUR on 12 December ".repeat(200_000)],
    ["a hundred thousand levels", nest(100_000)],
    ["three million values", Array.from({ length: 3_000_000 }, (_, index) => index)],
    ["a million names", Object.fromEntries(Array.from({ length: 1_000_000 }, (_, index) => [`name ${index}`, index]))],
    ["a million addresses", Array.from({ length: 1_000_000 }, (_, index) => `v${index}@h${index}.example`)],
  ])("gives a bounded number of forms for %s", (_, content) => {
    const forms = collectForms(content);
    expect(forms.length).toBeLessThanOrEqual(MOST);
    expect(forms.length).toBeGreaterThan(0);
  });

  test.each([...UNITS, ...MORE_UNITS])("reads %j half a million times over", (unit) => {
    const text = unit.repeat(Math.ceil(500_000 / unit.length));
    expect(collectForms(text).length).toBeLessThanOrEqual(MOST);
    expect(judgeCall({ args: { body: text } }, { own: everybody, seen: nobody }).length).toBeLessThanOrEqual(
      MAX_ORIGINS,
    );
  });

  test("reads a value that lies deep", () => {
    expect(collectForms(nest(100_000))).toContain("address:deep@down.example");
  });

  test("throws for nothing", () => {
    const alphabet = fc.constantFrom(
      ...UNITS,
      ...MORE_UNITS,
      "x@y.example",
      "https://a.b/?c=%",
      "2026-02-30T99:99",
      "0".repeat(40),
    );
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(alphabet).map((units) => units.join("")),
    );
    fc.assert(
      fc.property(fc.jsonValue(), text, fc.string(), (json, one, name) => {
        collectForms([json, one]);
        judgeCall(
          { args: { [name]: json, url: one, to: [one], path: one, body: one, amount: one } },
          { own: nobody, seen: everybody },
        );
      }),
      { numRuns: 300 },
    );
  });

  test("gives an own text that is sent again as the owner's", () => {
    fc.assert(
      fc.property(fc.emailAddress(), fc.webUrl(), fc.nat(), (address, link, number) => {
        const forms = new Set(collectForms({ address, link, number }));
        const own = { find: (form: string) => (forms.has(form) ? everybody.find() : undefined) };
        const origins = judgeCall({ args: { to: [address], url: link, amount: number } }, { own, seen: nobody });
        expect(origins.filter(({ kind, origin }) => kind !== "host" && origin !== "yours")).toEqual([]);
      }),
    );
  });
});
