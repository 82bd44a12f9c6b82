import { describe, expect, test } from "vitest";
import { readSafePattern } from "../../src/schema/pattern-cost.ts";

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

  test.each(["[", "(?i)a", "\\A\\w+\\Z", "(?P<n>a)", "[[:alpha:]]", "/^[a-z]$/i"])(
    "%s is not for JavaScript",
    (pattern) => {
      expect(readSafePattern(pattern)).toBeUndefined();
    },
  );

  test("escapes that other languages allow are taken off", () => {
    expect(readSafePattern("^\\@[a-z\\_]+$")?.source).toBe("^@[a-z_]+$");
  });

  test("the bound of steps grows with the value, up to the longest it runs on", () => {
    const safe = readSafePattern("^a*b*$");
    expect(safe?.maxLength).toBe(256);
    expect(safe?.steps(10)).toBe(100);
    expect(safe?.steps(10_000)).toBe(65_536);
  });
});
