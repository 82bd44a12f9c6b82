import { beforeEach, describe, expect, it } from "vitest";
import { type ApprovalSubject, createApprovalRequest } from "../../../../src/calls/ask/request.ts";
import {
  createShortCode,
  createShownCards,
  createWaitingCalls,
  type WaitingCalls,
} from "../../../../src/runtimes/openclaw/ask/ask-state.ts";
import { createDecisions, nameCall } from "../../../../src/runtimes/openclaw/ask/decisions.ts";

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

describe("waitingCalls", () => {
  let book: WaitingCalls;
  const open = (text: string, more: Partial<ApprovalSubject> = {}) => book.open(request(text, more)) ?? expect.fail();

  beforeEach(() => {
    book = createWaitingCalls(clock);
  });

  it("let an equal call through once after a human's command", () => {
    const { code, request: asked } = open("a");
    expect(book.isDecided(asked.fingerprint)).toBe(false);
    expect(book.take(asked.fingerprint)).toBeUndefined();
    expect(book.decide(code, "approve")).toMatchObject({ ok: true, waitingCall: { state: "approved" } });
    expect(book.isDecided(asked.fingerprint)).toBe(true);
    expect(book.take(request("b").fingerprint)).toBeUndefined();
    expect(book.take(asked.fingerprint)).toBe("approve");
    expect(book.take(asked.fingerprint)).toBeUndefined();
  });

  it("are one for equal calls and found however the code is typed", () => {
    const { code } = open("a");
    expect(open("a").code).toBe(code);
    expect(code).toMatch(/^[2-9A-HJKMNP-TV-Z]{8}$/);
    expect(book.find(` ${code.slice(0, 4).toLowerCase()}-${code.slice(4)} `)?.code).toBe(code);
  });

  it("are decided once, and always only where a standing permission may exist", () => {
    const { code } = open("a", { effect: "delete" });
    expect(book.decide(code, "always")).toMatchObject({
      ok: false,
      message: expect.stringContaining("Approve it once"),
    });
    expect(book.decide(code, "decline")).toMatchObject({ ok: true });
    expect(book.decide(code, "approve")).toEqual({ ok: false, message: "This request is already declined." });
    expect(book.decide(open("b").code, "always")).toMatchObject({ ok: true });
    expect(book.decide("ZZZZZZZZ", "approve")).toMatchObject({
      ok: false,
      message: expect.stringContaining("restart"),
    });
  });

  it("expire, undecided and decided", () => {
    const { code, request: asked } = open("a");
    now += 15 * 60_000 - 1;
    expect(book.decide(code, "approve").ok).toBe(true);
    now += 15 * 60_000 - 1;
    expect(book.isDecided(asked.fingerprint)).toBe(true);
    now += 1;
    expect(book.take(asked.fingerprint)).toBeUndefined();
    const other = open("b");
    now += 15 * 60_000;
    expect(book.decide(other.code, "approve").ok).toBe(false);
    expect(book.list()).toEqual([]);
  });

  it("are at most twenty, so that none is pushed out", () => {
    const first = open("0");
    for (let index = 1; index < 20; index += 1) open(String(index));
    expect(book.open(request("20"))).toBeUndefined();
    expect(book.list()).toHaveLength(20);
    expect(book.find(first.code)).toBeDefined();
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
    const book = createShownCards(clock);
    const code = book.add(request("a"));
    expect(book.find(code.toLowerCase())?.arguments).toEqual({ text: "a" });
    now += 60 * 60_000;
    expect(book.find(code)).toBeUndefined();
    const codes = Array.from({ length: 101 }, (_, index) => book.add(request(String(index))));
    expect(book.find(codes[0] ?? "")).toBeUndefined();
    expect(book.find(codes[1] ?? "")).toBeDefined();
  });
});

describe("decisions", () => {
  it("count once, for their call and fingerprint, for two minutes", () => {
    const book = createDecisions(clock);
    book.record("c1", "f1", "allow-once");
    expect(book.take("c2", "f1")).toBeUndefined();
    expect(book.take("c1", "f2")).toBe("changed");
    expect(book.take("c1", "f1")).toBe("allow-once");
    expect(book.take("c1", "f1")).toBe("changed");
    book.record("c3", "f1", "allow-always");
    now += 2 * 60_000;
    expect(book.take("c3", "f1")).toBeUndefined();
  });

  it("of two calls with one id do not get mixed up", () => {
    const book = createDecisions(clock);
    book.record("http-1", "f1", "allow-once");
    book.record("http-1", "f2", "allow-always");
    expect(book.take("http-1", "f1")).toBe("allow-once");
    expect(book.take("http-1", "f2")).toBe("allow-always");
  });

  it("of two conversations do not get mixed up", () => {
    const [here, there] = ["a", "b"].map((sessionKey) => nameCall({ sessionKey }, "call_0"));
    expect(here).not.toBe(there);
  });

  it("give way to newer ones", () => {
    const book = createDecisions({ ...clock, limit: 2 });
    for (const call of ["c1", "c2", "c3"]) book.record(call, "f", "allow-once");
    expect(book.take("c1", "f")).toBeUndefined();
    expect(book.take("c2", "f")).toBe("allow-once");
  });

  it("that were a no are known in their run only", () => {
    const book = createDecisions(clock);
    book.enter("c1", "run1");
    book.enter("c2", undefined);
    book.refuse("c1", "f", "denied");
    book.refuse("c2", "g", "timeout");
    expect(book.findRefusal("run1", "f")).toBe("denied");
    expect(book.findRefusal("run2", "f")).toBeUndefined();
    expect(book.findRefusal("run1", "g")).toBeUndefined();
    expect(book.findRefusal(undefined, "g")).toBeUndefined();
  });
});
