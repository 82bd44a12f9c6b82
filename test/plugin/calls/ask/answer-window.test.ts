import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, describe, expect, it, vi } from "vitest";
import { openAnswerWindow } from "../../../../src/plugin/calls/ask/abort.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

afterEach(() => vi.useRealTimers());

describe("the time for an answer", () => {
  it("ends by itself, or with the caller, and says which", () => {
    vi.useFakeTimers();
    const { signal, expiry } = openAnswerWindow(1_000, undefined);
    vi.advanceTimersByTime(999);
    expect(signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect([signal.aborted, expiry.aborted, signal.reason.name]).toEqual([true, true, "TimeoutError"]);
    const caller = new AbortController();
    const stopped = openAnswerWindow(60_000, caller.signal);
    caller.abort();
    expect([stopped.signal.aborted, stopped.expiry.aborted]).toEqual([true, false]);
  });

  it("holds nothing once there is an answer", async () => {
    const open = () => {
      const { expiry, close } = openAnswerWindow(600_000, new AbortController().signal);
      close();
      return new WeakRef(expiry);
    };
    const left = Array.from({ length: 100 }, open);
    const check = () => {
      collect();
      expect(left.filter((window) => window.deref() !== undefined)).toEqual([]);
    };
    await vi.waitFor(check, { timeout: 30_000 });
  });

  it("is not over at once when it is longer than a timer can be", () => {
    vi.useFakeTimers();
    const { expiry } = openAnswerWindow(Number.MAX_SAFE_INTEGER, undefined);
    vi.advanceTimersByTime(60_000);
    expect(expiry.aborted).toBe(false);
  });
});
