import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startTestService } from "../../src/testing.ts";
import { playExchange, readExchanges, send } from "./golden-exchange.ts";
import { addConnection, type ProbeService, readError, readMember, startProbeService } from "./probe-service.ts";
import { verifies } from "./verifies.ts";

let service: ProbeService;

beforeEach(async () => {
  service = await startProbeService();
});
afterEach(() => service.close());

describe("the execute request", () => {
  test("takes arguments", async () => {
    verifies("execute.arguments", "execute.status-200", "models.tool-name.path-identity", "models.tool-name.reply");
    const reply = await service.execute("echo", { arguments: { text: "a", times: 2 } });
    const result = { action: "echo", args: { text: "a", times: 2 }, connection: "First" };
    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({
      ok: true,
      result,
      canonical: { status: "succeeded", integration_id: "probe", action_id: "echo" },
    });
  });

  test("takes the other top-level fields when arguments is left out", async () => {
    verifies("execute.arguments-omitted");
    const reply = await service.execute("echo", {
      text: "a",
      times: 2,
      connectionId: service.connectionId,
      confirmed: true,
      files: [],
    });
    expect(reply.status).toBe(200);
    expect(service.probe.calls.at(-1)?.args).toEqual({ text: "a", times: 2 });
  });

  test("may carry extra fields beside arguments", async () => {
    verifies("execute.extra-properties");
    const reply = await service.execute("echo", { arguments: { text: "a" }, trace: { id: 1 }, text: "b" });
    expect(reply.status).toBe(200);
    expect(service.probe.calls.at(-1)?.args).toEqual({ text: "a" });
  });

  test("refuses arguments that are no object", async () => {
    verifies("decision.arguments-not-object");
    for (const wrong of ["text", 7, null, ["a"]]) {
      const reply = await service.execute("echo", { arguments: wrong });
      expect(reply.status, JSON.stringify(wrong)).toBe(400);
      expect(readError(reply).code).toBe("invalid_arguments");
    }
    expect(service.probe.calls).toEqual([]);
  });

  test("chooses a connection by id, else the default one", async () => {
    verifies("execute.connection-id", "execute.default-connection", "connection.id-integer-or-string");
    const second = await addConnection(service.service, "Second", { isDefault: true });
    const labelFor = async (connectionId: unknown) => {
      const reply = await service.execute("echo", { arguments: { text: "a" }, connectionId });
      return reply.status === 200 ? service.probe.calls.at(-1)?.connection : reply.status;
    };
    expect(await labelFor(undefined)).toBe("Second");
    expect(await labelFor(service.connectionId)).toBe("First");
    expect(await labelFor(second.id)).toBe("Second");
    const asNumber = Number(service.connectionId);
    if (String(asNumber) === service.connectionId) expect(await labelFor(asNumber)).toBe("First");
    expect(await labelFor(424_242), "an integer is a legal form of an id").toBe(409);
    for (const wrong of [true, {}, ["First"]]) expect([400, 409]).toContain(await labelFor(wrong));
  });

  test("needs confirmed true for writes, and only the boolean counts", async () => {
    verifies(
      "execute.confirmed-default",
      "execute.confirmed-for-writes",
      "execute.status-412",
      "codes.confirmation-required",
      "decision.confirmed-boolean-only",
    );
    for (const confirmed of [undefined, false]) {
      const reply = await service.execute("write_text", { arguments: { text: "a" }, confirmed });
      expect(reply.status, String(confirmed)).toBe(412);
      expect(readError(reply).code).toBe("confirmation_required");
    }
    for (const confirmed of ["true", 1, "yes", {}, null]) {
      const reply = await service.execute("write_text", { arguments: { text: "a" }, confirmed });
      expect([400, 412], JSON.stringify(confirmed)).toContain(reply.status);
    }
    expect(service.probe.calls).toEqual([]);
    expect(await service.effects()).toEqual([]);
    expect((await service.execute("write_text", { arguments: { text: "a" }, confirmed: true })).status).toBe(200);
    expect(service.probe.calls).toHaveLength(1);
  });

  test("needs no confirmation for reads", async () => {
    verifies("execute.reads-need-no-confirmation");
    expect((await service.execute("echo", { arguments: { text: "a" } })).status).toBe(200);
  });
});

