import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ConnectLink, ConnectPresenter } from "../../../src/plugin/calls/pipeline.ts";
import { addConnection, type ProbeService, startProbeService } from "../../contract/probe-service.ts";
import { verifies } from "../../contract/verifies.ts";
import { closeAll, closeLater, makeFolder, openTestSession, sayNo, sayYes } from "./open-test-session.ts";

/** An app that must be connected, or connected again, through the real MCP endpoint of the service. */

let service: ProbeService;
let shown: ConnectLink[];

beforeEach(async () => {
  service = closeLater(await startProbeService());
  shown = [];
});
afterEach(async () => {
  vi.useRealTimers();
  await closeAll();
});

const call = { callId: "c1", toolName: "probe_write_text", arguments: { text: "a" } };

function open(whenShown: () => Promise<boolean>, settings: Parameters<typeof openTestSession>[1] = {}) {
  return openTestSession(service, {
    answer: sayYes,
    presentConnectLink: async (link) => {
      shown.push(link);
      return whenShown();
    },
    ...settings,
  });
}

describe("a host that shows the link and waits", () => {
  it("goes on with the unchanged call once an expired app is signed in to again, without another approval", async () => {
    verifies("errors.retry-after-connecting");
    await service.service.connections.update(service.connectionId, { state: "reauth_required" });
    let looks = 0;
    const session = await open(async () => true, {
      // The human takes three looks of ours.
      sleep: async () => {
        looks += 1;
        if (looks === 3) await service.service.connections.update(service.connectionId, { state: "healthy" });
      },
    });
    expect(await session.call(call)).toMatchObject({ status: "succeeded" });
    expect(shown).toEqual([
      {
        toolName: "probe_write_text",
        integration: "probe",
        isReconnect: true,
        url: expect.stringContaining(service.url),
      },
    ]);
    expect(looks).toBe(3);
    expect(session.asked).toHaveLength(1);
    expect(service.probe.calls).toHaveLength(1);
  });

  it("goes on once an app that was never connected is", async () => {
    await service.service.connections.remove(service.connectionId);
    const session = await open(async () => {
      await addConnection(service.service, "New", { scopes: [] });
      return true;
    });
    expect(await session.call(call)).toMatchObject({ status: "succeeded" });
    expect(shown).toMatchObject([{ isReconnect: false }]);
    expect(service.probe.calls.map(({ connection }) => connection)).toEqual(["New"]);
  });

  it("asks for approval, and not which account, when the app was connected anew", async () => {
    const session = await open(async () => {
      await addConnection(service.service, "New", { scopes: [] });
      return true;
    });
    await session.call(call);
    await service.service.connections.remove(service.connectionId);
    const again = { ...call, callId: "c2", chooseConnection: async () => expect.fail("asked which account") };
    expect(await session.call(again)).toMatchObject({ status: "succeeded" });
    expect(session.asked.map(({ account }) => account)).toEqual(["First", "First", "New"]);
    expect(service.probe.calls.map(({ connection }) => connection)).toEqual(["First", "New"]);
    const given = { ...again, callId: "c3", connectionId: service.connectionId };
    expect(await session.call({ ...given, chooseConnection: async () => undefined })).toMatchObject({
      code: "ambiguous_connection",
    });
  });

  it("goes on by itself while the human has not answered yet, and takes the question back", async () => {
    await service.service.connections.remove(service.connectionId);
    let signal: AbortSignal | undefined;
    let looks = 0;
    const session = await open(async () => false, {
      sleep: async () => {
        looks += 1;
        if (looks === 2) await addConnection(service.service, "New", { scopes: [] });
      },
    });
    const presentConnectLink: ConnectPresenter = async (_link, options) => {
      signal = options.signal;
      return new Promise((resolve) => options.signal.addEventListener("abort", () => resolve(false)));
    };
    expect(await session.call({ ...call, presentConnectLink })).toMatchObject({ status: "succeeded" });
    expect(signal?.aborted).toBe(true);
    expect(looks).toBe(2);
  });

  it("looks at the account that failed: another account of the app can be used all the time", async () => {
    await service.service.connections.update(service.connectionId, { isDefault: true });
    const { id: other } = await addConnection(service.service, "Other", { scopes: [] });
    await service.service.connections.update(other, { state: "reauth_required" });
    const presentConnectLink: ConnectPresenter = async (_link, { signal }) => {
      await setImmediate();
      expect(signal.aborted).toBe(false);
      await service.service.connections.update(other, { state: "healthy" });
      return new Promise<boolean>(() => {});
    };
    const session = await open(async () => false, { sleep: async () => void (await setImmediate()) });
    expect(await session.call({ ...call, connectionId: String(other), presentConnectLink })).toMatchObject({
      status: "succeeded",
    });
    expect(service.probe.calls.map(({ connection }) => connection)).toEqual(["Other"]);
  });

  it("gives up when the time is over, and says what is missing", async () => {
    await service.service.connections.remove(service.connectionId);
    const clock = { now: Date.now() };
    const session = await open(async () => true, {
      now: () => clock.now,
      connectTimeoutMs: 60_000,
      sleep: async (ms) => {
        clock.now += ms;
      },
    });
    const outcome = await session.call(call);
    expect(outcome).toMatchObject({ status: "needs_connection", connectUrl: shown[0]?.url });
    expect(shown).toHaveLength(1);
    expect(service.probe.calls).toEqual([]);
  });

  it("gives up when the time is over and only the human could tell, also when the host does not listen", async () => {
    await service.service.connections.update(service.connectionId, { isDefault: true });
    const { id: other } = await addConnection(service.service, "Other", { scopes: [] });
    await service.service.connections.update(other, { state: "reauth_required" });
    const session = await open(() => new Promise(() => {}), { connectTimeoutMs: 1 });
    expect(await session.call({ ...call, connectionId: String(other) })).toMatchObject({ status: "needs_connection" });
    expect(shown).toHaveLength(1);
    expect(service.probe.calls).toEqual([]);
  });

  it("leaves no doubt behind when it is stopped while waiting: the app said no, and nothing is under way", async () => {
    await service.service.connections.remove(service.connectionId);
    const stateDir = await makeFolder();
    const stop = new AbortController();
    const first = await open(async () => true, { stateDir, sleep: async () => stop.abort() });
    await expect(first.call({ ...call, signal: stop.signal })).rejects.toMatchObject({ name: "AbortError" });
    await first.close();
    await addConnection(service.service, "New", { scopes: [] });
    const again = await openTestSession(service, { answer: sayYes, stateDir });
    expect(await again.call({ ...call, callId: "c2" })).toMatchObject({ status: "succeeded" });
    expect(again.asked.map(({ reason }) => reason)).not.toContainEqual(expect.stringContaining("may already have"));
    expect(service.probe.calls).toHaveLength(1);
  });

  it("keeps an edit when it is stopped while waiting: what was asked before the edit is not what was approved", async () => {
    await service.service.connections.remove(service.connectionId);
    const stateDir = await makeFolder();
    const stop = new AbortController();
    const first = await open(async () => true, {
      stateDir,
      answer: (request) => ({ ...sayYes(request), type: "edit", arguments: { text: "edited" } }),
      sleep: async () => stop.abort(),
    });
    await expect(first.call({ ...call, signal: stop.signal })).rejects.toMatchObject({ name: "AbortError" });
    await first.close();
    const again = await openTestSession(service, { answer: sayNo, stateDir });
    expect(await again.call(call)).toMatchObject({ status: "declined" });
    expect(again.asked.map((request) => request.arguments)).toEqual([call.arguments]);
    expect(again.events.some((event) => event.type === "sending")).toBe(false);
  });

  it("stops waiting when the call is aborted", async () => {
    await service.service.connections.remove(service.connectionId);
    const stop = new AbortController();
    const session = await open(async () => true, { sleep: async () => stop.abort() });
    await expect(session.call({ ...call, signal: stop.signal })).rejects.toMatchObject({ name: "AbortError" });
  });
});

