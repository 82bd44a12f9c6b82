import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Action } from "../../../src/apps/port/integration.ts";
import { createFingerprint } from "../../../src/plugin/calls/ask/fingerprint.ts";
import type { JournalRecord } from "../../../src/plugin/calls/journal/journal-record.ts";
import { addConnection, type ProbeService, startProbeService } from "../../contract/probe-service.ts";
import { type LossyProxy, startLossyProxy } from "./lossy-proxy.ts";
import { closeAll, closeLater, makeFolder, openTestSession, sayYes, type TestSession } from "./open-test-session.ts";
import { createTool, startScriptedService } from "./scripted-service.ts";

/**
 * A write under an idempotency key is lost before it reaches the service, and what its human saw changes before it is
 * sent again: a repeated request acts only on what was approved, while the approval counts.
 */

const HOUR_MS = 3_600_000;
const PATH = "/api/executions";
const WRITE = { callId: "c1", toolName: "probe_write_text", arguments: { text: "once" } };

let service: ProbeService;
let proxy: LossyProxy;
let stateDir: string;
let privateId: string;
let skew: number;

beforeEach(async () => {
  skew = 0;
  stateDir = await makeFolder();
  service = closeLater(await startProbeService());
  proxy = closeLater(await startLossyProxy(service.url));
  privateId = (await addConnection(service.service, "Private")).id;
  await service.service.connections.update(service.connectionId, { isDefault: true });
});
afterEach(closeAll);

const open = (settings: Parameters<typeof openTestSession>[1] = {}): Promise<TestSession> =>
  openTestSession(
    { url: proxy.url, apiKey: service.apiKey },
    { answer: sayYes, stateDir, now: () => Date.now() + skew, ...settings },
  );
const acted = () => service.probe.calls.map(({ action, connection }) => `${action} on ${connection}`);
const sent = () => proxy.passed.filter(({ method, path }) => method === "POST" && path === PATH).length;
const usePrivate = () => service.service.connections.update(privateId, { isDefault: true });

const changeAction = (change: Partial<Action>) => service.changeAction("write_text", change);

/** Makes the call in a process of its own, every request of which is lost before it arrives. */
async function loseInEarlierProcess(call = WRITE): Promise<void> {
  const session = await open();
  proxy.drop(PATH, 9);
  expect(await session.call(call)).toMatchObject({ status: "unknown" });
  proxy.drop(PATH, 0);
  await session.close();
}

const PINS = JSON.stringify({
  version: 1,
  service: "",
  pinnedAt: "2026-03-01T00:00:00.000Z",
  tools: { [WRITE.toolName]: { effect: "read" } },
});

