import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { backoffMs, nextDelay, parseRetryAfter, withRetries } from "../../../src/plugin/client/retry.ts";

import { SvcError } from "../../../src/shared/errors.ts";
import { FUZZ_FACTOR, fuzzOptions } from "../../fuzz/fuzz-options.ts";

vi.setConfig({ testTimeout: 60_000 * FUZZ_FACTOR });

const YEAR = 365 * 24 * 60 * 60 * 1000;
const clock = fc.integer({ min: 0, max: Date.UTC(9000, 0) });
const header = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.stringMatching(/^[-+]?\d{1,40}(\.\d{1,5})?(e\d{1,3})?$/),
  fc
    .date({ noInvalidDate: true, min: new Date(0), max: new Date(Date.UTC(9998, 0)) })
    .map((date) => date.toUTCString()),
  fc
    .tuple(fc.constantFrom("Mon", "Xyz"), fc.nat(99), fc.constantFrom("Jan", "Feb", "Foo"), fc.nat(9999), fc.nat(99))
    .map(
      ([day, date, month, year, hour]) =>
        `${day}, ${String(date).padStart(2, "0")} ${month} ${String(year).padStart(4, "0")} ${String(hour).padStart(2, "0")}:00:00 GMT`,
    ),
  fc.constantFrom("NaN", "Infinity", "-0", "0x10", "1_000", " ", "\u0661", "1,5", "1;2"),
);

describe("for any header, attempt, clock and chance", () => {
  test("a wait is none, or a whole number of milliseconds from now to a year", () => {
    fc.assert(
      fc.property(header, clock, (value, now) => {
        const wait = parseRetryAfter(value, now);
        if (wait !== undefined) expect(Number.isInteger(wait) && wait >= 0 && wait <= YEAR).toBe(true);
      }),
      fuzzOptions({ runs: 4_000 }),
    );
  });

  test("the next try comes within what is left of the time, or not at all", () => {
    const state = fc.record({
      tries: fc.integer({ min: 1, max: 60 }),
      maxTries: fc.integer({ min: 1, max: 60 }),
      retryAfterMs: fc.option(fc.integer({ min: 0, max: YEAR }), { nil: undefined }),
      remainingMs: fc.integer({ min: -1_000, max: 120_000 }),
      chance: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    });
    fc.assert(
      fc.property(state, ({ chance, ...rest }) => {
        const delay = nextDelay({ ...rest, random: () => chance });
        expect(backoffMs(rest.tries, () => chance)).toBeLessThanOrEqual(8_000);
        if (rest.tries >= rest.maxTries) expect(delay).toBeUndefined();
        if (delay === undefined) return;
        expect(delay).toBeGreaterThanOrEqual(0);
        expect(delay).toBeLessThan(rest.remainingMs);
        if (rest.retryAfterMs !== undefined) expect(delay).toBe(rest.retryAfterMs);
      }),
      fuzzOptions({ runs: 4_000 }),
    );
  });

  test("a call makes one to three tries, is given what is left of its time, and never waits beyond it", async () => {
    const answers = fc.array(
      fc.record({
        kind: fc.constantFrom("ok" as const, "busy" as const, "lost" as const, "fatal" as const),
        takesMs: fc.nat(50_000),
        retryAfterMs: fc.option(fc.nat(90_000), { nil: undefined }),
      }),
      { minLength: 3, maxLength: 3 },
    );
    await fc.assert(
      fc.asyncProperty(answers, fc.integer({ min: 1, max: 60_000 }), clock, async (planned, timeoutMs, start) => {
        let now = start;
        let tries = 0;
        const given: number[] = [];
        const call = {
          attempt: async (remainingMs: number) => {
            given.push(remainingMs);
            const answer = planned[tries];
            tries += 1;
            // What takes longer is cut off by the limit it was given.
            now += Math.min(answer?.takesMs ?? 0, remainingMs);
            if (answer?.kind === "lost")
              throw new SvcError("unreachable", "lost", { retryAfterMs: answer.retryAfterMs });
            if (answer?.kind === "fatal") throw new SvcError("bad_response", "no", {});
            return answer;
          },
          askRetry: (answer: (typeof planned)[number] | undefined) =>
            answer?.kind === "busy" ? { retryAfterMs: answer.retryAfterMs } : undefined,
          mayRetry: ({ code }: SvcError) => code === "unreachable",
          label: "a call",
          timeoutMs,
          signal: undefined,
        };
        const sleep = async (ms: number) => {
          now += ms;
        };
        await withRetries(call, { now: () => now, random: () => 0.5, sleep }).catch(() => undefined);
        expect(tries).toBeGreaterThanOrEqual(1);
        expect(tries).toBeLessThanOrEqual(3);
        expect(planned.slice(0, tries - 1).every(({ kind }) => kind === "busy" || kind === "lost")).toBe(true);
        for (const remaining of given) expect(remaining).toBeLessThanOrEqual(timeoutMs);
        // Each further try is granted at least a millisecond.
        expect(now - start).toBeLessThanOrEqual(timeoutMs + tries);
      }),
      fuzzOptions({ runs: 2_000 }),
    );
  });
});
