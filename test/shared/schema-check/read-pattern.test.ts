import { describe, expect, test } from "vitest";
import { isQuickPattern, readPattern } from "../../../src/shared/schema-check/read-pattern.ts";

describe("readPattern", () => {
  test.each([
    "^[A-Z]{2}[0-9a-f]{32}$",
    "^[\\p{L}\\p{N}]+(?: [\\p{L}\\p{N}]+)*$",
    "^(a+)+$",
    "^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$",
  ])("%s is run as it is", (pattern) => {
    expect(readPattern(pattern)).toBe(pattern);
  });

  test.each([
    "[",
    "(?i)a",
    "\\A\\w+\\Z",
    "(?P<n>a)",
    "[[:alpha:]]",
    "/^[a-z]$/i",
    "[\\uD800-\\uDBFF][\\uDC00-\\uDFFF]",
  ])("%s is not for JavaScript", (pattern) => {
    expect(readPattern(pattern)).toBeUndefined();
  });

  test.each([
    ["more characters than are compiled", "a".repeat(501)],
    ["more classes than are compiled", `^${"\\P{L}".repeat(5)}$`],
    [
      "more characters beyond 16 bits",
      `[${String.fromCodePoint(0x1_00_00, 0x1_04_01, 0x1_08_02, 0x1_0c_03, 0x1_10_04)}]`,
    ],
    ["a class beside the end of a word", "\\P{L}{3,4}(?:\\b)+(?:^)+$"],
  ])("%s: not run", (_, pattern) => {
    expect(readPattern(pattern)).toBeUndefined();
  });

  test("escapes that other languages allow are taken off", () => {
    expect(readPattern("^\\@[a-z\\_]+$")).toBe("^@[a-z_]+$");
    expect(readPattern("^[a-z.\\-_]+\\@[a-z]+$")).toBe("^[a-z.\\-_]+@[a-z]+$");
  });
});

describe("isQuickPattern", () => {
  test.each([
    "^[A-Z]{2}[0-9a-f]{32}$",
    "^(owner|reader)$",
    "^x-",
    "^\\d{4}-\\d{2}$",
    "^[^/]+$",
    "^refs/(heads|tags)/.*$",
  ])("%s is", (pattern) => {
    expect(isQuickPattern(pattern)).toBe(true);
  });

  test.each(["^(a+)+$", "a+", "^a*a*$", "^(a|a)(a|a)$", "^(a)\\1$", "^(?:ab){2}$", "^a|b+", "^(?=(a+)+$)", "^(a|b)?"])(
    "%s is not",
    (pattern) => {
      expect(isQuickPattern(pattern)).toBe(false);
    },
  );
});
