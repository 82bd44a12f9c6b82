import { describe, expect, test } from "vitest";
import { within } from "../../../src/shared/base/within.ts";

describe("within", () => {
  test("gives what the work gives, and throws what it throws", () => {
    const value = { a: 1 };
    expect(within(1_000, () => value)?.value).toBe(value);
    expect(within(1_000, () => undefined)).toEqual({ value: undefined });
    const error = new RangeError("no");
    expect(() =>
      within(1_000, () => {
        throw error;
      }),
    ).toThrow(error);
  });

  test.each<[string, () => unknown]>([
    [
      "a loop",
      () => {
        for (;;);
      },
    ],
    ["a regular expression", () => /^(a+)+$/.test(`${"a".repeat(60)}!`)],
    [
      "a loop that catches everything",
      () => {
        for (;;)
          try {
            for (;;);
          } catch {}
      },
    ],
  ])("ends %s", (_, work) => {
    expect(within(5, work)).toBeUndefined();
    expect(within(1_000, () => 1)).toEqual({ value: 1 });
  });

  test("may be used within itself", () => {
    expect(within(1_000, () => within(1_000, () => 1)?.value)?.value).toBe(1);
  });
});
