import { describe, expect, test } from "vitest";
import { expectGolden } from "./golden-exchange.ts";

describe("comparing with a golden answer", () => {
  test.each([
    ["equal values", { a: 1, b: [null, "x"] }, { a: 1, b: [null, "x"] }],
    ["further members", { a: 1, more: true }, { a: 1 }],
    [
      "markers",
      { a: "t", n: 4, at: "2026-01-05T10:00:00Z", o: {} },
      { a: "«string»", n: "«integer»", at: "«timestamp»", o: "«object»" },
    ],
    ["arrays of any length", { a: [1, 2, 3] }, { a: ["«array»"] }],
    [
      "placeholder schemas",
      [null, {}, { type: "object", properties: {} }],
      ["«placeholder»", "«placeholder»", "«placeholder»"],
    ],
  ])("accepts %s", (_what, actual, golden) => {
    expect(() => expectGolden(actual, golden, "body")).not.toThrow();
  });

  test.each([
    ["a missing member", {}, { a: "«any»" }],
    ["another value", { a: 1 }, { a: 2 }],
    ["null for a string", { a: null }, { a: "«string»" }],
    ["a shorter array", { a: [1] }, { a: [1, 2] }],
    ["an array for an object", [], {}],
    ["no array at all", {}, ["«array»"]],
    ["text that is no time", "soon", "«timestamp»"],
    ["a real schema", { type: "object", properties: { a: {} } }, "«placeholder»"],
  ])("refuses %s", (_what, actual, golden) => {
    expect(() => expectGolden(actual, golden, "body")).toThrow();
  });
});