it("a host that does not want to wait, or fails to show it, gets the link in the outcome", async () => {
  await service.service.connections.remove(service.connectionId);
  for (const answer of [async () => false, async () => Promise.reject(new Error("no window"))]) {
    const session = await open(answer);
    expect(await session.call(call)).toMatchObject({ status: "needs_connection", connectUrl: expect.any(String) });
  }
});

it("a call brings its own way to show the link", async () => {
  await service.service.connections.remove(service.connectionId);
  const session = await open(async () => Promise.reject(new Error("the session's presenter was asked")));
  const links: ConnectLink[] = [];
  const presentConnectLink = async (link: ConnectLink) => {
    links.push(link);
    await addConnection(service.service, "New", { scopes: [] });
    return true;
  };
  expect(await session.call({ ...call, presentConnectLink })).toMatchObject({ status: "succeeded" });
  expect(links).toHaveLength(1);
  expect(shown).toEqual([]);
});

describe("several accounts", () => {
  it("are asked about as they are now, and not asked about when one is left", async () => {
    const { id } = await addConnection(service.service, "Second", { scopes: [] });
    const asked: string[][] = [];
    const session = await open(async () => false, {
      chooseConnection: async ({ choices }) => {
        asked.push(choices.map(({ label }) => label));
        return { id: choices.at(-1)?.id ?? "", remember: false };
      },
    });
    await session.catalog.refresh(call.toolName);
    await service.service.connections.remove(id);
    const third = await addConnection(service.service, "Third", { scopes: [] });
    expect(await session.call(call)).toMatchObject({ status: "succeeded" });
    await service.service.connections.remove(third.id);
    expect(await session.call({ ...call, callId: "c2" })).toMatchObject({ status: "succeeded" });
    expect(asked).toEqual([["First", "Third"]]);
    expect(session.asked.map(({ account }) => account)).toEqual(["Third", "First"]);
  });

  it.each([
    ["does not listen", () => new Promise<never>(() => {})],
    ["says that the time is over", (signal: AbortSignal) => Promise.reject(signal.reason)],
  ])("are waited for no longer than the time of a question, also when the host %s", async (_, answer) => {
    await addConnection(service.service, "Second", { scopes: [] });
    const session = await open(async () => false, {
      chooseConnection: (_question, { signal }) => {
        vi.advanceTimersByTime(10 * 60 * 1_000);
        return answer(signal);
      },
    });
    await session.catalog.refresh(call.toolName);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    expect(await session.call(call)).toMatchObject({ status: "needs_connection", code: "ambiguous_connection" });
    expect(service.probe.calls).toEqual([]);
  });
});
