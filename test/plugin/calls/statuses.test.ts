import { afterEach, describe, expect, it } from "vitest";
import { addConnection, type ProbeService, startProbeService } from "../../contract/probe-service.ts";
import { verifies } from "../../contract/verifies.ts";
import { closeAll, closeLater, openTestSession, sayYes } from "./open-test-session.ts";
import { createTool, startScriptedService } from "./scripted-service.ts";

/** Every status of the execute table, produced by the real service for a real reason, and what becomes of it. */

afterEach(closeAll);

async function start(options: Parameters<typeof startProbeService>[0] = {}): Promise<ProbeService> {
  return closeLater(await startProbeService(options));
}

let calls = 0;
const nextCall = () => ({ callId: `call_${++calls}` });

describe("every status of POST /api/tools/{name}/execute becomes a stated outcome", () => {
  it("200", async () => {
    verifies("execute.handled-200", "execute.client");
    const session = await openTestSession(await start());
    const outcome = await session.call({ ...nextCall(), toolName: "probe_echo", arguments: { text: "hello" } });
    expect(outcome).toMatchObject({ status: "succeeded", toolName: "probe_echo", result: { args: { text: "hello" } } });
  });

  it("400: names what to correct, after local advice was overridden", async () => {
    verifies("execute.handled-400", "errors.hint-surfaced");
    const service = await start();
    const session = await openTestSession(service);
    const call = { toolName: "probe_echo", arguments: { times: 3 } };
    const advice = await session.call({ ...nextCall(), ...call });
    expect(advice).toMatchObject({ status: "failed", code: "invalid_arguments" });
    expect(session.events.filter((event) => event.type === "sending")).toEqual([]);
    const answered = await session.call({ ...nextCall(), ...call });
    expect(answered).toMatchObject({ status: "failed", code: "invalid_arguments", retryable: false });
    expect(answered.details?.join(" ")).toContain("text");
    expect(session.events.filter((event) => event.type === "sending")).toHaveLength(1);
    expect(service.probe.calls).toEqual([]);
  });

  it("401 for a key that is not accepted: pair again, no retry", async () => {
    verifies("execute.handled-401-key", "auth.client-refused-key");
    const service = await start();
    const good = await openTestSession(service);
    await good.catalog.load();
    const session = await openTestSession(service, { key: `svc_live_${"x".repeat(40)}` });
    const outcome = await session.call({ ...nextCall(), toolName: "probe_echo", arguments: { text: "a" } });
    expect(outcome).toMatchObject({ status: "failed", retryable: false });
    expect(outcome.hint).toContain("Pair it again");
    expect(JSON.stringify(outcome)).not.toContain("svc_live_xxx");
  });

  it("401 for an expired connection: a link for the human", async () => {
    verifies("execute.handled-401-reauth");
    const service = await start();
    await service.service.connections.update(service.connectionId, { state: "reauth_required" });
    const session = await openTestSession(service);
    const outcome = await session.call({ ...nextCall(), toolName: "probe_echo", arguments: { text: "a" } });
    expect(outcome).toMatchObject({
      status: "needs_connection",
      nextAction: { tool: "svc.connect_app", input: { integration_id: "probe", force_reconnect: true } },
    });
    expect(outcome.hint).toContain("sign in again");
  });

  it("the unchanged call succeeds once the connection is healthy", async () => {
    verifies("errors.retry-after-connecting");
    const service = await start();
    await service.service.connections.update(service.connectionId, { state: "reauth_required" });
    const session = await openTestSession(service, { answer: sayYes });
    const call = { ...nextCall(), toolName: "probe_write_text", arguments: { text: "a" } };
    expect((await session.call(call)).status).toBe("needs_connection");
    await service.service.connections.update(service.connectionId, { state: "healthy" });
    expect((await session.call(call)).status).toBe("succeeded");
    expect(service.probe.calls).toHaveLength(1);
  });

  it("402", async () => {
    verifies("execute.handled-402");
    const session = await openTestSession(await start({ usageLimit: 0 }));
    const outcome = await session.call({ ...nextCall(), toolName: "probe_echo", arguments: { text: "a" } });
    expect(outcome).toMatchObject({ status: "failed", code: "usage_limit_reached", retryable: false });
  });

  it("403 with the missing scopes", async () => {
    verifies("execute.handled-403");
    const session = await openTestSession(await start());
    const outcome = await session.call({ ...nextCall(), toolName: "probe_restricted", arguments: {} });
    expect(outcome).toMatchObject({ status: "failed", code: "needs_scope_upgrade", details: ["probe.extra"] });
    expect(outcome.hint).toContain("grant");
  });

  it("404: close names, reads first, none run", async () => {
    verifies("execute.handled-404");
    const service = await start();
    const session = await openTestSession(service, { answer: sayYes });
    await session.catalog.load();
    const outcome = await session.call({ ...nextCall(), toolName: "probe_write_texts", arguments: { text: "a" } });
    expect(outcome).toMatchObject({ status: "failed", code: "tool_not_found", retryable: false });
    expect(outcome.hint).toContain("probe_write_text");
    expect(session.asked).toEqual([]);
    expect(service.probe.calls).toEqual([]);
  });

  it("409 without a connection", async () => {
    verifies("execute.handled-409-no-connection");
    const service = await start();
    await service.service.connections.remove(service.connectionId);
    const session = await openTestSession(service);
    const outcome = await session.call({ ...nextCall(), toolName: "probe_echo", arguments: { text: "a" } });
    expect(outcome).toMatchObject({
      status: "needs_connection",
      code: "needs_connection",
      nextAction: { tool: "svc.connect_app", input: { integration_id: "probe" } },
    });
  });

  it("409 with several connections: the human picks, and the pick is sent", async () => {
    verifies("execute.handled-409-several", "connection.id-integer-or-string");
    const service = await start();
    const labels: string[] = [];
    const session = await openTestSession(service, {
      chooseConnection: async ({ choices }) => {
        labels.push(...choices.map((choice) => choice.label));
        return choices.find((choice) => choice.label === "Second")?.id;
      },
    });
    // Described before the second account is there, so that the service has to object.
    await session.catalog.find("probe_echo");
    await addConnection(service.service, "Second");
    const call = { toolName: "probe_echo", arguments: { text: "a" } };
    const outcome = await session.call({ ...nextCall(), ...call });
    expect(outcome.status).toBe("succeeded");
    expect(labels.toSorted()).toEqual(["First", "Second"]);
    await session.call({ ...nextCall(), ...call });
    expect(labels).toHaveLength(2);
    expect(service.probe.calls.map((probed) => probed.connection)).toEqual(["Second", "Second"]);
    const named = await session.call({ ...nextCall(), ...call, connectionId: service.connectionId });
    expect(named.status).toBe("succeeded");
    expect(service.probe.calls.at(-1)?.connection).toBe("First");
  });

  it("409 with several connections and nobody to ask: the labels are listed, nothing runs", async () => {
    const service = await start();
    await addConnection(service.service, "Second");
    const session = await openTestSession(service);
    const outcome = await session.call({ ...nextCall(), toolName: "probe_echo", arguments: { text: "a" } });
    expect(outcome.status).toBe("needs_connection");
    expect(outcome.choices?.map((choice) => choice.label).toSorted()).toEqual(["First", "Second"]);
    expect(service.probe.calls).toEqual([]);
  });

  it("413 is named with its limit", async () => {
    verifies("execute.handled-413");
    const scripted = closeLater(await startScriptedService());
    scripted.offer(createTool("probe_echo", "read"));
    scripted.answer("/api/tools/probe_echo/execute", { status: 413, body: { error: "files are above 100 MB" } });
    const session = await openTestSession(scripted);
    const outcome = await session.call({ ...nextCall(), toolName: "probe_echo", arguments: { text: "a" } });
    expect(outcome).toMatchObject({ status: "failed", code: "request_too_large", message: "files are above 100 MB" });
  });

  it("422", async () => {
    verifies("execute.handled-422");
    const session = await openTestSession(await start());
    const outcome = await session.call({ ...nextCall(), toolName: "probe_fail", arguments: { how: "misconfigured" } });
    expect(outcome).toMatchObject({ status: "failed", code: "integration_misconfigured", retryable: false });
  });

  it("429: a read waits as long as it is told and stops after three tries; a write is sent once", async () => {
    verifies("execute.handled-429", "errors.retry-after-honoured", "errors.retryable-passed");
    const service = await start();
    const waits: number[] = [];
    const session = await openTestSession(service, {
      answer: sayYes,
      idempotencyKeys: "off",
      sleep: async (ms) => void waits.push(ms),
    });
    const read = await session.call({ ...nextCall(), toolName: "probe_fail", arguments: { how: "rate_limit" } });
    expect(read).toMatchObject({ status: "failed", code: "rate_limit", retryable: true, retryAfterMs: 7_000 });
    expect(waits).toEqual([7_000, 7_000]);
    expect(service.probe.calls).toHaveLength(3);
    const write = await session.call({ ...nextCall(), toolName: "probe_fail_write", arguments: { how: "rate_limit" } });
    expect(write).toMatchObject({ status: "failed", code: "rate_limit", retryAfterMs: 7_000 });
    expect(service.probe.calls).toHaveLength(4);
    expect(waits).toHaveLength(2);
  });

  it("500: a write is reported, not repeated, and nothing of the crash gets out", async () => {
    verifies("execute.handled-500");
    const service = await start();
    const session = await openTestSession(service, { answer: sayYes, idempotencyKeys: "off" });
    const outcome = await session.call({ ...nextCall(), toolName: "probe_fail_write", arguments: { how: "crash" } });
    expect(outcome).toMatchObject({ status: "unknown", code: "outcome_unknown", retryable: false });
    expect(JSON.stringify(outcome)).not.toContain("secret detail");
    expect(service.probe.calls).toHaveLength(1);
  });

  it.each<[string, { status: number; body: object }]>([
    ["202 and still running", { status: 202, body: { status: "running", execution_id: "e1" } }],
    ["200 and not begun", { status: 200, body: { status: "queued", execution_id: "e1" } }],
    ["500 around a success", { status: 500, body: { ok: true, result: 1 } }],
    ["409 around a summary of a success", { status: 409, body: { status: "succeeded", execution_id: "e1" } }],
    [
      "500 because the app took too long",
      { status: 500, body: { status: "failed", execution_id: "e1", error_code: "timeout", message: "Too long." } },
    ],
    [
      "504 that asks for another try",
      { status: 504, body: { ok: false, error: { code: "timeout", message: "Too long.", retryable: true } } },
    ],
  ])("%s: whether a write took effect is not known", async (_name, reply) => {
    const scripted = closeLater(await startScriptedService());
    scripted.offer(createTool("probe_write", "write"));
    scripted.answer("/api/tools/probe_write/execute", reply);
    const session = await openTestSession(scripted, { answer: sayYes });
    const call = { ...nextCall(), toolName: "probe_write", arguments: { text: "a" } };
    expect(await session.call(call)).toMatchObject({ status: "unknown", retryable: false });
    expect((await session.call(call)).status).toBe("unknown");
    expect(scripted.executed()).toHaveLength(1);
  });

  it("503: a read is tried three times, a write once", async () => {
    verifies("execute.handled-503");
    const service = await start();
    const session = await openTestSession(service, { answer: sayYes });
    const read = await session.call({ ...nextCall(), toolName: "probe_fail", arguments: { how: "unavailable" } });
    expect(read).toMatchObject({ status: "failed", code: "provider_unavailable", retryable: true });
    expect(service.probe.calls).toHaveLength(3);
    await session.call({ ...nextCall(), toolName: "probe_fail_write", arguments: { how: "unavailable" } });
    expect(service.probe.calls).toHaveLength(4);
  });
});