describe("a keyed write that never arrived", () => {
  it("acts on the approved account when the default changes between two tries", async () => {
    const session = await open({
      sleep: async () => {
        await usePrivate();
      },
    });
    proxy.drop(PATH, 1);
    const outcome = await session.call(WRITE);
    expect([outcome.status, acted()]).toEqual(["succeeded", ["write_text on First"]]);
  });

  it("is sent again only within its time limit, which is for all tries together", async () => {
    const session = await open({
      timeoutMs: 10_000,
      onEvent: ({ type }) => {
        if (type === "sending") skew += 11_000;
      },
    });
    proxy.drop(PATH, 9);
    expect(await session.call(WRITE)).toMatchObject({ status: "unknown" });
    expect(sent()).toBe(1);
  });

  it("is not sent by a new process once the approval has expired", async () => {
    await loseInEarlierProcess();
    await usePrivate();
    skew = 23 * HOUR_MS;
    const before = sent();
    const session = await open();
    const outcome = await session.call(WRITE);
    expect(acted()).toEqual([]);
    expect(outcome).toMatchObject({ status: "unknown", code: "outcome_unknown" });
    expect(outcome.message).toContain("the approval has expired");
    expect([sent(), session.asked]).toEqual([before, []]);
  });

  it("is not sent once the standing permission that allowed it was revoked", async () => {
    const first = await open({ answer: (request) => ({ ...sayYes(request), always: true }) });
    expect((await first.call({ ...WRITE, callId: "c0" })).status).toBe("succeeded");
    await first.close();
    await loseInEarlierProcess();
    const session = await open();
    const { principal } = session;
    const rule = { principal, tool: WRITE.toolName, connection: service.connectionId };
    expect(await session.rules.revoke(rule)).toBe(true);
    const outcome = await session.call(WRITE);
    expect(acted()).toEqual(["write_text on First"]);
    expect(outcome.message).toContain("the standing permission was taken back");
  });

  it("is not sent once the tool deletes", async () => {
    await loseInEarlierProcess();
    await changeAction({ level: "delete" });
    const outcome = await (await open()).call(WRITE);
    expect(acted()).toEqual([]);
    expect(outcome).toMatchObject({ status: "unknown" });
    expect(outcome.message).toContain("the effect of the tool changed (write before, delete now)");
  });

  it.each<[string, string, () => unknown]>([
    [
      "account is gone",
      "the account is gone",
      async () => {
        await usePrivate();
        await service.service.connections.remove(service.connectionId);
      },
    ],
    [
      "account has another name",
      "the account has another name (First before, Other now)",
      () => service.service.connections.update(service.connectionId, { label: "Other" }),
    ],
    [
      "tool takes other arguments",
      "the arguments of the tool changed",
      () => changeAction({ inputSchema: { type: "object", properties: { text: { type: "string", maxLength: 9 } } } }),
    ],
    ["clock was set back", "the clock was set back", () => (skew = -HOUR_MS)],
    [
      "pins say otherwise",
      "the tool is not as it was pinned",
      () => writeFile(join(stateDir, "tools.lock.json"), PINS),
    ],
  ])("is not sent once the %s", async (_, reason, change) => {
    await loseInEarlierProcess();
    await change();
    const before = sent();
    const outcome = await (await open()).call(WRITE);
    expect(outcome).toMatchObject({ status: "unknown" });
    expect(outcome.message).toContain(reason);
    expect(outcome.message).toContain("The service has done nothing under its key so far.");
    expect([sent(), acted()]).toEqual([before, []]);
  });

  it("is not sent while the service cannot say what the tool is now", async () => {
    await loseInEarlierProcess();
    const session = await open();
    await session.catalog.find(WRITE.toolName);
    await service.close();
    const outcome = await session.call(WRITE);
    expect([outcome.status, acted()]).toEqual(["unknown", []]);
  });

  it("is asked about anew, with a warning, when the model makes another call of it", async () => {
    await loseInEarlierProcess();
    skew = HOUR_MS;
    const session = await open();
    expect((await session.call(WRITE)).status).toBe("unknown");
    expect((await session.call({ ...WRITE, callId: "c2" })).status).toBe("succeeded");
    expect(session.asked.map(({ reason }) => reason)).toEqual([expect.stringContaining("may already have happened")]);
    expect(acted()).toEqual(["write_text on First"]);
  });

  it("is sent again by a new process while everything is as it was approved", async () => {
    await loseInEarlierProcess();
    await usePrivate();
    const session = await open();
    expect((await session.call(WRITE)).status).toBe("succeeded");
    expect([acted(), session.asked]).toEqual([["write_text on First"], []]);
  });
});

