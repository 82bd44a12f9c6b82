import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { addConnection, type ProbeService, startProbeService } from "../../contract/probe-service.ts";
import { type LossyProxy, startLossyProxy } from "./lossy-proxy.ts";
import { closeAll, closeLater, makeFolder, openTestSession, sayYes, type TestSession } from "./open-test-session.ts";
import { createTool, startScriptedService } from "./scripted-service.ts";

/** Writes under an idempotency key: where the service promises to keep one, a lost answer is asked for again. */

let service: ProbeService;
let proxy: LossyProxy;

beforeEach(async () => {
  service = closeLater(await startProbeService());
  proxy = closeLater(await startLossyProxy(service.url));
});
afterEach(closeAll);

const open = (settings: Parameters<typeof openTestSession>[1] = {}): Promise<TestSession> =>
  openTestSession({ url: proxy.url, apiKey: service.apiKey }, { answer: sayYes, ...settings });
const posts = () => proxy.passed.filter(({ method }) => method === "POST").map(({ path }) => path);
const keys = () =>
  proxy.passed
    .filter(({ path }) => path === "/api/executions")
    .map(({ body }) => (JSON.parse(body) as { idempotency_key: string }).idempotency_key);
const write = { callId: "c1", toolName: "probe_write_text", arguments: { text: "once" } };

describe("a write where the service promises to keep keys", () => {
  it("goes through the canonical endpoint, confirmed and with a key, and ends like any other", async () => {
    const session = await open();
    const outcome = await session.call(write);
    const plain = await (await open({ idempotencyKeys: "off" })).call({ ...write, callId: "c2" });
    expect(outcome).toEqual({ ...plain, result: outcome.result });
    expect(Object.keys(outcome.result as object)).toEqual(Object.keys(plain.result as object));
    expect(posts()).toEqual(["/api/executions", "/api/tools/probe_write_text/execute"]);
    expect(JSON.parse(proxy.passed.find(({ path }) => path === "/api/executions")?.body ?? "")).toMatchObject({
      integration_id: "probe",
      action_id: "probe_write_text",
      input: { text: "once" },
      confirm: true,
      idempotency_key: expect.stringMatching(/^plugin-[0-9a-f]{64}$/),
    });
  });

  it("acts once when its answer is lost, and the answer is asked for again with the same key", async () => {
    const session = await open();
    proxy.lose("/api/executions", 2);
    expect(await session.call(write)).toMatchObject({ status: "succeeded" });
    expect(keys()).toHaveLength(3);
    expect(new Set(keys()).size).toBe(1);
    expect(service.probe.calls).toHaveLength(1);
    expect(session.asked).toHaveLength(1);
  });

  it("ends unknown when every answer is lost; made again after a restart it tells what happened", async () => {
    const stateDir = await makeFolder();
    const first = await open({ stateDir });
    proxy.lose("/api/executions", 4);
    expect(await first.call(write)).toMatchObject({ status: "unknown", code: "outcome_unknown" });
    await first.close();
    const second = await open({ stateDir });
    const outcome = await second.call(write);
    expect(outcome).toMatchObject({ status: "succeeded" });
    expect(outcome.notes.join(" ")).toContain("asked for again");
    expect(service.probe.calls).toHaveLength(1);
    expect(second.asked).toEqual([]);
    expect((await second.call(write)).notes.join(" ")).toContain("answered from the journal");
    expect(keys()).toHaveLength(5);
  });

  it("is looked up, and not sent again, once a day has passed", async () => {
    const stateDir = await makeFolder();
    const clock = { now: Date.now() };
    const first = await open({ stateDir, now: () => clock.now });
    proxy.lose("/api/executions", 4);
    expect((await first.call(write)).status).toBe("unknown");
    await first.close();
    clock.now += 25 * 60 * 60 * 1_000;
    const second = await open({ stateDir, now: () => clock.now });
    expect((await second.call(write)).status).toBe("succeeded");
    expect(keys()).toHaveLength(4);
    expect(service.probe.calls).toHaveLength(1);
  });

  it("uses another key for another try after a failure, and another one for every call", async () => {
    const session = await open();
    const failing = { callId: "f1", toolName: "probe_fail_write", arguments: { how: "rate_limit" } };
    expect(await session.call(failing)).toMatchObject({ status: "failed", retryable: true, retryAfterMs: 7_000 });
    await session.call(failing);
    await session.call({ ...failing, callId: "f2" });
    expect(new Set(keys()).size).toBe(3);
    expect(service.probe.calls).toHaveLength(3);
  });

  it("keeps the account that was approved when the default changes before sending", async () => {
    const session = await open({
      answer: async (request) => {
        const { id: second } = await addConnection(service.service, "Second");
        await service.service.connections.update(second, { isDefault: true });
        return sayYes(request);
      },
    });
    expect((await session.call(write)).status).toBe("succeeded");
    expect(posts()).toEqual(["/api/executions"]);
    expect(service.probe.calls.map(({ connection }) => connection)).toEqual(["First"]);
  });

  it("goes to an account that is not the default", async () => {
    const { id } = await addConnection(service.service, "Second");
    await service.service.connections.update(service.connectionId, { isDefault: true });
    const session = await open();
    proxy.lose("/api/executions", 1);
    expect((await session.call({ ...write, connectionId: id })).status).toBe("succeeded");
    expect(keys()).toHaveLength(2);
    expect(service.probe.calls.map(({ connection }) => connection)).toEqual(["Second"]);
  });

  it("asks which account, when the one it was approved for is gone at the first try", async () => {
    const { id } = await addConnection(service.service, "Second");
    const third = await addConnection(service.service, "Third");
    const session = await open({
      chooseConnection: async () => third.id,
      answer: async (request) => {
        await service.service.connections.remove(id).catch(() => undefined);
        return sayYes(request);
      },
    });
    const outcome = await session.call({ ...write, connectionId: id });
    expect([outcome.status, session.asked.map(({ connection }) => connection)]).toEqual(["succeeded", [id, third.id]]);
    expect(service.probe.calls.map(({ connection }) => connection)).toEqual(["Third"]);
  });
});

