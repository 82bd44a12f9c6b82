import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { backoffMs, nextDelay, parseRetryAfter } from "../../../src/plugin/client/retry.ts";
import { fuzzOptions } from "../../fuzz/fuzz-options.ts";

const NOW = Date.UTC(2026, 0, 5, 10, 0, 0);

describe("parseRetryAfter", () => {
  test.each([
    ["2", 2_000],
    [" 120 ", 120_000],
    ["0", 0],
    ["0.5", 500],
    ["Mon, 05 Jan 2026 10:00:30 GMT", 30_000],
    ["Monday, 05-Jan-26 10:01:00 GMT", 60_000],
    ["Mon Jan  5 10:00:05 2026", 5_000],
    ["Mon, 05 Jan 2026 09:59:00 GMT", 0],
    ["Friday, 31-Dec-99 23:59:59 GMT", 0],
  ])("reads %s", (value, expected) => {
    expect(parseRetryAfter(value, NOW)).toBe(expected);
  });

  test.each([
    undefined,
    "",
    "soon",
    "-3",
    "1e3",
    "2026-01-05T10:00:30Z",
    "Mon, 31 Feb 2026 10:00:30 GMT",
    "Mon, 05 Jan 2026 25:00:00 GMT",
    "Mon, 05 Foo 2026 10:00:00 GMT",
    "Mon, 05 Jan 2026 10:00:30 CET",
  ])("does not read %s", (value) => {
    expect(parseRetryAfter(value, NOW)).toBeUndefined();
  });

  test("stays finite for absurd values", () => {
    expect(parseRetryAfter("9".repeat(400), NOW)).toBe(365 * 24 * 60 * 60 * 1000);
  });

  test("reads every date it could be sent in the usual form", () => {
    const dates = fc.date({ min: new Date(NOW), max: new Date(NOW + 300 * 24 * 3600_000), noInvalidDate: true });
    fc.assert(
      fc.property(dates, (date) => {
        const whole = Math.floor(date.getTime() / 1000) * 1000;
        expect(parseRetryAfter(new Date(whole).toUTCString(), NOW)).toBe(whole - NOW);
      }),
      fuzzOptions({ runs: 100 }),
    );
  });
});

describe("nextDelay", () => {
  const state = { tries: 1, maxTries: 3, retryAfterMs: undefined, remainingMs: 60_000, random: () => 0.5 };

  test("doubles a ceiling and takes a random part of it", () => {
    expect([1, 2, 3, 4, 5, 9].map((tries) => backoffMs(tries, () => 0.5))).toEqual([250, 500, 1000, 2000, 4000, 4000]);
    expect(backoffMs(1, () => 0)).toBe(0);
  });

  test("takes Retry-After as it is", () => {
    expect(nextDelay({ ...state, retryAfterMs: 7_000 })).toBe(7_000);
    expect(nextDelay({ ...state, retryAfterMs: 0 })).toBe(0);
  });

  test("gives up after the last try, or when the wait does not fit", () => {
    expect(nextDelay({ ...state, tries: 3 })).toBeUndefined();
    expect(nextDelay({ ...state, retryAfterMs: 60_000 })).toBeUndefined();
    expect(nextDelay({ ...state, remainingMs: 100 })).toBeUndefined();
  });
});
