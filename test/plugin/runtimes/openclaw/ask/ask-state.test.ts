import { beforeEach, describe, expect, it } from "vitest";
import { type ApprovalSubject, createApprovalRequest } from "../../../../../src/plugin/calls/ask/request.ts";
import {
  createShortCode,
  createShownCards,
  createWaitingCalls,
  type WaitingCalls,
} from "../../../../../src/plugin/runtimes/openclaw/ask/ask-state.ts";
import { createDecisions, nameCall } from "../../../../../src/plugin/runtimes/openclaw/ask/decisions.ts";

const DAY = 24 * 60 * 60_000;
let now: number;
const clock = { now: () => now };

beforeEach(() => {
  now = 1_000_000;
});

function request(text: string, more: Partial<ApprovalSubject> = {}) {
  const subject = {
    tool: "notes_write",
    integration: "notes",
    connection: "c1",
    arguments: { text },
    files: [],
    effect: "write" as const,
    title: "Write",
    description: "",
    reason: "",
    principal: "p",
    ...more,
  };
  return createApprovalRequest(subject, { now, ttlMs: 60_000 });
}

describe("waiting calls", () => {
  let waiting: WaitingCalls;
  const open = (text: string, more: Partial<ApprovalSubject> = {}) =>
    waiting.open(request(text, more)) ?? expect.fail();

  beforeEach(() => {
    waiting = createWaitingCalls(clock);
  });

  it("let an equal call through once after a human's command", () => {
    const { code, request: asked } = open("a");
    expect(waiting.isDecided(asked.fingerprint)).toBe(false);
    expect(waiting.take(asked.fingerprint)).toBeUndefined();
    expect(waiting.decide(code, "approve")).toMatchObject({ ok: true, waitingCall: { state: "approved" } });
    expect(waiting.isDecided(asked.fingerprint)).toBe(true);
    expect(waiting.take(request("b").fingerprint)).toBeUndefined();
    expect(waiting.take(asked.fingerprint)).toBe("approve");
    expect(waiting.take(asked.fingerprint)).toBeUndefined();
  });

  it("are one for equal calls and found however the code is typed", () => {
    const { code } = open("a");
    expect(open("a").code).toBe(code);
    expect(code).toMatch(/^[2-9A-HJKMNP-TV-Z]{8}$/);
    expect(waiting.find(` ${code.slice(0, 4).toLowerCase()}-${code.slice(4)} `)?.code).toBe(code);
  });

  it("are decided once, and always only where a standing permission may exist", () => {
    const { code } = open("a", { effect: "delete" });
    expect(waiting.decide(code, "always")).toMatchObject({
      ok: false,
      message: expect.stringContaining("Approve it once"),
    });
    expect(waiting.decide(code, "decline")).toMatchObject({ ok: true });
    expect(waiting.decide(code, "approve")).toEqual({ ok: false, message: "This request is already declined." });
    expect(waiting.decide(open("b").code, "always")).toMatchObject({ ok: true });
    expect(waiting.decide("ZZZZZZZZ", "approve")).toMatchObject({
      ok: false,
      message: expect.stringContaining("restart"),
    });
  });

  it("expire, undecided and decided", () => {
    const { code, request: asked } = open("a");
    now += DAY - 1;
    expect(waiting.decide(code, "approve").ok).toBe(true);
    now += DAY - 1;
    expect(waiting.isDecided(asked.fingerprint)).toBe(true);
    now += 1;
    expect(waiting.take(asked.fingerprint)).toBeUndefined();
    const other = open("b");
    now += DAY;
    expect(waiting.decide(other.code, "approve").ok).toBe(false);
    expect(waiting.list()).toEqual([]);
  });

  it("are at most twenty, so that none is pushed out", () => {
    const first = open("0");
    for (let index = 1; index < 20; index += 1) open(String(index));
    expect(waiting.open(request("20"))).toBeUndefined();
    expect(waiting.list()).toHaveLength(20);
    expect(waiting.find(first.code)).toBeDefined();
    waiting.decide(first.code, "decline");
    expect(waiting.open(request("20")), "a decided one takes no place of another").toBeDefined();
  });
});

describe("codes", () => {
  it("use every letter alike", () => {
    // 240 to 255 would come round a ninth time and are left out.
    const bytes = [255, 0, 240, 29, 239, 30, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
    const random = (count: number) => Uint8Array.from(bytes.splice(0, count));
    expect(createShortCode(random)).toBe("2ZZ23456");
  });
});

describe("cards", () => {
  it("are found for an hour, a hundred of them", () => {
    const cards = createShownCards(clock);
    const code = cards.add(request("a"), 60_000);
    expect(cards.find(code.toLowerCase())?.arguments).toEqual({ text: "a" });
    now += 60 * 60_000;
    expect(cards.find(code)).toBeUndefined();
    const codes = Array.from({ length: 101 }, (_, index) => cards.add(request(String(index)), 60_000));
    expect(cards.find(codes[0] ?? "")).toBeUndefined();
    expect(cards.find(codes[1] ?? "")).toBeDefined();
  });
});

describe("decisions", () => {
  it("count once, for their call and fingerprint, for two minutes", () => {
    const decisions = createDecisions(clock);
    decisions.record("c1", "f1", "allow-once");
    expect(decisions.take("c2", "f1")).toBeUndefined();
    expect(decisions.take("c1", "f2")).toBe("changed");
    expect(decisions.take("c1", "f1")).toBe("allow-once");
    expect(decisions.take("c1", "f1")).toBe("changed");
    decisions.record("c3", "f1", "allow-always");
    now += 2 * 60_000;
    expect(decisions.take("c3", "f1")).toBeUndefined();
  });

  it("of two calls with one id do not get mixed up", () => {
    const decisions = createDecisions(clock);
    decisions.record("http-1", "f1", "allow-once");
    decisions.record("http-1", "f2", "allow-always");
    expect(decisions.take("http-1", "f1")).toBe("allow-once");
    expect(decisions.take("http-1", "f2")).toBe("allow-always");
  });

  it("of two conversations do not get mixed up", () => {
    const [here, there] = ["a", "b"].map((sessionKey) => nameCall({ sessionKey }, "call_0"));
    expect(here).not.toBe(there);
  });

  it("give way to newer ones", () => {
    const decisions = createDecisions({ ...clock, limit: 2 });
    for (const call of ["c1", "c2", "c3"]) decisions.record(call, "f", "allow-once");
    expect(decisions.take("c1", "f")).toBeUndefined();
    expect(decisions.take("c2", "f")).toBe("allow-once");
  });

  it("that were a no are known in their run only", () => {
    const decisions = createDecisions(clock);
    decisions.enter("c1", "run1");
    decisions.enter("c2", undefined);
    decisions.refuse("c1", "f", "denied");
    decisions.refuse("c2", "g", "timeout");
    expect(decisions.findRefusal("run1", "f")).toBe("denied");
    expect(decisions.findRefusal("run2", "f")).toBeUndefined();
    expect(decisions.findRefusal("run1", "g")).toBeUndefined();
    expect(decisions.findRefusal(undefined, "g")).toBeUndefined();
  });
});
