import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ToolOutcome } from "../../src/plugin/calls/outcome.ts";
import type { SessionSettings } from "../../src/plugin/calls/session.ts";
import { type ProbeService, startProbeService } from "../contract/probe-service.ts";
import { findFreePort } from "../service/free-port.ts";
import { approveAll, checkOutcome, type FaultSession, openFaultSession } from "./kit/fault-lab.ts";
import { type FaultProxy, openFaultProxy } from "./kit/fault-proxy.ts";

/** The clock of either side is set forward or back by hours while something depends on it. */

const HOUR_MS = 60 * 60 * 1_000;
const JUMPS = [
  ["forward", 3 * HOUR_MS],
  ["back", -3 * HOUR_MS],
] as const;
/** A service that answers at once answers within this time, also on a busy machine. */
const TIMEOUT_MS = 10_000;
/** The same where an answer is waited for that never comes. */
const SHORT_MS = 4_000;

function createClock() {
  const clock = { skew: 0, now: () => Date.now() + clock.skew };
  return clock;
}

const ours = createClock();
const theirs = createClock();
let service: ProbeService;
let proxy: FaultProxy;
const opened: FaultSession[] = [];

beforeEach(async () => {
  ours.skew = 0;
  theirs.skew = 0;
  const port = await findFreePort();
  proxy = await openFaultProxy(`http://127.0.0.1:${port}`);
  service = await startProbeService({ port, publicUrl: proxy.url, now: theirs.now, fileEnvelopes: false });
});
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
  await proxy.close();
  await service.close();
});

async function open(settings: SessionSettings = {}): Promise<FaultSession> {
  const session = await openFaultSession(service, { now: ours.now, timeoutMs: TIMEOUT_MS, ...settings });
  opened.push(session);
  return session;
}

const WRITE = { callId: "w", toolName: "probe_write_text", arguments: { text: "once" } };
const countEffects = () => service.probe.calls.filter(({ action }) => action !== "echo").length;
function check(outcome: ToolOutcome): void {
  checkOutcome(outcome, countEffects(), outcome.toolName);
}

describe.each(JUMPS)("the plugin's clock is set %s", (direction, jump) => {
  test("while the human reads: an approval that has expired counts no more, any other counts", async () => {
    const { session } = await open({
      approve: async (...asked) => {
        ours.skew = jump;
        return approveAll(...asked);
      },
    });
    const outcome = await session.call(WRITE);
    check(outcome);
    if (direction === "back") expect(outcome.status).toBe("succeeded");
    else expect(outcome).toMatchObject({ status: "needs_approval", code: "approval_expired" });
    expect((await session.call({ ...WRITE, callId: "next" })).status).toBe("succeeded");
  });

  test("between a lost answer and a restart: what was sent stays sent", async () => {
    const settings = { idempotencyKeys: "off", timeoutMs: SHORT_MS } as const;
    const first = await open(settings);
    await first.session.catalog.find(WRITE.toolName);
    proxy.arm({ place: "before the answer", kind: "drop", request: /^POST \S+\/execute / });
    expect((await first.session.call(WRITE)).status).toBe("unknown");
    await first.session.close();
    ours.skew = jump;
    const second = await open({ ...settings, stateDir: first.stateDir });
    const again = await second.session.call(WRITE);
    expect([again.status, countEffects()]).toEqual(["unknown", 1]);
  });

  test("between the tries of a read: no try gets more time than the call has", async () => {
    const request = /^GET \/api\/tools\/probe_echo /;
    const { session } = await open({
      timeoutMs: SHORT_MS,
      sleep: async () => {
        ours.skew += jump;
        proxy.arm({ place: "before the answer", kind: "drop", request, times: 9 });
      },
    });
    proxy.arm({ place: "request line", kind: "reset", request });
    const outcome = await session.call({ callId: "r", toolName: "probe_echo", arguments: { text: "a" } });
    expect(outcome).toMatchObject({ status: "failed", code: "timeout", retryable: true });
  });
});

describe.each(JUMPS)("the service's clock is set %s", (direction, jump) => {
  test("while the provider acts: the answer is the same", async () => {
    const { session } = await open();
    await session.catalog.find(WRITE.toolName);
    proxy.arm({
      place: "request body end",
      kind: async () => {
        theirs.skew = jump;
      },
      request: /^POST \/api\/executions /,
    });
    const outcome = await session.call(WRITE);
    expect([outcome.status, countEffects()]).toEqual(["succeeded", 1]);
  });

  test("between a lost answer and the next try under the same key: it acts once", async () => {
    const { session } = await open();
    await session.catalog.find(WRITE.toolName);
    proxy.arm({
      place: "status line",
      kind: async () => {
        theirs.skew = jump;
        for (const socket of proxy.open) socket.destroy();
      },
      request: /^POST \/api\/executions /,
    });
    const outcome = await session.call(WRITE);
    expect([outcome.status, countEffects(), proxy.struck]).toEqual(["succeeded", 1, 1]);
  });

  test("between the hint of an upload and the upload: a token that has expired is refused, any other is taken", async () => {
    const { session, makeFile } = await open();
    const file = await makeFile("a.txt", "some words");
    await session.catalog.find("probe_store_file");
    proxy.arm({
      place: "request line",
      kind: async () => {
        theirs.skew = jump;
      },
      request: /^\w+ \/api\/files\/ingest /,
    });
    const call = { callId: "f", toolName: "probe_store_file", arguments: { file } };
    const outcome = await session.call(call);
    check(outcome);
    expect(outcome.status).toBe(direction === "back" ? "succeeded" : "failed");
    expect((await session.call({ ...call, callId: "next" })).status).toBe("succeeded");
  });
});
