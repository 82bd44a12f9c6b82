import { afterEach, beforeEach, expect, it } from "vitest";
import type { ApprovalDecision, ApprovalRequest } from "../../../src/plugin/calls/ask/request.ts";
import { closeAll, closeLater, makeFolder, openTestSession, sayNo, sayYes } from "./open-test-session.ts";
import { createTool, type ScriptedService, startScriptedService } from "./scripted-service.ts";

/** Two processes on one state folder: what one of them sends while the other asks. */

let service: ScriptedService;
let stateDir: string;
const path = "/api/tools/probe_write/execute";
const ok = { status: 200, body: { ok: true, result: 1 } };
const call = (callId: string, text = "once") => ({ callId, toolName: "probe_write", arguments: { text } });
const WARNING = expect.stringContaining("may already have happened");
const PLAIN = expect.not.stringContaining("may already have happened");

beforeEach(async () => {
  service = closeLater(await startScriptedService());
  service.offer(createTool("probe_write", "write"));
  stateDir = await makeFolder();
});
afterEach(closeAll);

/** A session whose first question is answered once `letGo` was called; further ones get `then`. */
async function openWaiting(then: (request: ApprovalRequest) => unknown) {
  const asked = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  const session = await openTestSession(service, {
    stateDir,
    async answer(request) {
      if (session.asked.length > 1) return then(request);
      asked.resolve();
      await answered.promise;
      return sayYes(request);
    },
  });
  return { session, whenAsked: asked.promise, letGo: answered.resolve };
}

/** Another process sends a call, and its answer is lost. */
async function loseElsewhere(callId: string): Promise<void> {
  service.answer(path, { drop: true });
  const other = await openTestSession(service, { stateDir, answer: sayYes });
  expect((await other.call(call(callId))).status).toBe("unknown");
  service.answer(path, ok);
  await other.close();
}

it("an equal call is lost while a question is open: the yes does not count, and another question says so", async () => {
  const { session, whenAsked, letGo } = await openWaiting(sayNo);
  const outcome = session.call(call("c1"));
  await whenAsked;
  await loseElsewhere("c2");
  letGo();
  expect((await outcome).status).toBe("declined");
  expect(session.asked.map(({ reason }) => reason)).toEqual([PLAIN, WARNING]);
  expect(service.executed()).toHaveLength(1);
});

it("the same call is lost while a question is open: it is not sent again, whatever the answer", async () => {
  const { session, whenAsked, letGo } = await openWaiting(sayYes);
  const outcome = session.call(call("c1"));
  await whenAsked;
  await loseElsewhere("c1");
  letGo();
  expect(await outcome).toMatchObject({ status: "unknown", code: "outcome_unknown" });
  expect(session.asked).toHaveLength(1);
  expect(service.executed()).toHaveLength(1);
});

it("the same call ends while a question is open: its outcome is answered", async () => {
  const { session, whenAsked, letGo } = await openWaiting(sayYes);
  const outcome = session.call(call("c1"));
  await whenAsked;
  service.answer(path, ok);
  await (await openTestSession(service, { stateDir, answer: sayYes })).call(call("c1"));
  letGo();
  expect((await outcome).notes.join(" ")).toContain("answered from the journal");
  expect(service.executed()).toHaveLength(1);
});

it("a yes from before a crash does not count once an equal call was lost", async () => {
  const first = await openTestSession(service, { stateDir, answer: sayYes });
  // It dies between the yes and the sending.
  const record = first.journal.record.bind(first.journal);
  const crash = Promise.withResolvers<void>();
  const journal = {
    ...first.journal,
    begin: async () => {
      crash.resolve();
      return new Promise<never>(() => {});
    },
    record: async (one: Parameters<typeof record>[0]) => {
      if (one.state === "sending") crash.resolve();
      return one.state === "sending" ? new Promise<never>(() => {}) : record(one);
    },
  };
  void first.call({ ...call("c1"), journal });
  await crash.promise;
  await loseElsewhere("c2");
  const session = await openTestSession(service, { stateDir, answer: sayNo });
  expect((await session.call(call("c1"))).status).toBe("declined");
  expect(session.asked.map(({ reason }) => reason)).toEqual([WARNING]);
});

it("what a human edited and was lost is warned of in a call that asks for just that", async () => {
  service.answer(path, { drop: true });
  const session = await openTestSession(service, {
    stateDir,
    answer: editOnce("edited"),
  });
  expect((await session.call(call("c1", "as asked"))).status).toBe("unknown");
  const again = await openTestSession(service, { stateDir, answer: sayNo });
  await again.call(call("c2", "edited"));
  expect(again.asked.map(({ reason }) => reason)).toEqual([WARNING]);
});

it("an edit that makes a lost call again is asked about once more, with the warning", async () => {
  await loseElsewhere("c1");
  const session = await openTestSession(service, { stateDir, answer: editOnce("once") });
  expect((await session.call(call("c2", "something else"))).status).toBe("declined");
  expect(session.asked.map(({ reason }) => reason)).toEqual([PLAIN, WARNING]);
  expect(service.executed()).toHaveLength(1);
});

it("a warning is not over while only something else was sent after it", async () => {
  await loseElsewhere("c1");
  const session = await openTestSession(service, { stateDir, answer: editOnce("something else") });
  expect((await session.call(call("c2"))).status).toBe("succeeded");
  await session.call(call("c3"));
  expect(session.asked.map(({ reason }) => reason)).toEqual([WARNING, WARNING]);
});

/** A human who changes the text of the first request and declines every later one. */
function editOnce(text: string): (request: ApprovalRequest) => ApprovalDecision {
  let asked = 0;
  return (request) => {
    asked += 1;
    const { id, fingerprint } = request;
    return asked > 1 ? sayNo(request) : { type: "edit", id, fingerprint, arguments: { text } };
  };
}

it("a standing permission that was taken back lets nothing through after a crash", async () => {
  service.answer(path, ok);
  const asked = await openTestSession(service, { stateDir, answer: () => new Promise(() => {}) });
  const one = { ...call("c1"), connectionId: "k1" };
  // The first process dies while it asks, the second between the permission and the sending.
  void asked.call(one);
  await expect.poll(() => asked.asked.length).toBe(1);
  const allowed = await openTestSession(service, { stateDir });
  const rule = { principal: allowed.principal, tool: "probe_write", connection: "k1" };
  await allowed.rules.allow({ ...rule, effect: "write" });
  const saved = Promise.withResolvers<void>();
  const stop = () => new Promise<never>(() => {});
  void allowed.call({
    ...one,
    journal: {
      ...allowed.journal,
      begin: stop,
      async record(record) {
        if (record.state === "sending") return stop();
        await allowed.journal.record(record);
        if (record.state === "approved") saved.resolve();
      },
    },
  });
  await saved.promise;
  await allowed.rules.revoke(rule);
  const session = await openTestSession(service, { stateDir, answer: sayNo });
  expect((await session.call(one)).status).toBe("declined");
  expect(service.executed()).toEqual([]);
});
