import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type RecordingServer, startRecordingServer } from "../plugin/client/recording-server.ts";
import { openPluginSession, type PluginSession } from "./plugin-session.ts";
import { addConnection, type ProbeService, startProbeService } from "./probe-service.ts";
import { verifies } from "./verifies.ts";

let service: ProbeService;
let plugin: PluginSession;

beforeEach(async () => {
  service = await startProbeService();
  plugin = await openPluginSession(service);
});
afterEach(async () => {
  await plugin.close();
  await service.close();
});

/** Changes an action of the running service, as its developer would between two releases. */
describe("the plugin answers what the service says", () => {
  test("200", async () => {
    verifies("execute.handled-200");
    const outcome = await plugin.call("echo", { text: "a" });
    expect(outcome).toMatchObject({ status: "succeeded", toolName: "probe_echo", result: { args: { text: "a" } } });
  });

  test("400: what to correct", async () => {
    verifies("execute.handled-400", "errors.hint-surfaced");
    const bare = await openPluginSession(service, { validation: "off" });
    const outcome = await bare.call("echo", { times: "two" });
    await bare.close();
    expect(outcome).toMatchObject({ status: "failed", code: "invalid_arguments", retryable: false });
    expect(JSON.stringify(outcome)).toMatch(/text/);
    expect(outcome.hint).toEqual(expect.stringMatching(/\w/));
  });

  test("401: a refused key is not a connection to renew", async () => {
    verifies("execute.handled-401-key", "execute.handled-401-reauth", "auth.client-refused-key");
    await plugin.call("echo", { text: "a" });
    await service.service.connections.update(service.connectionId, { state: "reauth_required" });
    const renew = await plugin.call("echo", { text: "b" });
    expect(renew).toMatchObject({ status: "needs_connection", nextAction: { tool: "svc.connect_app" } });

    const stranger = await openPluginSession({ url: service.url, apiKey: "svc_live_wrong" });
    const refused = await stranger.call("echo", { text: "a" });
    await stranger.close();
    expect(refused).toMatchObject({ status: "failed", code: "unauthorized", retryable: false });
    expect(refused.hint).toMatch(/pair/i);
  });

  test("402: not worth another try", async () => {
    verifies("execute.handled-402", "errors.retryable-passed");
    const limited = await startProbeService({ usageLimit: 0 });
    const session = await openPluginSession(limited);
    const outcome = await session.call("echo", { text: "a" });
    await session.close();
    await limited.close();
    expect(outcome).toMatchObject({ status: "failed", retryable: false });
    expect(session.waits).toEqual([]);
    expect(`${outcome.message} ${outcome.hint}`).toMatch(/limit/i);
  });

  test("403: which permission, and how to grant it", async () => {
    verifies("execute.handled-403", "errors.hint-surfaced");
    const outcome = await plugin.call("restricted", {});
    expect(outcome.status).toBe("failed");
    expect(JSON.stringify(outcome)).toContain("probe.extra");
    expect(outcome.hint).toMatch(/grant|reconnect/i);
  });

  test("404: a missing tool comes with suggestions, a provider's 404 does not", async () => {
    verifies("execute.handled-404");
    await plugin.session.catalog.sync();
    const outcome = await plugin.call("eco", { text: "a" });
    expect(outcome).toMatchObject({ status: "failed", code: "tool_not_found" });
    expect(outcome.hint).toContain("probe_echo");
    const missing = await plugin.call("fail", { how: "not_found" });
    expect(missing).toMatchObject({ status: "failed", code: "file_not_found" });
    expect(JSON.stringify(missing)).not.toContain("probe_echo");
  });

  test("409: no connection, then the same call again once there is one", async () => {
    verifies("execute.handled-409-no-connection", "errors.retry-after-connecting");
    await service.service.connections.remove(service.connectionId);
    const call = { callId: "again", toolName: "probe_echo", arguments: { text: "a" } };
    expect(await plugin.session.call(call)).toMatchObject({
      status: "needs_connection",
      nextAction: { tool: "svc.connect_app", input: { integration_id: "probe" } },
    });
    await addConnection(service.service, "New");
    expect((await plugin.session.call(call)).status).toBe("succeeded");
    expect(service.probe.calls).toMatchObject([{ args: { text: "a" }, connection: "New" }]);
  });

  test("409: several connections, a human picks", async () => {
    verifies("execute.handled-409-several");
    const second = await addConnection(service.service, "Second");
    const asked: unknown[] = [];
    const choosing = await openPluginSession(service, {
      chooseConnection: async (question) => {
        asked.push(question.choices.map((choice) => choice.label).sort());
        return second.id;
      },
    });
    expect((await choosing.call("echo", { text: "a" })).status).toBe("succeeded");
    await choosing.close();
    expect(asked).toEqual([["First", "Second"]]);
    expect(service.probe.calls.at(-1)?.connection).toBe("Second");

    const unasked = await plugin.call("echo", { text: "a" });
    expect(unasked).toMatchObject({ status: "needs_connection" });
    expect(unasked.choices?.map((choice) => choice.label).sort()).toEqual(["First", "Second"]);
  });

  test("412: a human approves, then the same call is sent with confirmed true", async () => {
    verifies("execute.handled-412", "execute.confirmed-only-after-approval");
    expect((await plugin.call("echo", { text: "first" })).status).toBe("succeeded");
    await service.changeAction("echo", { level: "write", requiresConfirmation: true });
    const outcome = await plugin.call("echo", { text: "second" });
    expect(outcome.status).toBe("succeeded");
    expect(plugin.shown.map((request) => request.arguments)).toEqual([{ text: "second" }]);
    expect(service.probe.calls.map((call) => call.args)).toEqual([{ text: "first" }, { text: "second" }]);
  });

  test("a write nobody approved is not sent", async () => {
    verifies("execute.confirmed-only-after-approval");
    const answers = {
      declined: async (request: { id: string; fingerprint: string }) =>
        ({ type: "decline", id: request.id, fingerprint: request.fingerprint }) as const,
      wrong: async (request: { id: string }) => ({ type: "approve", id: request.id, fingerprint: "another" }) as const,
      broken: async () => Promise.reject(new Error("The window was closed.")),
    };
    for (const [name, approve] of Object.entries(answers)) {
      const session = await openPluginSession(service, { approve });
      const outcome = await session.call("write_text", { text: "a", confirmed: true, confirm: true });
      await session.close();
      expect(["declined", "needs_approval", "failed"], name).toContain(outcome.status);
    }
    const alone = await openPluginSession(service, { approve: undefined });
    expect((await alone.call("write_text", { text: "a" })).status).toBe("needs_approval");
    await alone.close();
    expect(service.probe.calls).toEqual([]);
    expect(await service.effects()).toEqual([]);
  });

  test("422: the service's hint", async () => {
    verifies("execute.handled-422", "errors.hint-surfaced");
    await service.service.connections.update(service.connectionId, { state: "error" });
    const outcome = await plugin.call("echo", { text: "a" });
    expect(outcome).toMatchObject({ status: "failed", retryable: false });
    expect(outcome.hint).toMatch(/settings|set up/i);
  });

  test("429: a read waits as told and asks again, a write does not", async () => {
    verifies("execute.handled-429", "errors.retry-after-honoured", "errors.retryable-passed");
    const read = await plugin.call("fail", { how: "rate_limit" });
    expect(read).toMatchObject({ status: "failed", retryable: true });
    expect(plugin.waits.length).toBeGreaterThan(0);
    expect(Math.min(...plugin.waits)).toBeGreaterThanOrEqual(7_000);
    const tries = service.probe.calls.length;
    expect(tries).toBe(plugin.waits.length + 1);
    const write = await plugin.call("fail_write", { how: "rate_limit" });
    expect(write).toMatchObject({ status: "failed", retryable: true });
    expect(service.probe.calls).toHaveLength(tries + 1);
  });

  test("500: said once, and a write is not repeated", async () => {
    verifies("execute.handled-500");
    const outcome = await plugin.call("fail_write", { how: "crash" });
    expect(["failed", "unknown"]).toContain(outcome.status);
    expect(JSON.stringify(outcome)).not.toMatch(/secret detail/);
    expect(service.probe.calls).toHaveLength(1);
    expect(plugin.waits).toEqual([]);
  });

  test("503: a read asks again, a write does not", async () => {
    verifies("execute.handled-503");
    expect(await plugin.call("fail", { how: "unavailable" })).toMatchObject({ status: "failed", retryable: true });
    const tries = service.probe.calls.length;
    expect(tries).toBeGreaterThan(1);
    expect(await plugin.call("fail_write", { how: "unavailable" })).toMatchObject({ status: "failed" });
    expect(service.probe.calls).toHaveLength(tries + 1);
  });
});

