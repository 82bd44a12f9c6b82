import { describe, expect, test } from "vitest";
import { checkSchedule, countRuns, nextRun } from "../../../src/service/triggers/schedule.ts";

/** The runs after a moment. */
async function list(cron: string, zone: string, from: string, count: number): Promise<string[]> {
  const runs: string[] = [];
  for (let at: number | undefined = Date.parse(from); runs.length < count; ) {
    at = await nextRun({ cron, zone }, at);
    if (at === undefined) return runs;
    runs.push(new Date(at).toISOString());
  }
  return runs;
}

describe("a time that clocks skip is the next one there is, once", () => {
  test.each([
    ["30 2 * * *", "Europe/Berlin", "2026-03-28T02:00:00Z", ["2026-03-29T01:00:00.000Z", "2026-03-30T00:30:00.000Z"]],
    ["0,30 2 * * *", "Europe/Berlin", "2026-03-28T02:00:00Z", ["2026-03-29T01:00:00.000Z", "2026-03-30T00:00:00.000Z"]],
    ["0 0 * * *", "Africa/Cairo", "2026-04-23T12:00:00Z", ["2026-04-23T22:00:00.000Z", "2026-04-24T21:00:00.000Z"]],
    [
      "15 2 * * *",
      "Australia/Lord_Howe",
      "2026-10-03T02:00:00Z",
      ["2026-10-03T15:30:00.000Z", "2026-10-04T15:15:00.000Z"],
    ],
  ])("%s in %s", async (cron, zone, from, runs) => {
    expect(await list(cron, zone, from, runs.length)).toEqual(runs);
  });
});

describe("a time that comes twice counts the first time", () => {
  test.each([
    ["30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", ["2026-10-25T00:30:00.000Z", "2026-10-26T01:30:00.000Z"]],
    [
      "45 1 * * *",
      "Australia/Lord_Howe",
      "2026-04-03T20:00:00Z",
      ["2026-04-04T14:45:00.000Z", "2026-04-05T15:15:00.000Z"],
    ],
  ])("%s in %s", async (cron, zone, from, runs) => {
    expect(await list(cron, zone, from, runs.length)).toEqual(runs);
  });

  test("also for one that asks in the second hour", async () => {
    expect(await list("30 2 * * *", "Europe/Berlin", "2026-10-25T01:10:00Z", 1)).toEqual(["2026-10-26T01:30:00.000Z"]);
  });

  test("also where the expression lists several", async () => {
    const runs = await list("*/30 1-3 * * *", "Europe/Berlin", "2026-10-24T20:00:00Z", 7);
    expect(runs.map((run) => run.slice(11, 16))).toEqual([
      "23:00",
      "23:30",
      "00:00",
      "00:30",
      "02:00",
      "02:30",
      "00:00",
    ]);
  });

  test("an expression for every hour keeps its pace", async () => {
    const runs = await list("*/30 * * * *", "Europe/Berlin", "2026-10-24T23:45:00Z", 4);
    expect(runs.map((run) => run.slice(11, 16))).toEqual(["00:00", "00:30", "01:00", "01:30"]);
  });
});

test("missed runs are counted, up to a thousand", async () => {
  const daily = { cron: "0 8 * * *", zone: "UTC" };
  const from = Date.parse("2026-01-01T08:00:00Z");
  expect(await countRuns(daily, { from, to: Date.parse("2026-01-04T08:00:00Z") })).toBe(3);
  expect(await countRuns(daily, { from, to: Date.parse("2026-01-02T07:59:59Z") })).toBe(0);
  expect(await countRuns({ ...daily, cron: "* * * * *" }, { from, to: Date.parse("2027-01-01T00:00:00Z") })).toBe(1000);
});

describe("what is no schedule is named", () => {
  test.each([
    [{ cron: "0 8 * * *", zone: "Mars/Olympus" }, "zone"],
    [{ cron: "0 8 * * *", zone: "+02:00" }, "zone"],
    [{ cron: "* * * * * *", zone: "UTC" }, "cron"],
    [{ cron: "@daily", zone: "UTC" }, "cron"],
    [{ cron: "2026-01-01T00:00:00Z", zone: "UTC" }, "cron"],
    [{ cron: "99 * * * *", zone: "UTC" }, "cron"],
    [{ cron: "0 0 30 2 *", zone: "UTC" }, "cron"],
  ])("%o", async (schedule, field) => {
    expect((await checkSchedule(schedule))?.field).toBe(field);
  });

  test("a good one is none of it", async () => {
    expect(await checkSchedule({ cron: "0 8 * * MON-FRI", zone: "Europe/Berlin" })).toBeUndefined();
  });
});
