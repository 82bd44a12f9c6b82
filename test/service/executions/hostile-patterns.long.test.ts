import { describe, expect, test } from "vitest";
import { entryWith, refusal } from "./refused-arguments.ts";

describe("schemas of an added app that would take too long to check, each for as long as a check may take", () => {
  const EVIL = "^(a+)+$";
  const value = `${"a".repeat(60)}!`;

  test.each([
    ["a pattern beside other arguments", { a: {}, b: { type: "string", pattern: EVIL } }, { a: 1, b: value }],
    ["a pattern in an alternative", { a: { anyOf: [{ type: "null" }, { pattern: EVIL }] } }, { a: value }],
    ["an argument called like a keyword", { default: { type: "string", pattern: EVIL } }, { default: value }],
    [
      "a pattern of keys",
      { a: { type: "object", patternProperties: { [EVIL]: { type: "string" } }, additionalProperties: false } },
      { a: { [value]: 1 } },
    ],
    ["an address", { a: { type: "string", format: "url" } }, { a: `http://${value}` }],
  ] as [string, Record<string, unknown>, Record<string, unknown>][])(
    "%s: nobody has checked them, so they are refused",
    (_what, properties, args) => {
      const { status, code, message, options } = refusal(entryWith(properties), args);
      expect([status, code]).toEqual([400, "invalid_arguments"]);
      const field = Object.keys(args).at(-1);
      expect(message).toBe(`${field}: takes too long to check.`);
      expect(options.extra).toEqual({ missingFields: [], invalidFields: [field] });
    },
  );
});