describe("the plugin and tool descriptions", () => {
  test("takes the schema from describe, never a placeholder", async () => {
    verifies("tool.placeholder-is-not-empty-arguments");
    await plugin.session.catalog.sync();
    const entry = await plugin.session.catalog.find("probe_echo");
    expect(entry?.inputSchema).toMatchObject({ required: ["text"] });
    expect(await plugin.call("echo", {})).toMatchObject({ status: "failed", code: "invalid_arguments" });
    expect(service.probe.calls).toEqual([]);
  });

  test("describes again when a schema changed under it", async () => {
    verifies("versioning.schema-may-change");
    expect((await plugin.call("echo", { text: "a" })).status).toBe("succeeded");
    await service.changeAction("echo", {
      inputSchema: {
        type: "object",
        properties: { words: { type: "string" } },
        required: ["words"],
        additionalProperties: false,
      },
    });
    const told = await plugin.call("echo", { text: "b" });
    expect(told.status).toBe("failed");
    expect(JSON.stringify(told)).toContain("words");
    expect((await plugin.call("echo", { words: "c" })).status).toBe("succeeded");
  });

  test("knows that a list was cut, and never calls the notice", async () => {
    verifies("tool.notice-never-called", "tools.list.truncation-never-silent");
    const named = (index: number) => ({ integration: "probe", name: `probe_echo_${1000 + index}`, inputSchema: null });
    const notice = { integration: null, name: null, description: "30 more", inputSchema: null };
    const tools = [...Array.from({ length: 200 }, (_, index) => named(index)), notice];
    const server = await startRecordingServer(({ url }) => ({
      json: url.startsWith("/api/integrations")
        ? { items: [{ integration_id: "probe", name: "Probe", connected: true }], page: 1, page_size: 100, total: 1 }
        : { tools, count: 200, total: 230, truncated: true, integration: url.includes("probe") ? "probe" : null },
    }));
    const session = await openPluginSession({ url: server.url, apiKey: "svc_live_a" });
    const report = await session.session.catalog.sync();
    expect(report).toMatchObject({ tools: 200, omitted: [{ integration: "probe", count: 30 }] });
    expect(session.session.catalog.list().filter((entry) => typeof entry.name !== "string")).toEqual([]);
    const nameless: { toolName: string } = JSON.parse('{ "toolName": null }');
    const outcome = await session.session.call({ callId: "notice", arguments: {}, ...nameless });
    expect(outcome).toMatchObject({ status: "failed", code: "tool_not_found" });
    await session.close();
    await server.close();
  });
});