describe("the statuses of execute", () => {
  test("400 for arguments off the schema, naming each", async () => {
    verifies("execute.status-400-arguments", "codes.invalid-arguments", "types.validation", "envelope.details");
    const reply = await service.execute("echo", { arguments: { times: "two", wrong: 1 } });
    expect(reply.status).toBe(400);
    expect(readError(reply)).toMatchObject({ code: "invalid_arguments", type: "validation", retryable: false });
    const details = readMember(reply, "details");
    expect(details).toEqual(
      expect.arrayContaining([expect.stringContaining("text"), expect.stringContaining("times")]),
    );
    expect(service.probe.calls).toEqual([]);
  });

  test("401 as an envelope for a missing or wrong key", async () => {
    verifies("execute.status-401-key", "auth.envelope-401");
    for (const headers of [{}, { "x-svc-api-key": "svc_live_wrong" }, { authorization: "Bearer nothing" }]) {
      const reply = await send(service.url, {
        method: "POST",
        path: "/api/tools/probe_echo/execute",
        headers,
        body: { arguments: { text: "a" } },
      });
      expect(reply.status).toBe(401);
      expect(reply.body).toMatchObject({ ok: false, error: { type: "auth", retryable: false } });
    }
    expect(service.probe.calls).toEqual([]);
  });

  test("401 for a connection that must be renewed", async () => {
    verifies("execute.status-401-reauth", "types.auth", "errors.next-action-names-connect-app");
    await service.service.connections.update(service.connectionId, { state: "reauth_required" });
    const reply = await service.execute("echo", { arguments: { text: "a" } });
    expect(reply.status).toBe(401);
    expect(reply.body).toMatchObject({
      ok: false,
      canonical: {
        status: "blocked",
        error_code: "reauth_required",
        recommended_next_action: {
          tool: "svc.connect_app",
          input: { integration_id: "probe", force_reconnect: true },
        },
      },
    });
    expect(readError(reply).type).toBe("auth");
  });

  test("402 above the usage limit", async () => {
    verifies("execute.status-402");
    const limited = await startProbeService({ usageLimit: 1 });
    try {
      expect((await limited.execute("echo", { arguments: { text: "a" } })).status).toBe(200);
      const reply = await limited.execute("echo", { arguments: { text: "a" } });
      expect(reply.status).toBe(402);
      expect(reply.body).toMatchObject({ ok: false, error: { message: expect.any(String) } });
      expect(limited.probe.calls).toHaveLength(1);
    } finally {
      await limited.close();
    }
  });

  test("403 for a connection without the scopes", async () => {
    verifies("execute.status-403", "types.missing-scopes");
    const reply = await service.execute("restricted", { arguments: {} });
    expect(reply.status).toBe(403);
    expect(readError(reply).type).toBe("missing_scopes");
    expect(JSON.stringify(reply.body)).toContain("probe.extra");
    await service.service.connections.update(service.connectionId, { scopes: ["probe.extra"] });
    expect((await service.execute("restricted", { arguments: {} })).status).toBe(200);
  });

  test("404 for an unknown tool", async () => {
    verifies("execute.status-404", "codes.tool-not-found");
    const reply = await service.execute("ecko", { arguments: { text: "a" } });
    expect(reply.status).toBe(404);
    expect(reply.body).toMatchObject({ ok: false, toolName: "probe_ecko", error: { code: "tool_not_found" } });
  });

  test("409 without a connection", async () => {
    verifies("execute.status-409-no-connection", "codes.needs-connection", "errors.next-action-names-connect-app");
    await service.service.connections.remove(service.connectionId);
    const reply = await service.execute("echo", { arguments: { text: "a" } });
    expect(reply.status).toBe(409);
    expect(readError(reply)).toMatchObject({ code: "needs_connection" });
    expect(reply.body).toMatchObject({
      canonical: {
        status: "blocked",
        error_code: "integration_not_connected",
        recommended_next_action: { tool: "svc.connect_app", input: { integration_id: "probe" } },
      },
    });
  });

  test("409 with several connections, none of them the default", async () => {
    verifies("execute.status-409-several");
    await addConnection(service.service, "Second");
    const reply = await service.execute("echo", { arguments: { text: "a" } });
    expect(reply.status).toBe(409);
    expect(JSON.stringify(reply.body)).toContain("Second");
    expect(service.probe.calls).toEqual([]);
  });

  test("422 for a configuration problem", async () => {
    verifies("execute.status-422");
    expect((await service.execute("fail", { arguments: { how: "misconfigured" } })).status).toBe(422);
    await service.service.connections.update(service.connectionId, { state: "error" });
    expect((await service.execute("echo", { arguments: { text: "a" } })).status).toBe(422);
  });

  test("429 with Retry-After for a provider's rate limit", async () => {
    verifies("execute.status-429", "errors.retry-after-sent", "types.rate-limit", "errors.retryable");
    const reply = await service.execute("fail", { arguments: { how: "rate_limit" } });
    expect(reply.status).toBe(429);
    expect(reply.headers["retry-after"]).toBe("7");
    expect(readError(reply)).toMatchObject({ type: "rate_limit", retryable: true });
  });

  test("500 for the unexpected, without its inside", async () => {
    verifies("execute.status-500");
    const reply = await service.execute("fail", { arguments: { how: "crash" } });
    expect(reply.status).toBe(500);
    expect(reply.body).toMatchObject({ ok: false, canonical: { status: "failed" } });
    expect(JSON.stringify(reply.body)).not.toMatch(/secret detail|\.ts:|at run/);
  });

  test("503 for an unavailable provider", async () => {
    verifies("execute.status-503", "types.network");
    const reply = await service.execute("fail", { arguments: { how: "unavailable" } });
    expect(reply.status).toBe(503);
    expect(readError(reply)).toMatchObject({ type: "network", retryable: true });
  });
});

