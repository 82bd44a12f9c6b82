import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { executionEnvelopeSchema } from "../../../src/shared/wire/execution.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { readGolden } from "../../contract/read-golden.ts";
import { verifies } from "../../contract/verifies.ts";
import { call, execute } from "../http-calls.ts";
import { createLab, type Lab } from "../lab-integration.ts";

let lab: Lab;
let service: TestService;
let connectionId: string;

beforeEach(async () => {
  lab = createLab();
  service = await startTestService({ integrations: [lab.integration], usageLimit: 100 });
  const connection = await service.service.connections.add({ integration: "lab", label: "First", settings: {} });
  connectionId = connection.id;
});
afterEach(() => service.close());

describe("a call that succeeds", () => {
  test("answers 200 with the documented envelope", async () => {
    verifies("execute.status-200", "execute.arguments", "execute.reads-need-no-confirmation");
    const { status, json } = await execute(service, "lab_look", { arguments: { text: "hello" } });
    expect(status).toBe(200);
    expect(executionEnvelopeSchema.parse(json)).toMatchObject({
      ok: true,
      toolName: "lab_look",
      integration: "lab",
      connectionId,
      result: { args: { text: "hello" }, connection: "First" },
      data: { args: { text: "hello" }, connection: "First" },
      canonical: { status: "succeeded", integration_id: "lab", action_id: "look", output: { connection: "First" } },
    });
    expect(json.canonical.execution_id).toMatch(/^exe_/);
    expect(json.meta.requestId).toBe(json.canonical.execution_id);
    expect(json.error).toBeUndefined();
  });

  test("takes the top-level fields as arguments, without the reserved ones", async () => {
    verifies("execute.arguments-omitted", "execute.extra-properties");
    const loose = await execute(service, "lab_look", { text: "hello", confirmed: false, connectionId, files: null });
    expect(loose.json.result.args).toEqual({ text: "hello" });
    const beside = await execute(service, "lab_look", { arguments: { text: "hello" }, other: 1 });
    expect(beside.json.result.args).toEqual({ text: "hello" });
  });

  test("runs a confirmed write and records it", async () => {
    verifies("execute.confirmed-for-writes");
    const { status, json } = await execute(service, "lab_put", { arguments: { title: "T" }, confirmed: true });
    expect(status).toBe(200);
    expect(json.result).toEqual({ stored: "T", file: null });
    expect(await service.effects()).toEqual([
      {
        executionId: json.canonical.execution_id,
        toolName: "lab_put",
        connectionId,
        level: "write",
        arguments: { title: "T" },
        status: "succeeded",
      },
    ]);
  });

  test("hands the bytes of the files envelope to the action", async () => {
    verifies("execute.files");
    const bytes = Buffer.from("hello bytes");
    const file = { pointer: "p1", name: "a.txt", mimetype: "text/plain" };
    const { status, json } = await execute(service, "lab_put", {
      arguments: { title: "T", file: { name: "a.txt", mimetype: "text/plain", s3key: "p1" } },
      files: [{ ...file, md5: createHash("md5").update(bytes).digest("hex"), dataBase64: bytes.toString("base64") }],
      confirmed: true,
    });
    expect(status).toBe(200);
    expect(json.result.file).toBe(createHash("sha256").update(bytes).digest("hex"));
  });

  test("an action without a result answers null", async () => {
    const { json } = await execute(service, "lab_fail", { how: "nothing" });
    expect(json).toMatchObject({ ok: true, result: null, data: null });
  });
});