describe("the plugin and answers of another service", () => {
  let server: RecordingServer;
  const tool = {
    integration: "probe",
    name: "probe_echo",
    description: "Echoes.",
    inputSchema: { type: "object", properties: { text: { type: "string" } } },
    accessLevel: "read",
  };
  let answer: { status: number; json: unknown };

  beforeEach(async () => {
    server = await startRecordingServer(({ method }) => (method === "GET" ? { json: { tool } } : answer));
  });
  afterEach(() => server.close());

  const call = async () => {
    const session = await openPluginSession({ url: server.url, apiKey: "svc_live_a" });
    const outcome = await session.call("echo", { text: "a" });
    await session.close();
    return outcome;
  };

  test("reads data like result", async () => {
    verifies("envelope.data-read-when-result-absent");
    answer = { status: 200, json: { ok: true, data: { said: "a" } } };
    expect(await call()).toMatchObject({ status: "succeeded", result: { said: "a" } });
  });

  test("passes on a code it does not know", async () => {
    verifies("envelope.unknown-code-passed");
    const error = { code: "moon_phase_wrong", type: "astronomy", message: "Wait for the full moon.", retryable: false };
    answer = { status: 409, json: { ok: false, error, hint: "Look up." } };
    expect(await call()).toMatchObject({
      status: "failed",
      code: "moon_phase_wrong",
      message: expect.stringContaining("full moon"),
      hint: expect.stringContaining("Look up."),
    });
  });

  test("reads a bare error and a summary where an envelope is due", async () => {
    verifies("errors.bare-accepted", "summary.accepted-by-plugin", "execute.handled-413");
    answer = { status: 413, json: { error: "files envelope above 100 MB" } };
    expect(await call()).toMatchObject({ status: "failed", message: expect.stringContaining("100 MB") });
    answer = {
      status: 409,
      json: {
        execution_id: null,
        status: "blocked",
        error_code: "integration_not_connected",
        message: "Not connected.",
      },
    };
    expect((await call()).status).toBe("needs_connection");
  });
});
