import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ConnectLink } from "../../src/tools/await-connection.ts";
import { addConnection, type ProbeService, startProbeService } from "../contract/probe-service.ts";
import { verifies } from "../contract/verifies.ts";
import { closeAll, closeLater, openTestSession, sayYes } from "./open-test-session.ts";

/** An app that must be connected, or connected again, through the real MCP endpoint of the service. */

let service: ProbeService;
let shown: ConnectLink[];

beforeEach(async () => {
  service = closeLater(await startProbeService());
  shown = [];
});
afterEach(closeAll);

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
