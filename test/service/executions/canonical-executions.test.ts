import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openService } from "../../../src/service/open-service.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { verifies } from "../../contract/verifies.ts";
import { findStore } from "../find-store.ts";
import { call, execute, type Reply } from "../http-calls.ts";
import { createLab, type Lab } from "../lab-integration.ts";

let lab: Lab;
let service: TestService;
let connectionId: string;

beforeEach(async () => {
  lab = createLab();
  const crm = { ...createLab().integration, slug: "big-crm", name: "Big CRM" };
  service = await startTestService({ integrations: [lab.integration, crm], providerTimeoutMs: 2_000 });
  connectionId = (await service.service.connections.add({ integration: "lab", label: "First", settings: {} })).id;
});
afterEach(() => service.close());

function send(body: unknown, headers: Record<string, string> = {}): Promise<Reply> {
  return call(`${service.url}/api/executions`, {
    method: "POST",
    key: service.apiKey,
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}
const run = (action_id: string, input: unknown = {}, rest: object = {}) =>
  send({ integration_id: "lab", action_id, input, ...rest });
const read = (id: string, key = service.apiKey) => call(`${service.url}/api/executions/${id}`, { key });

describe("an execution that succeeds", () => {
  test("answers 200 with the documented summary, and can be read again", async () => {
    verifies(
      "models.canonical.reply",
      "summary.execution-id",
      "summary.status",
      "summary.integration-id",
      "summary.action-id",
      "summary.timestamps",
      "summary.output",
      "summary.display",
      "execution.succeeded",
      "canonical.integration-id",
      "canonical.input",
      "canonical.get-execution",
    );
    const { status, json } = await run("look", { text: "hello" });
    expect(status).toBe(200);
    expect(json).toEqual({
      execution_id: expect.stringMatching(/^exe_/),
      status: "succeeded",
      integration_id: "lab",
      action_id: "look",
      started_at: expect.any(String),
      finished_at: expect.any(String),
      output: { args: { text: "hello" }, connection: "First" },
      display: { title: expect.stringContaining("Look"), summary: expect.any(String) },
    });
    expect(Date.parse(json.finished_at)).toBeGreaterThanOrEqual(Date.parse(json.started_at));
    const stored = await read(json.execution_id);
    expect([stored.status, stored.json]).toEqual([200, json]);
  });

  test.each([
    ["lab", "look"],
    ["lab", "lab_look"],
    ["lab", "lab-look"],
    [" LAB ", "Look"],
    ["big-crm", "big-crm_look"],
    ["big-crm", "look"],
    ["bigcrm", "bigcrm_look"],
    ["Big-CRM", "big_crm_look"],
  ])("takes integration %j and action %j", async (integration_id, action_id) => {
    verifies("canonical.action-id");
    await service.service.connections.add({ integration: "big-crm", label: "C", settings: {} });
    const { status, json } = await send({ integration_id, action_id, input: {} });
    expect([status, json.status, json.action_id]).toEqual([200, "succeeded", "look"]);
  });

  test("runs on the default connection only", async () => {
    verifies("models.canonical.default-connection");
    await service.service.connections.add({ integration: "lab", label: "Second", settings: {}, isDefault: true });
    expect((await run("look", {}, { connectionId })).json.output.connection).toBe("Second");
  });

  test("what was run by tool name can be read too", async () => {
    const done = await execute(service, "lab_look", { text: "hello" });
    expect((await read(done.json.canonical.execution_id)).json).toEqual(done.json.canonical);
  });
});

describe("a malformed request", () => {
  const complete = { integration_id: "lab", action_id: "look", input: {} };
  test.each([
    ["without integration_id", { ...complete, integration_id: undefined }],
    ["with a blank action_id", { ...complete, action_id: "  " }],
    ["with a numeric action_id", { ...complete, action_id: 4 }],
    ["without input", { ...complete, input: undefined }],
    ["with an array as input", { ...complete, input: [] }],
    ["with a text as input", { ...complete, input: "{}" }],
    ["with null as input", { ...complete, input: null }],
    ["that is broken JSON", "{"],
    ["that is no object", "[]"],
    ["without a body", ""],
  ])("%s answers a bare 400", async (_name, body) => {
    verifies("canonical.missing-fields", "errors.bare-guard");
    const { status, json } = await send(body);
    expect([status, Object.keys(json)]).toEqual([400, ["error"]]);
    expect(lab.ran).toEqual([]);
  });

  test("with files is told what to do instead", async () => {
    verifies("canonical.no-files");
    const { status, json } = await send({ ...complete, files: [] });
    expect([status, Object.keys(json)]).toEqual([400, ["error"]]);
    expect(json.error).toMatch(/files.*URL/s);
    expect((await send({ ...complete, files: null })).status).toBe(200);
  });

  test.each(["", " ", 7, {}, "k".repeat(201), "\ud800", "a\u0000b"])(
    "with idempotency_key %j",
    async (idempotency_key) => {
      const { status, json } = await send({ ...complete, idempotency_key });
      expect([status, json.error]).toEqual([400, expect.stringContaining("idempotency_key")]);
    },
  );

  test("that is too large answers 400, as the document knows no 413 here", async () => {
    const { status, json, headers } = await send(`{"input":"${"x".repeat(8 * 1024 * 1024)}"}`);
    expect([status, Object.keys(json), headers.connection]).toEqual([400, ["error"], "close"]);
  });
});

test("a bad key answers 401 with a summary", async () => {
  verifies("canonical.unauthorized", "canonical-code.unauthorized", "decision.canonical-401-summary");
  for (const key of ["", "svc_live_wrong"]) {
    const { status, json } = await call(`${service.url}/api/executions`, { method: "POST", key, body: "{}" });
    expect(status).toBe(401);
    expect(json).toMatchObject({ execution_id: null, status: "blocked", error_code: "unauthorized" });
    expect(json.display.title).toBe("The call: not run");
    expect(json.display).toEqual({ title: expect.any(String), summary: json.message });
    expect(json.recommended_next_action).toBeUndefined();
  }
  expect((await call(`${service.url}/api/executions/exe_1`)).json).toEqual({ error: expect.any(String) });
});

describe("a blocked execution", () => {
  const blocked = (error_code: string) => ({ status: "blocked", execution_id: null, error_code });

  test("409: a write with confirm left out, false or not the boolean true", async () => {
    verifies(
      "models.canonical.policy-blocked",
      "execution.blocked",
      "execution.blocked-resend",
      "execution.write-needs-confirm",
      "canonical.confirm",
      "canonical-code.policy-blocked",
      "summary.error-code",
      "summary.message",
      "summary.hint",
      "errors.canonical-summary",
    );
    for (const confirm of [undefined, false, "true", 1, {}, null]) {
      const { status, json } = await run("put", { title: "T" }, { confirm });
      expect([status, json]).toMatchObject([409, { ...blocked("policy_blocked"), message: expect.any(String) }]);
      expect(json.hint).toContain("`confirm` true");
    }
    expect(lab.ran).toEqual([]);
    const confirmed = await run("put", { title: "T" }, { confirm: true });
    expect([confirmed.status, confirmed.json.output]).toEqual([200, { stored: "T", file: null }]);
  });

  test("409: an unknown integration, naming near ones", async () => {
    verifies("canonical-code.integration-not-found");
    const { status, json } = await send({ integration_id: "big", action_id: "look", input: {} });
    expect([status, json]).toMatchObject([409, { ...blocked("integration_not_found"), integration_id: "big" }]);
    expect(json.hint).toContain("big-crm");
  });

  test("409: an unknown action, naming near ones", async () => {
    verifies("canonical-code.action-not-found");
    const { status, json } = await run("looking_at");
    expect([status, json]).toMatchObject([409, { ...blocked("action_not_found"), action_id: "looking_at" }]);
    expect(json.hint).toContain("look");
    expect((await run("__proto__")).json.error_code).toBe("action_not_found");
  });

  test("409: not connected", async () => {
    verifies("canonical-code.integration-not-connected", "summary.next-action");
    const { status, json } = await send({ integration_id: "big-crm", action_id: "look", input: {} });
    expect([status, json]).toMatchObject([409, blocked("integration_not_connected")]);
    expect(json.recommended_next_action).toEqual({ tool: "svc.connect_app", input: { integration_id: "big-crm" } });
  });

  test("409: signed out", async () => {
    verifies("canonical-code.reauth-required", "summary.next-action-input");
    await service.service.connections.update(connectionId, { state: "reauth_required" });
    const { status, json } = await run("look");
    expect([status, json]).toMatchObject([409, blocked("reauth_required")]);
    expect(json.recommended_next_action).toEqual({
      tool: "svc.connect_app",
      input: { integration_id: "lab", connection_id: connectionId, force_reconnect: true },
    });
  });

  test("409: missing scopes", async () => {
    verifies("canonical-code.forbidden");
    await service.service.connections.update(connectionId, { scopes: ["lab.read"] });
    const { status, json } = await run("put", { title: "T" }, { confirm: true });
    expect([status, json]).toMatchObject([409, blocked("forbidden")]);
    expect(json.message).toContain("lab.write");
  });

  test("409: several connections and no default", async () => {
    await service.service.connections.add({ integration: "lab", label: "Second", settings: {} });
    const { status, json } = await run("look");
    expect([status, json]).toMatchObject([409, blocked("policy_blocked")]);
    expect(json.hint).toContain("`connection_id`");
  });
});

describe("a failed execution", () => {
  test("500: input off the schema; nothing ran, and the failure can be looked up", async () => {
    verifies("execution.failed", "canonical-code.validation-error");
    const { status, json } = await run("look", { text: "x", count: "two" });
    expect([status, json]).toMatchObject([
      500,
      { status: "failed", execution_id: expect.stringMatching(/^exe_/), error_code: "validation_error" },
    ]);
    expect(json.message).toMatch(/^(text|count): expected /);
    expect(json.details).toHaveLength(2);
    expect(json.hint).toContain("GET /api/actions/lab/look");
    expect(lab.ran).toEqual([]);
    expect((await read(json.execution_id)).json).toEqual(json);
    await run("put", {}, { confirm: true });
    expect(await service.effects(), "a write that was refused is no effect").toEqual([]);
  });

  test.each([
    ["rate", "rate_limited", "7"],
    ["rate_without_time", "rate_limited", "30"],
    ["down", "execution_failed", undefined],
    ["setup", "unsupported_operation", undefined],
    ["gone", "execution_failed", undefined],
    ["crash", "execution_failed", undefined],
    ["hang", "timeout", undefined],
  ])("500: the provider fails by %s", async (how, error_code, wait) => {
    verifies(
      "canonical-code.rate-limited",
      "canonical-code.timeout",
      "canonical-code.unsupported-operation",
      "canonical-code.execution-failed",
      "errors.retry-after-sent",
    );
    const { status, json, headers, text } = await run("fail", { how });
    expect([status, json]).toMatchObject([500, { status: "failed", execution_id: expect.any(String), error_code }]);
    expect(headers["retry-after"]).toBe(wait);
    expect(text).not.toMatch(/secret|\/home/);
    const stored = await read(json.execution_id);
    expect([stored.status, stored.json, stored.headers["retry-after"]]).toEqual([200, json, undefined]);
  });

  test("500: the provider refuses the sign-in", async () => {
    const { status, json } = await run("fail", { how: "revoked" });
    expect([status, json]).toMatchObject([500, { status: "failed", error_code: "unauthorized" }]);
    expect(json.recommended_next_action.input).toMatchObject({ integration_id: "lab", force_reconnect: true });
    expect((await run("look")).json.error_code).toBe("reauth_required");
  });

  test("500: file bytes are missing; the hint fits this endpoint", async () => {
    const file = { name: "a.txt", mimetype: "text/plain", s3key: "/tmp/a.txt" };
    const { status, json } = await run("put", { title: "T", file }, { confirm: true });
    expect([status, json.error_code]).toEqual([500, "validation_error"]);
    expect(json.message).toContain("input.file.s3key");
    expect(json.hint).toContain("/api/files/ingest");
  });
});

describe("reading an execution", () => {
  test("404 bare for an unknown id and for one of another account", async () => {
    verifies("decision.execution-unknown-404");
    const { json } = await run("look");
    await service.service.close();
    const { dataDir } = service;
    const place = { dataDir, ...(await findStore(dataDir)) };
    const open = await openService({ ...place, port: 0, integrations: [lab.integration] });
    try {
      const foreign = await open.keys.issue({ accountId: "acc_other", label: "Other", client: null });
      const ask = (id: string, key: string) => call(`${open.url}/api/executions/${id}`, { key });
      expect((await ask(json.execution_id, service.apiKey)).status).toBe(200);
      for (const [id, key] of [
        [json.execution_id, foreign.apiKey],
        ["exe_nothere", service.apiKey],
        ["%2e%2e", service.apiKey],
      ] as const) {
        const reply = await ask(id, key);
        expect([reply.status, Object.keys(reply.json)]).toEqual([404, ["error"]]);
      }
    } finally {
      await open.close();
    }
  });

  test("one that still runs says so", async () => {
    const pending = run("wait", {}, { confirm: true });
    await lab.waiting;
    const [effect] = await service.effects();
    const { status, json } = await read(effect?.executionId ?? "");
    expect([status, json.status, json.finished_at]).toEqual([200, "running", null]);
    lab.release();
    expect((await pending).json.execution_id).toBe(effect?.executionId);
  });
});
