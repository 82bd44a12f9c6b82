import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { SABOTAGES } from "./sabotages.ts";

describe("the table of sabotages", () => {
  test.each(SABOTAGES)(
    "$name: names a line and a suite that are there",
    ({ file, original, sabotaged, times = 1, suite }) => {
      expect(readFileSync(file, "utf8").split(original)).toHaveLength(times + 1);
      expect(sabotaged).not.toBe(original);
      expect(existsSync(suite)).toBe(true);
    },
  );

  test("holds at least thirty, each under a name of its own", () => {
    expect(SABOTAGES.length).toBeGreaterThanOrEqual(30);
    expect(new Set(SABOTAGES.map(({ name }) => name)).size).toBe(SABOTAGES.length);
  });
});
