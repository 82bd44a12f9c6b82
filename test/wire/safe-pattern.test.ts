import { describe, expect, test } from "vitest";
import { createArgumentGuard } from "../../src/schema/argument-guard.ts";
import { readSafePattern } from "../../src/wire/safe-pattern.ts";

/** Characters no two of which begin with the same half. */
function listBeyond16Bits(count: number): string {
  return String.fromCodePoint(...Array.from({ length: count }, (_, index) => 0x1_00_00 + index * 0x4_01));
}

describe("readSafePattern", () => {
  test.each([
    ["^[A-Z]{2}[0-9a-f]{32}$", 1_000],
    ["^refs/(heads|tags|pull)/.*$", 1_000],
    ["^(0|[1-9][0-9]*)$", 1_000],
    ["^\\d{4}-\\d{2}-\\d{2}$", 1_000],
    ["^\\p{L}+$", 1_000],
    ["^(?:\\d{1,3}\\.){3}\\d{1,3}$", 1_000],
    ["^[^@]+@[^@]+\\.[^@]+$", 40],
    ["a+b+", 40],
    ["^[\\]a]+$", 1_000],
  ])("%s runs on values of up to %d characters", (pattern, maxLength) => {
    expect(readSafePattern(pattern)).toMatchObject({ source: pattern, maxLength });
  });

  test.each([
    "^(a+)+$",
    "^(a|a)*$",
    "^(a?){40}$",
    "^([a-z]{1,2})+$",
    "^(?:(?:x+)y?)*$",
    `^${"a?".repeat(30)}$`,
    ".*.*.*.*.*x",
    "^(a+)\\1$",
    "^(?<n>a)\\k<n>$",
    "^(?=(a+)+$)",
    "((a{100}){100}){100}",
    "a".repeat(3_000),
  ])("%s could take too long", (pattern) => {
    expect(readSafePattern(pattern)).toBeUndefined();
  });

  test.each([
    ["a list of words", "^[a-z0-9]+(?:-[a-z0-9]+)*$", ["a", "a-b-c"], ["A b", "a--b", "-a", ""]],
    ["a version", "^(\\d+\\.)*\\d+$", ["1", "1.2.3"], ["1..2", "1.", "x"]],
    ["a domain", "^([a-z0-9]+(-[a-z0-9]+)*\\.)+[a-z]{2,}$", ["a-b.example.org"], ["a-.org", "example"]],
    ["a number", "^-?(?:0|[1-9]\\d*)(?:\\.\\d+)?(?:[eE][+-]?\\d+)?$", ["0", "-1.5e3"], ["01", "1e", "one"]],
    ["a path", "^projects/[^/]+(/locations/[^/]+)*$", ["projects/a/locations/b"], ["projects/a/b"]],
    [
      "zod's e-mail",
      "^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$",
      ["a.b@example.org"],
      ["a@b", "plain", ".a@b.org", "a..b@c.org"],
    ],
  ])("%s is run, though its groups repeat repeats", (_, pattern, right, wrong) => {
    const safe = readSafePattern(pattern);
    expect(safe?.maxLength).toBeGreaterThanOrEqual(20);
    const guard = createArgumentGuard({ properties: { x: { type: "string", pattern } } });
    for (const x of right) expect(guard({ x }).ok, x).toBe(true);
    for (const x of wrong) expect(guard({ x }).problems[0]?.path, x).toBe("x");
  });

  test.each([
    "^(\\w+\\s?)+$",
    "^((ab)*c?)*$",
    "^(?:a|b|)*$",
    "^(?:(a-)*a-b)*$",
    "^(?:[a-z]+-)*[a-z-]*[a-z]+$",
    "^(?:é+|ü+)+$",
    "(a{1000}b){1000}",
    "[\\uD800-\\uDBFF][\\uDC00-\\uDFFF]",
    "^(?:[ab]+[ab]*x)*$",
    "^(?:(?:[ab]+[ab])+x)*c$",
  ])("%s is not run", (pattern) => {
    expect(readSafePattern(pattern)).toBeUndefined();
  });

  test.each([
    ["classes searched for", "\\p{L}?\\p{L}".repeat(8)],
    ["a counted class searched for", "(?:\\p{L}{3}-?){3}"],
    ["a class of many characters beyond 16 bits", `[${listBeyond16Bits(150)}]{3}[${listBeyond16Bits(90)}]{3}`],
    ["a class beside the end of a word", "\\P{L}{3,4}(?:\\b)+(?:^)+$"],
    ["a choice between classes", "^(?:a(\\p{Lu}|$[\\p{L}\\p{N}]{3}$\\p{Lu}(?:^)?|$[\\p{L}\\p{N}]{3}b?)c)$"],
    ["more classes than are compiled in time", `^${"\\P{L}".repeat(390)}$`],
    ["a long stretch behind many ways to reach it", `^${"a?".repeat(15)}[ab]{900}c$`],
  ])("%s: not run", (_, pattern) => {
    expect(readSafePattern(pattern)).toBeUndefined();
  });

  test.each([
    ["\\p{L}+", 256],
    ["[\\p{L}\\p{N}]{3}", 1_000],
    ["^[\\p{L}\\p{N} ]{1,200}$", 1_000],
    ["^[\\p{L}\\p{N}]+(?: [\\p{L}\\p{N}]+)*$", 1_000],
  ])("%s: few such classes run on values of up to %d characters", (pattern, maxLength) => {
    expect(readSafePattern(pattern)?.maxLength).toBe(maxLength);
  });

  test.each(["[", "(?i)a", "\\A\\w+\\Z", "(?P<n>a)", "[[:alpha:]]", "/^[a-z]$/i"])(
    "%s is not for JavaScript",
    (pattern) => {
      expect(readSafePattern(pattern)).toBeUndefined();
    },
  );

  test("escapes that other languages allow are taken off", () => {
    expect(readSafePattern("^\\@[a-z\\_]+$")?.source).toBe("^@[a-z_]+$");
  });

  test.each([
    ["a hyphen between two others in a class", "^[a-z.\\-_]+\\@[a-z]+$", "a-b@c", "a^b@c"],
    ["a hyphen beside a class", "^\\@[a-z]\\-[a-z]$", "@a-b", "@ab"],
    ["a backslash before a hyphen in a class", "^[a-z\\\\-]+\\:$", "a\\-:", "a_:"],
  ])("%s means the same without them", (_, pattern, right, wrong) => {
    const expression = new RegExp(readSafePattern(pattern)?.source ?? "", "u");
    expect([right, wrong].map((text) => new RegExp(pattern).test(text))).toEqual([true, false]);
    expect([right, wrong].map((text) => expression.test(text))).toEqual([true, false]);
  });

  test("the bound of steps grows with the value, up to the longest it runs on", () => {
    const safe = readSafePattern("^a*b*$");
    expect(safe?.maxLength).toBe(256);
    expect(safe?.steps(10)).toBe(100);
    expect(safe?.steps(10_000)).toBe(65_536);
  });
});