describe("everything else stays on the tool-name endpoint", () => {
  it("a read and a file", async () => {
    const session = await open();
    await writeFile(join(session.media, "a.txt"), "a");
    await session.call({ callId: "c2", toolName: "probe_echo", arguments: { text: "a" } });
    await session.call({
      callId: "c3",
      toolName: "probe_store_file",
      arguments: { file: join(session.media, "a.txt") },
    });
    expect(posts()).toHaveLength(2);
    expect(keys()).toEqual([]);
  });

  it("an account that is not the default, where a request cannot name it", async () => {
    const scripted = closeLater(await startScriptedService());
    const connections = [
      { id: "k1", label: "First", isDefault: true },
      { id: "k2", label: "Second" },
    ];
    scripted.offer(promise(createTool("probe_write", "write", { connections })));
    scripted.answer("/api/tools/probe_write/execute", { status: 200, body: { ok: true, result: 1 } });
    const session = await openTestSession(scripted, { answer: sayYes });
    const call = { callId: "c1", toolName: "probe_write", arguments: { text: "a" }, connectionId: "k2" };
    expect((await session.call(call)).status).toBe("succeeded");
    expect(scripted.executed().map(({ body }) => body.connectionId)).toEqual(["k2"]);
  });

  it("a service that promises nothing: a lost answer is not asked for again", async () => {
    const scripted = closeLater(await startScriptedService());
    scripted.offer(createTool("probe_write", "write"));
    scripted.answer("/api/tools/probe_write/execute", { drop: true });
    const session = await openTestSession(scripted, { answer: sayYes });
    const outcome = await session.call({ callId: "c1", toolName: "probe_write", arguments: { text: "a" } });
    expect(outcome.status).toBe("unknown");
    expect(scripted.executed()).toHaveLength(1);
    expect(scripted.seen.filter(({ path }) => path === "/api/executions")).toEqual([]);
  });

  it("a promise that is gone when it comes to sending", async () => {
    const scripted = closeLater(await startScriptedService());
    scripted.offer(promise(createTool("probe_write", "write")));
    scripted.answer("/api/tools/probe_write/execute", { status: 200, body: { ok: true, result: 1 } });
    const session = await openTestSession(scripted, {
      answer: (request) => {
        scripted.offer(createTool("probe_write", "write"));
        return sayYes(request);
      },
    });
    const outcome = await session.call({ callId: "c1", toolName: "probe_write", arguments: { text: "a" } });
    expect(outcome.status).toBe("succeeded");
    expect(scripted.executed()).toHaveLength(1);
  });
});