describe("each documented refusal", () => {
  test("400: arguments off the schema name every field", async () => {
    verifies("execute.status-400-arguments", "codes.invalid-arguments", "types.validation");
    const { status, json } = await execute(service, "lab_look", {
      arguments: { text: "h", count: "3", kind: "z", list: [{}], extra: 1 },
    });
    expect(status).toBe(400);
    expect(json.error).toMatchObject({
      code: "invalid_arguments",
      type: "validation",
      retryable: false,
      missingFields: ["list[0].id"],
      invalidFields: ["text", "count", "kind", "extra"],
    });
    expect(json.details).toContainEqual(expect.stringMatching(/^list\[0\]\.id: is required and missing, expected /));
    expect(json.details).toContain('count: expected integer, got string "3"');
    expect(json.details).toContainEqual(expect.stringMatching(/^extra: expected no such key \(known: /));
    expect(json.hint).toContain("/api/tools/lab_look");
    expect(json.canonical).toMatchObject({ status: "blocked", error_code: "validation_error", execution_id: null });
    expect(lab.ran).toEqual([]);
  });

  test.each([["text"], [["a"]], [null], [7]])("400: `arguments` as %j", async (args) => {
    verifies("decision.arguments-not-object");
    const { status, json } = await execute(service, "lab_look", { arguments: args });
    expect([status, json.error.code]).toEqual([400, "invalid_arguments"]);
  });

  test("400: a placeholder is not a value", async () => {
    const { status, json } = await execute(service, "lab_look", { text: "<file id>" });
    expect([status, json.error.code]).toEqual([400, "placeholder_argument"]);
    expect(json.error.invalidFields).toEqual(["text"]);
  });

  test("400 bare: a malformed files envelope, before anything else", async () => {
    verifies("execute.status-400-files", "errors.bare-guard");
    const { status, json } = await execute(service, "no_such_tool", { files: [{ pointer: "p" }] });
    expect(status).toBe(400);
    expect(Object.keys(json)).toEqual(["error"]);
    expect(json.error).toContain("files[0]");
  });

  test.each(["{", "[]", '"x"'])("400 bare: the body %s", async (body) => {
    const { status, json } = await execute(service, "lab_look", body);
    expect([status, typeof json.error]).toEqual([400, "string"]);
  });

  test("400: bytes that are not there", async () => {
    verifies("codes.missing-file-bytes");
    const { status, json } = await execute(service, "lab_put", {
      arguments: { title: "T", file: { name: "a.txt", mimetype: "text/plain", s3key: "/tmp/a.txt" } },
      confirmed: true,
    });
    expect([status, json.error.code]).toEqual([400, "missing_file_bytes"]);
    expect(json.hint).toContain("curl");
    expect(json.error.upload).toMatchObject({ method: "POST", field: "file" });
    expect(lab.ran).toEqual([]);
  });

  test("401: a connection that must be renewed", async () => {
    verifies("execute.status-401-reauth", "types.auth");
    await service.service.connections.update(connectionId, { state: "reauth_required" });
    const { status, json } = await execute(service, "lab_look", { arguments: {} });
    expect([status, json.error.type]).toEqual([401, "auth"]);
    expect(json.canonical).toMatchObject({
      status: "blocked",
      execution_id: null,
      error_code: "reauth_required",
      recommended_next_action: { tool: "svc.connect_app", input: { integration_id: "lab", force_reconnect: true } },
    });
  });

  test("401: a provider that refuses the sign-in leaves the connection to be renewed", async () => {
    const first = await execute(service, "lab_fail", { how: "revoked" });
    expect([first.status, first.json.canonical.error_code]).toEqual([401, "unauthorized"]);
    expect(first.json.canonical.status).toBe("failed");
    const second = await execute(service, "lab_look", { arguments: {} });
    expect(second.json.canonical.error_code).toBe("reauth_required");
  });

  test("403: missing scopes are named", async () => {
    verifies("execute.status-403", "types.missing-scopes");
    await service.service.connections.update(connectionId, { scopes: ["lab.read"] });
    const { status, json } = await execute(service, "lab_put", { arguments: { title: "T" }, confirmed: true });
    expect(status).toBe(403);
    expect(json).toMatchObject({
      error: { type: "missing_scopes" },
      details: ["lab.write"],
      canonical: { status: "blocked", error_code: "forbidden" },
    });
  });

  test("404: an unknown tool comes with suggestions, reads first, and runs nothing", async () => {
    verifies("execute.status-404", "codes.tool-not-found", "errors.tool-name-envelope");
    const { status, json } = await execute(service, "lab_put_look", { confirmed: true });
    expect(status).toBe(404);
    expect(json).toMatchObject({
      ok: false,
      toolName: "lab_put_look",
      error: { code: "tool_not_found" },
      canonical: { status: "blocked", error_code: "action_not_found", execution_id: null },
    });
    expect(json.details.length).toBeLessThanOrEqual(3);
    expect(json.details[0]).toBe("lab_look");
    expect(lab.ran).toEqual([]);
  });

  test("413 is only ever the golden bare error: what is too large for an app is no 413", async () => {
    const golden = Object.keys(readGolden("resources/bare-error") as object);
    const inApp = await execute(service, "lab_fail", { how: "too_large" });
    expect(inApp.status).toBe(400);
    expect(inApp.json).toMatchObject({
      ok: false,
      error: { code: "message_too_large" },
      canonical: { status: "failed", error_code: "validation_error" },
    });
    const body = `{"arguments":{"text":"${"x".repeat(9 * 1024 * 1024)}"}}`;
    const inBody = await execute(service, "lab_look", body);
    expect([inBody.status, Object.keys(inBody.json)]).toEqual([413, golden]);
  });

  test.each([
    ["lab_putt", "lab_put"],
    ["labput", "lab_put"],
    ["Lab-Put", "lab_put"],
    ["lab_lok", "lab_look"],
  ])("404: %s, a nearly right name, comes with the right one", async (asked, right) => {
    const { status, json } = await execute(service, asked, { confirmed: true });
    expect([status, json.details.length <= 3, json.details.includes(right)]).toEqual([404, true, true]);
    expect(json.hint).toContain(right);
    const described = await call(`${service.url}/api/tools/${asked}`, { key: service.apiKey });
    expect([described.status, Object.keys(described.json)]).toEqual([404, ["error"]]);
    expect(described.json.error).toContain(`'${right}'`);
    expect(lab.ran).toEqual([]);
  });

  test("409: no connection", async () => {
    verifies("execute.status-409-no-connection", "codes.needs-connection");
    await service.service.connections.remove(connectionId);
    const { status, json } = await execute(service, "lab_look", { arguments: {} });
    expect([status, json.error.code]).toEqual([409, "needs_connection"]);
    expect(json.canonical).toMatchObject({
      error_code: "integration_not_connected",
      recommended_next_action: { tool: "svc.connect_app", input: { integration_id: "lab" } },
    });
  });

  test("409: several connections are listed, and `connectionId` picks one", async () => {
    verifies("execute.status-409-several", "execute.connection-id", "execute.default-connection");
    const second = await service.service.connections.add({ integration: "lab", label: "Second", settings: {} });
    const several = await execute(service, "lab_look", { arguments: {} });
    expect([several.status, several.json.error.code]).toEqual([409, "ambiguous_connection"]);
    expect(several.json.details).toEqual(expect.arrayContaining([`${connectionId}: First`, `${second.id}: Second`]));
    expect(several.json.error.connections).toHaveLength(2);
    expect(several.json.canonical.error_code).toBe("policy_blocked");

    const picked = await execute(service, "lab_look", { arguments: {}, connectionId: second.id });
    expect(picked.json.result.connection).toBe("Second");
    await service.service.connections.update(second.id, { isDefault: true });
    const byDefault = await execute(service, "lab_look", { arguments: {} });
    expect(byDefault.json.result.connection).toBe("Second");
  });

  test.each([["con_nothere"], [7], [{ id: 1 }]])("409: connectionId %j is unknown", async (unknown) => {
    const { status, json } = await execute(service, "lab_look", { arguments: {}, connectionId: unknown });
    expect([status, json.error.code]).toEqual([409, "unknown_connection"]);
    expect(json.details).toEqual([`${connectionId}: First`]);
  });

  test("412: an unconfirmed write does nothing", async () => {
    verifies("execute.status-412", "codes.confirmation-required", "execute.confirmed-default");
    const { status, json } = await execute(service, "lab_put", { arguments: { title: "T" } });
    expect(status).toBe(412);
    expect(json).toMatchObject({
      ok: false,
      requiresConfirmation: true,
      policyReason: '"Put" changes something in Lab.',
      askBefore: ["Where does it go?"],
      error: { code: "confirmation_required", retryable: false },
      canonical: { status: "blocked", error_code: "policy_blocked", execution_id: null },
    });
    expect([lab.ran, await service.effects()]).toEqual([[], []]);
  });

  test.each(["true", 1, {}, null])("412: `confirmed` as %j confirms nothing", async (confirmed) => {
    verifies("decision.confirmed-boolean-only");
    const { status } = await execute(service, "lab_put", { arguments: { title: "T" }, confirmed });
    expect([status, lab.ran]).toEqual([412, []]);
  });

  test("413 bare: a body that says it is larger than any valid one", async () => {
    verifies("execute.status-413", "limits.request-files");
    const { connect } = await import("node:net");
    const { port } = new URL(service.url);
    const socket = connect(Number(port), "127.0.0.1");
    socket.write(
      `POST /api/tools/lab_put/execute HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nx-svc-api-key: ${service.apiKey}\r\nContent-Length: 200000000\r\n\r\n`,
    );
    const answer = await new Promise<string>((resolve) => socket.once("data", (data) => resolve(String(data))));
    socket.destroy();
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toMatch(/\{"error":"[^"]*100 MB[^"]*"\}/);
  });

  test("422: settings that cannot work, and a provider that says so", async () => {
    verifies("execute.status-422");
    const said = await execute(service, "lab_fail", { how: "setup" });
    await service.service.connections.update(connectionId, { settings: { broken: true } });
    const found = await execute(service, "lab_look", { arguments: {} });
    for (const { status, json } of [said, found]) {
      expect([status, json.error.code]).toEqual([422, "integration_misconfigured"]);
      expect(json.canonical.error_code).toBe("unsupported_operation");
    }
  });

  test.each([
    ["rate", "7"],
    ["rate_without_time", "30"],
  ])("429: %s carries Retry-After %s", async (how, seconds) => {
    verifies("execute.status-429", "errors.retry-after-sent", "types.rate-limit", "errors.retryable");
    const { status, headers, json } = await execute(service, "lab_fail", { how });
    expect([status, headers["retry-after"]]).toEqual([429, seconds]);
    expect(json).toMatchObject({
      error: { type: "rate_limit", retryable: true },
      canonical: { status: "failed", error_code: "rate_limited" },
    });
    expect(json.canonical.execution_id).toMatch(/^exe_/);
  });

  test("500: an unexpected error says nothing about the inside", async () => {
    verifies("execute.status-500");
    const { status, json, text } = await execute(service, "lab_fail", { how: "crash" });
    expect([status, json.error.code]).toEqual([500, "unexpected_error"]);
    expect(json.canonical).toMatchObject({ status: "failed", error_code: "execution_failed" });
    expect(text).not.toMatch(/secret|key\.pem|at .*:\d+:\d+/);
  });

  test("503: a provider that is down", async () => {
    verifies("execute.status-503", "types.network");
    const { status, json } = await execute(service, "lab_fail", { how: "down" });
    expect(status).toBe(503);
    expect(json.error).toMatchObject({ type: "network", retryable: true });
  });

  test("404 from the provider is a failure, not a missing tool", async () => {
    const { status, json } = await execute(service, "lab_fail", { how: "gone" });
    expect([status, json.error.code, json.canonical.error_code]).toEqual([404, "not_found", "execution_failed"]);
  });
});

describe("the order of checks", () => {
  test("nobody is asked to approve an invalid call", async () => {
    verifies("decision.order-of-checks");
    const invalid = await execute(service, "lab_put", { arguments: {} });
    expect([invalid.status, invalid.json.error.code]).toEqual([400, "invalid_arguments"]);
    await service.service.connections.update(connectionId, { scopes: [] });
    expect((await execute(service, "lab_put", { arguments: {} })).status).toBe(403);
    await service.service.connections.update(connectionId, { state: "reauth_required" });
    expect((await execute(service, "lab_put", { arguments: {} })).status).toBe(401);
    await service.service.connections.remove(connectionId);
    expect((await execute(service, "lab_put", { arguments: {} })).status).toBe(409);
    expect((await execute(service, "lab_nope", { arguments: {} })).status).toBe(404);
  });

  test("confirmation comes before files", async () => {
    const file = { name: "a", mimetype: "text/plain", s3key: "/nowhere" };
    expect((await execute(service, "lab_put", { arguments: { title: "T", file } })).status).toBe(412);
  });
});

describe("keys on execute", () => {
  test.each([
    ["no key", {}],
    ["a wrong key", { "x-svc-api-key": "svc_live_wrong" }],
    ["a wrong bearer", { authorization: "Bearer svc_live_wrong" }],
  ] as [string, Record<string, string>][])("401 envelope: %s", async (_what, headers) => {
    verifies("execute.status-401-key", "auth.envelope-401");
    const { status, json } = await call(`${service.url}/api/tools/lab_look/execute`, {
      method: "POST",
      headers,
      body: "{}",
    });
    expect(status).toBe(401);
    expect(json).toMatchObject({
      ok: false,
      toolName: "lab_look",
      error: { code: "unauthorized", type: "auth" },
      canonical: { status: "blocked", error_code: "unauthorized", execution_id: null },
    });
    expect(json.canonical.recommended_next_action).toBeUndefined();
  });
});

describe("limits in time and number", () => {
  test("402: a used-up day, also under concurrency", async () => {
    verifies("execute.status-402");
    const limited = await startTestService({ integrations: [lab.integration], usageLimit: 3 });
    try {
      await limited.service.connections.add({ integration: "lab", label: "L", settings: {} });
      const replies = await Promise.all(
        Array.from({ length: 8 }, () => execute(limited, "lab_look", { arguments: {} })),
      );
      expect(replies.map((reply) => reply.status).sort()).toEqual([200, 200, 200, 402, 402, 402, 402, 402]);
      const unconfirmed = await execute(limited, "lab_put", { arguments: { title: "T" } });
      expect([unconfirmed.status, unconfirmed.json.error.code]).toEqual([402, "usage_limit_reached"]);
      expect(unconfirmed.json.canonical.status).toBe("blocked");
    } finally {
      await limited.close();
    }
  });

  test("503: a provider that does not answer in time", async () => {
    const hasty = await startTestService({ integrations: [lab.integration], providerTimeoutMs: 50 });
    try {
      await hasty.service.connections.add({ integration: "lab", label: "L", settings: {} });
      const { status, json } = await execute(hasty, "lab_fail", { how: "hang" });
      expect([status, json.error.code, json.canonical.error_code]).toEqual([503, "timeout", "timeout"]);
      expect(json.error).toMatchObject({ retryable: true, message: 'Lab gave no answer to "Fail" within 50 ms.' });
      const write = await execute(hasty, "lab_wait", { arguments: {}, confirmed: true });
      expect(write.json.canonical).toMatchObject({ status: "failed", error_code: "timeout" });
    } finally {
      lab.release();
      await hasty.close();
    }
  });

  test("a write that has begun finishes and is recorded when the caller goes away", async () => {
    const controller = new AbortController();
    const gone = fetch(`${service.url}/api/tools/lab_wait/execute`, {
      method: "POST",
      headers: { "x-svc-api-key": service.apiKey },
      body: JSON.stringify({ arguments: {}, confirmed: true }),
      signal: controller.signal,
    }).catch((error: unknown) => error);
    await lab.waiting;
    expect((await service.effects())[0]?.status).toBe("started");
    controller.abort();
    await gone;
    lab.release();
    await expect.poll(async () => (await service.effects())[0]?.status).toBe("succeeded");
  });
});

test("a stop lets a running write finish and answer", async () => {
  const running = execute(service, "lab_wait", { arguments: {}, confirmed: true });
  await lab.waiting;
  const closed = service.service.close();
  lab.release();
  expect((await running).status).toBe(200);
  await closed;
  const again = await startTestService({ integrations: [lab.integration], dataDir: service.dataDir });
  try {
    expect((await again.effects()).map((effect) => effect.status)).toEqual(["succeeded"]);
  } finally {
    await again.close();
  }
});

test("a service that ignores the envelope asks for an upload", async () => {
  const picky = await startTestService({ integrations: [lab.integration], fileEnvelopes: false });
  try {
    await picky.service.connections.add({ integration: "lab", label: "L", settings: {} });
    const bytes = Buffer.from("x");
    const args = { title: "T", file: { name: "a.txt", mimetype: "text/plain", s3key: "p1" } };
    const md5 = createHash("md5").update(bytes).digest("hex");
    const files = [{ pointer: "p1", name: "a.txt", mimetype: "text/plain", md5, dataBase64: bytes.toString("base64") }];
    const refused = await execute(picky, "lab_put", { arguments: args, files, confirmed: true });
    expect([refused.status, refused.json.error.code]).toEqual([400, "missing_file_bytes"]);
    const { url, headers } = refused.json.error.upload;
    const uploaded = await call(url, { method: "POST", headers, body: bytes });
    expect(uploaded.status).toBe(201);
    const again = await call(url, { method: "POST", headers, body: bytes });
    expect([again.status, Object.keys(again.json)]).toEqual([401, ["error"]]);
    const done = await execute(picky, "lab_put", {
      arguments: { ...args, file: { ...args.file, s3key: uploaded.json.s3key } },
      confirmed: true,
    });
    expect(done.json.result.file).toBe(createHash("sha256").update(bytes).digest("hex"));
  } finally {
    await picky.close();
  }
});

test("without an ingest secret, ingest answers 503 and the hint names the envelope", async () => {
  const closed = await startTestService({ integrations: [lab.integration], ingestSecret: null });
  try {
    const { status, json } = await call(`${closed.url}/api/files/ingest`, { method: "POST", body: "x" });
    expect([status, Object.keys(json)]).toEqual([503, ["error"]]);
    await closed.service.connections.add({ integration: "lab", label: "L", settings: {} });
    const file = { name: "a.txt", mimetype: "text/plain", s3key: "/tmp/a.txt" };
    const missing = await execute(closed, "lab_put", { arguments: { title: "T", file }, confirmed: true });
    expect(missing.json.error).toMatchObject({ code: "missing_file_bytes" });
    expect(missing.json.error.upload).toBeUndefined();
    expect(missing.json.hint).toContain("files[]");
  } finally {
    await closed.close();
  }
});