describe("a keyed write whose answers were lost after it acted", () => {
  it("is looked up by its key when it must not be sent again", async () => {
    const first = await open();
    proxy.lose(PATH, 9);
    expect((await first.call(WRITE)).status).toBe("unknown");
    proxy.lose(PATH, 0);
    await first.close();
    await usePrivate();
    await changeAction({ level: "delete" });
    skew = 23 * HOUR_MS;
    const before = sent();
    const session = await open();
    const outcome = await session.call(WRITE);
    expect(outcome).toMatchObject({ status: "succeeded", result: { connection: "First" } });
    expect([sent(), acted(), session.asked]).toEqual([before, ["write_text on First"], []]);
    expect((await session.call(WRITE)).notes.join(" ")).toContain("answered from the journal");
  });

  it("acts once when the clock of the service jumps 8 days between two tries", async () => {
    const clock = { skew: 0 };
    const other = closeLater(await startProbeService({ now: () => Date.now() + clock.skew }));
    const between = closeLater(await startLossyProxy(other.url));
    const session = await openTestSession(
      { url: between.url, apiKey: other.apiKey },
      {
        answer: sayYes,
        sleep: async () => {
          clock.skew = 8 * 24 * HOUR_MS;
        },
      },
    );
    between.lose(PATH, 1);
    expect((await session.call(WRITE)).status).toBe("succeeded");
    expect(other.probe.calls).toHaveLength(1);
  });
});

describe("a service that keeps keys, and takes no account and no look-up", () => {
  const tool = (change: object, effect = "write") => {
    const made = createTool("probe_write", effect, { connections: WORK, ...change });
    return { ...made, canonical: { ...(made.canonical as object), idempotency_key: { kept_seconds: 86_400 } } };
  };
  const WORK = [
    { id: "k1", label: "Work", isDefault: true },
    { id: "k2", label: "Private" },
  ];
  const PRIVATE = [
    { id: "k1", label: "Work" },
    { id: "k2", label: "Private", isDefault: true },
  ];
  const done = { status: 200, body: { execution_id: "e1", status: "succeeded", output: 1 } };
  const call = { callId: "c1", toolName: "probe_write", arguments: { text: "a" } };

  it.each([
    ["the default is the same", tool({}), "succeeded", 2],
    ["the default is another one", tool({ connections: PRIVATE }), "unknown", 1],
    ["the tool deletes", tool({}, "delete"), "unknown", 1],
    ["the promise is gone", { ...tool({}), canonical: createTool("probe_write", "write").canonical }, "unknown", 1],
  ])("is sent again only while it describes what was approved: %s", async (_, next, status, requests) => {
    const scripted = closeLater(await startScriptedService());
    scripted.offer(tool({}));
    scripted.answer(PATH, { drop: true }, done);
    const session = await openTestSession(scripted, { answer: sayYes, sleep: async () => scripted.offer(next) });
    expect((await session.call(call)).status).toBe(status);
    const bodies = scripted.seen.filter(({ path }) => path.startsWith(PATH)).map(({ body }) => body);
    expect(bodies).toHaveLength(requests);
    expect(bodies.every((body) => !("connection_id" in body))).toBe(true);
  });

  it("a record of an earlier version, without what was approved, is not sent again", async () => {
    const scripted = closeLater(await startScriptedService());
    scripted.offer(tool({}));
    scripted.answer(PATH, { drop: true });
    const first = await openTestSession(scripted, { stateDir, answer: sayYes });
    await first.call(call);
    const kept = first.journal.find({ callId: "c1", fingerprint: nameCall(first) });
    const { approved: _, ...repeatable } = kept?.repeatable ?? { key: "", arguments: {}, until: 0 };
    await first.journal.record({ ...(kept as JournalRecord), repeatable });
    await first.close();
    const before = scripted.seen.filter(({ path }) => path === PATH).length;
    scripted.answer(PATH, done);
    const outcome = await (await openTestSession(scripted, { stateDir, answer: sayYes })).call(call);
    expect(outcome.message).toContain("nothing was recorded of what was approved");
    expect(scripted.seen.filter(({ path }) => path === PATH)).toHaveLength(before);
  });

  function nameCall({ principal }: TestSession): string {
    const subject = { tool: call.toolName, arguments: call.arguments, connection: undefined, files: [], principal };
    return createFingerprint(subject);
  }
});