describe("the order of checks", () => {
  test("is files shape, tool, connection, renewal, scopes, arguments, confirmation, files", async () => {
    verifies("decision.order-of-checks");
    const { connections } = service.service;
    const file = { name: "a.txt", mimetype: "text/plain", s3key: "/nowhere/a.txt" };
    const statusOf = async (action: string, body: object) => (await service.execute(action, body)).status;

    expect(await statusOf("no_such_tool", { arguments: {}, files: "x" }), "files shape before tool").toBe(400);
    await connections.remove(service.connectionId);
    expect(await statusOf("no_such_tool", { arguments: {} }), "tool before connection").toBe(404);
    expect(await statusOf("restricted", { arguments: { wrong: 1 } }), "connection before arguments").toBe(409);
    const only = await addConnection(service.service, "Only", { scopes: [] });
    await connections.update(only.id, { state: "reauth_required" });
    expect(await statusOf("restricted", { arguments: { wrong: 1 } }), "renewal before scopes").toBe(401);
    await connections.update(only.id, { state: "healthy" });
    expect(await statusOf("restricted", { arguments: { wrong: 1 } }), "scopes before arguments").toBe(403);
    expect(await statusOf("store_file", { arguments: { file, wrong: 1 } }), "arguments before confirmation").toBe(400);
    expect(await statusOf("store_file", { arguments: { file } }), "confirmation before files").toBe(412);
    const missing = await service.execute("store_file", { arguments: { file }, confirmed: true });
    expect(readError(missing).code, "files before the provider").toBe("missing_file_bytes");
    expect(service.probe.calls).toEqual([]);
  });
});

describe("the envelope", () => {
  test("of a success", async () => {
    verifies("envelope.ok", "envelope.result", "envelope.data-alias", "envelope.meta");
    const reply = await service.execute("echo", { arguments: { text: "a" } });
    expect(reply.body).toMatchObject({ ok: true, meta: expect.any(Object) });
    expect(readMember(reply, "result")).toMatchObject({ action: "echo" });
    expect(readMember(reply, "data")).toEqual(readMember(reply, "result"));
    expect(readMember(reply, "error") ?? null).toBeNull();
  });

  test("of a failure that ran", async () => {
    verifies(
      "errors.tool-name-envelope",
      "envelope.error-object",
      "envelope.failure-names-tool",
      "envelope.canonical-block",
    );
    const reply = await service.execute("fail", { arguments: { how: "unavailable" } });
    expect(reply.body).toMatchObject({
      ok: false,
      toolName: "probe_fail",
      integration: "probe",
      error: { code: expect.any(String), type: "network", message: expect.any(String), retryable: true },
      canonical: { status: "failed", error_code: expect.any(String), message: expect.any(String) },
    });
  });

  test("of a refusal that asks for a confirmation", async () => {
    verifies("envelope.requires-confirmation", "envelope.hint", "envelope.canonical-block");
    const reply = await service.execute("write_text", { arguments: { text: "a" } });
    expect(reply.body).toMatchObject({
      ok: false,
      requiresConfirmation: true,
      hint: expect.stringMatching(/confirmed/),
      canonical: { status: "blocked", error_code: "policy_blocked", message: expect.any(String) },
    });
  });
});

describe("golden exchanges of execute", () => {
  test("play in their order on one service, and only the confirmed write has an effect", async () => {
    const local = await startTestService();
    try {
      for (const exchange of readExchanges("execute")) await playExchange(local, exchange);
      expect((await local.effects()).map((effect) => effect.toolName)).toEqual(["drive_upload_file"]);
      expect(await readFile(join(local.dataDir, "drive/abc.txt"), "utf8")).toBe("abc");
    } finally {
      await local.close();
    }
  });
});