it("is unknown when the service does not know itself whether the write took effect", async () => {
  const scripted = closeLater(await startScriptedService());
  scripted.offer(promise(createTool("probe_write", "write")));
  const failed = {
    execution_id: "e1",
    status: "failed",
    error_code: "execution_failed",
    message: "The service stopped.",
  };
  scripted.answer("/api/executions", { status: 500, body: { ...failed, outcome_unknown: true } });
  const session = await openTestSession(scripted, { answer: sayYes });
  const call = { callId: "c1", toolName: "probe_write", arguments: { text: "once" } };
  const outcome = await session.call(call);
  expect(outcome).toMatchObject({ status: "unknown", code: "outcome_unknown", retryable: false });
  expect(outcome.message).toContain("The service stopped.");
  scripted.answer("/api/executions", { status: 500, body: failed });
  expect(await session.call({ ...call, callId: "c2" })).toMatchObject({ status: "failed" });
});

it("a clock that is set back makes no key last longer than the service keeps it", async () => {
  const scripted = closeLater(await startScriptedService());
  scripted.offer(promise(createTool("probe_write", "write")));
  scripted.answer("/api/executions", { drop: true });
  const stateDir = await makeFolder();
  const call = { callId: "c1", toolName: "probe_write", arguments: { text: "once" } };
  const ahead = await openTestSession(scripted, { stateDir, answer: sayYes, now: () => Date.now() + 48 * 3_600_000 });
  expect((await ahead.call(call)).status).toBe("unknown");
  await ahead.close();
  const before = scripted.seen.filter(({ path }) => path === "/api/executions").length;
  const session = await openTestSession(scripted, { stateDir, answer: sayYes });
  expect((await session.call(call)).status).toBe("unknown");
  expect(scripted.seen.filter(({ path }) => path === "/api/executions")).toHaveLength(before);
});

it("killed while sending under a key: a new process asks with the same key and input", async () => {
  const scripted = closeLater(await startScriptedService());
  scripted.offer(promise(createTool("probe_write", "write")));
  scripted.answer("/api/executions", { hang: true });
  const stateDir = await makeFolder();
  const script = fileURLToPath(new URL("./crash-child.ts", import.meta.url));
  const args = [script, scripted.url, "svc_live_test", stateDir, "probe_write", ""];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
  await scripted.whenExecuted;
  child.kill("SIGKILL");
  await once(child, "exit");
  const summary = { execution_id: "e1", status: "succeeded", output: { id: 7 } };
  scripted.answer("/api/executions", { status: 200, body: summary });
  const session = await openTestSession(scripted, { stateDir });
  const outcome = await session.call({ callId: "c1", toolName: "probe_write", arguments: { text: "once" } });
  expect(outcome).toMatchObject({ status: "succeeded", result: { id: 7 } });
  const [before, after] = scripted.seen.filter(({ path }) => path === "/api/executions").map(({ body }) => body);
  expect(after).toEqual(before);
  expect(session.asked).toEqual([]);
});

function promise<T extends ReturnType<typeof createTool>>(tool: T): T {
  return { ...tool, canonical: { ...(tool.canonical as object), idempotency_key: { kept_seconds: 3_600 } } };
}
