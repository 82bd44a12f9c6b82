import { describe, expect, test } from "vitest";
import { formatReports } from "../../bench/report/format-report.ts";
import { isMet, type Measure } from "../../bench/report/part-report.ts";
import { findSpread, median } from "../../bench/report/statistics.ts";
import { takeTurns } from "../../bench/report/take-turns.ts";

describe("statistics", () => {
  test("the median is the middle value, or between the two middle ones", () => {
    expect(median([9, 1, 5])).toBe(5);
    expect(median([10, 1, 2, 4])).toBe(3);
    expect(median([])).toBeNaN();
  });

  test("the samples are left as they were, and numbers are not sorted as text", () => {
    const samples = [10, 9, 100];
    expect(findSpread(samples)).toEqual({ median: 10, min: 9, max: 100 });
    expect(samples).toEqual([10, 9, 100]);
  });
});

const MEASURE: Measure = {
  what: "a call",
  unit: "ms",
  samples: [2, 3, 4],
  peers: [
    { name: "bare", samples: [2, 2, 2] },
    { name: "gone", samples: [] },
  ],
};

test("a target holds for the value or for the ratio, and nothing that was not measured meets one", () => {
  expect(isMet(MEASURE, { bound: "at most", limit: 3 })).toBe(true);
  expect(isMet(MEASURE, { bound: "at most", limit: 2.9 })).toBe(false);
  expect(isMet(MEASURE, { bound: "at most", limit: 1.5, ratioTo: "bare" })).toBe(true);
  expect(isMet(MEASURE, { bound: "at least", limit: 1.6, ratioTo: "bare" })).toBe(false);
  for (const bound of ["at most", "at least"] as const) {
    expect(isMet(MEASURE, { bound, limit: 1, ratioTo: "gone" })).toBe(false);
    expect(isMet({ ...MEASURE, samples: [] }, { bound, limit: 1 })).toBe(false);
  }
});

test("the table has a row per peer, and the missed targets stand below it", () => {
  const targets = [{ bound: "at most", limit: 1.25, ratioTo: "bare" }] as const;
  const large: Measure = {
    what: "many",
    unit: "calls/s",
    samples: [12_345.6],
    targets: [{ bound: "at least", limit: 1 }],
  };
  const text = formatReports(
    [{ title: "Calls", measures: [{ ...MEASURE, targets }, large], notes: ["Read me."] }],
    true,
  );
  const [table = "", notes, verdict] = text.split("\n\n");
  const cells = table.split("\n").map((line) =>
    line
      .slice(1, -1)
      .split("|")
      .map((cell) => cell.trim()),
  );
  expect(cells.slice(2)).toEqual([
    ["**Calls**", "", "", "", "", ""],
    ["a call, ms", "3.00 (2.00..4.00)", "bare", "2.00 (2.00..2.00)", "1.50x", "≤ 1.25x: **missed**"],
    ["", "", "gone", "–", "", ""],
    ["many, calls/s", "12,346", "", "", "", "≥ 1 calls/s: met"],
  ]);
  expect(new Set(table.split("\n").map((line) => line.length)).size).toBe(1);
  const plain = formatReports([{ title: "Calls", measures: [], notes: [] }], false);
  expect(plain.split("\n").slice(1)).toEqual(["|---|---|---|---|---|---|", "| **Calls** |  |  |  |  |  |"]);
  expect(notes).toBe("- Calls: Read me.");
  expect(verdict).toBe("Targets: 1 met, 1 missed.\n- MISSED Calls: a call, ≤ 1.25x bare");
});

test("candidates take turns, every second round backwards, and warm-ups do not count", async () => {
  const order: string[] = [];
  const samples = await takeTurns(["a", "b"], { rounds: 2, warmUps: 1 }, async (one, round) => {
    order.push(one);
    return `${one}${round}`;
  });
  expect(order).toEqual(["b", "a", "a", "b", "b", "a"]);
  expect(samples).toEqual([
    ["a0", "a1"],
    ["b0", "b1"],
  ]);
});
