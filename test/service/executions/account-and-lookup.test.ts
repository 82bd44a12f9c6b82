import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { verifies } from "../../contract/verifies.ts";
import { decideHeld } from "../approvals/owner.ts";
import { openStoreOf } from "../find-store.ts";
import { call } from "../http-calls.ts";
import { createLab, type Lab } from "../lab-integration.ts";

/** Two extensions of the canonical endpoint: the account a request names, and what was done under a key. */

let lab: Lab;
let service: TestService;
let ids: { first: string; second: string };

beforeEach(async () => {
  lab = createLab();
  service = await startTestService({ integrations: [lab.integration] });
  const { connections } = service.service;
  const first = await connections.add({ integration: "lab", label: "First", settings: {} });
  const second = await connections.add({ integration: "lab", label: "Second", settings: {} });
  await connections.update(first.id, { isDefault: true });
  ids = { first: first.id, second: second.id };
});
afterEach(() => service.close());

const run = (rest: object, action_id = "put") =>
  call(`${service.url}/api/executions`, {
    method: "POST",
    key: service.apiKey,
    body: JSON.stringify({ integration_id: "lab", action_id, input: { title: "T" }, confirm: true, ...rest }),
  });
const lookUp = (query: string, key = service.apiKey) => call(`${service.url}/api/executions${query}`, { key });
const usedConnections = async () => (await service.effects()).map(({ connectionId }) => connectionId);

describe("connection_id", () => {
  test("names the account, also one that is not the default", async () => {
    verifies("decision.canonical-connection");
    await run({ connection_id: ids.second });
    await run({});
    await run({ connection_id: null });
    expect(await usedConnections()).toEqual([ids.second, ids.first, ids.first]);
  });

  test.each([["con_unknown"], [7], [{ a: 1 }]])("%j, which is none of this app, is blocked", async (connection_id) => {
    const other = await run({ connection_id });
    expect(other).toMatchObject({
      status: 409,
      json: { status: "blocked", execution_id: null, error_code: "policy_blocked" },
    });
    expect(other.json.details).toEqual([`${ids.first}: First`, `${ids.second}: Second`]);
    expect(other.json.hint).toContain("`connection_id`");
    expect(lab.ran).toEqual([]);
  });

  test("belongs to what an idempotency key stands for", async () => {
    const request = { idempotency_key: "k-1", connection_id: ids.second };
    const done = await run(request);
    await service.service.connections.update(ids.second, { isDefault: true });
    expect((await run(request)).json).toEqual(done.json);
    for (const other of [{ idempotency_key: "k-1" }, { idempotency_key: "k-1", connection_id: ids.first }]) {
      expect(await run(other)).toMatchObject({ status: 409, json: { error_code: "validation_error" } });
    }
    expect(await usedConnections()).toEqual([ids.second]);
  });

  test("is not taken by svc.execute, whose question does not show the account", async () => {
    const args = { integration_id: "lab", action_id: "put", input: { title: "T" }, confirm: true };
    const body = (connection: object) =>
      JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "svc.execute", arguments: { ...args, ...connection } },
      });
    const ask = (connection: object) =>
      call(`${service.url}/api/mcp`, { method: "POST", key: service.apiKey, body: body(connection) });
    expect(JSON.stringify((await ask({ connection_id: ids.second })).json)).toContain("connection_id");
    expect(lab.ran).toEqual([]);
    const { id } = (await ask({})).json.result.structuredContent.approval;
    await decideHeld(service, id, "approve");
    await expect.poll(usedConnections).toEqual([ids.first]);
  });
});

describe("a look-up by key", () => {
  test("finds what was done, and runs nothing", async () => {
    verifies("decision.canonical-lookup");
    expect(await lookUp("?idempotency_key=k-1")).toMatchObject({ status: 404, json: { error: expect.any(String) } });
    const done = await run({ idempotency_key: "k-1" });
    expect(await lookUp("?idempotency_key=k-1")).toMatchObject({ status: 200, json: done.json });
    const failed = await run({ idempotency_key: "k-2", input: { how: "rate" } }, "fail");
    expect(await lookUp("?idempotency_key=k-2")).toMatchObject({ status: 200, json: failed.json });
    expect(lab.ran).toEqual(["put", "fail"]);
  });

  test("finds nothing behind a blocked request", async () => {
    await run({ idempotency_key: "k-1", confirm: false });
    expect((await lookUp("?idempotency_key=k-1")).status).toBe(404);
  });

  test("shows one that has not ended as running", async () => {
    const running = run({ idempotency_key: "k-1", input: {} }, "wait");
    await lab.waiting;
    expect(await lookUp("?idempotency_key=k-1")).toMatchObject({
      status: 200,
      json: { status: "running", execution_id: expect.any(String), finished_at: null },
    });
    lab.release();
    await running;
    expect((await lookUp("?idempotency_key=k-1")).json.status).toBe("succeeded");
  });

  test.each(["", "?idempotency_key=", `?idempotency_key=${"k".repeat(201)}`, "?key=k-1"])(
    "%s is a malformed request",
    async (query) => {
      const reply = await lookUp(query);
      expect([reply.status, Object.keys(reply.json)]).toEqual([400, ["error"]]);
    },
  );

  test("needs a key", async () => {
    expect((await lookUp("?idempotency_key=k-1", "svc_live_wrong")).status).toBe(401);
  });

  test("says of an execution that is not kept any more that nobody knows its end, and does not run it again", async () => {
    const done = await run({ idempotency_key: "k-1" });
    const store = await openStoreOf(service.dataDir);
    await store
      .deleteFrom("executions")
      .execute()
      .finally(() => store.destroy());
    const unknown = { status: "failed", outcome_unknown: true, execution_id: done.json.execution_id };
    expect(await lookUp("?idempotency_key=k-1")).toMatchObject({ status: 200, json: unknown });
    expect(await run({ idempotency_key: "k-1" })).toMatchObject({ status: 500, json: unknown });
    expect(lab.ran).toEqual(["put"]);
  });
});

test("both are announced where the tool is described", async () => {
  const { json } = await call(`${service.url}/api/tools/lab_put`, { key: service.apiKey });
  expect(json.tool.canonical.idempotency_key).toEqual({
    kept_seconds: 7 * 24 * 3600,
    connection_id: true,
    lookup: true,
  });
});
