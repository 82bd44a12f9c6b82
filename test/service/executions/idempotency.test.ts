import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { verifies } from "../../contract/verifies.ts";
import { findStore, openStoreOf } from "../find-store.ts";
import { call, type Reply } from "../http-calls.ts";
import { createLab, type Lab } from "../lab-integration.ts";
import { killChild, killChildren, type ServedChild, serveChild } from "../served-child.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

let lab: Lab;
let dataDir: string;
let service: TestService;
let time: number;

const start = () => startTestService({ dataDir, integrations: [lab.integration], now: () => time });

beforeEach(async () => {
  lab = createLab();
  time = Date.parse("2026-03-01T10:00:00Z");
  dataDir = await mkdtemp(join(tmpdir(), "svc-idempotency-"));
  service = await start();
  await service.service.connections.add({ integration: "lab", label: "L", settings: {} });
});
afterEach(async () => {
  await service.close();
  await rm(dataDir, { recursive: true, force: true });
});

function run(action_id: string, input: unknown, rest: object = {}, to: { url: string; apiKey: string } = service) {
  const body = JSON.stringify({ integration_id: "lab", action_id, input, ...rest });
  return call(`${to.url}/api/executions`, { method: "POST", key: to.apiKey, body });
}
const put = (title: string, idempotency_key?: string, confirm = true) =>
  run("put", { title }, { confirm, ...(idempotency_key !== undefined && { idempotency_key }) });
const answer = ({ status, json }: Reply) => ({ status, json });

describe("one key", () => {
  test("20 equal requests at once have one effect and one answer", async () => {
    verifies("canonical.idempotency-key");
    const replies = await Promise.all(Array.from({ length: 20 }, () => put("T", "k-1")));
    expect(replies.map(answer)).toEqual(replies.map(() => answer(replies[0]!)));
    expect(replies[0]).toMatchObject({ status: 200, json: { status: "succeeded", output: { stored: "T" } } });
    expect(lab.ran).toEqual(["put"]);
    expect(await service.effects()).toHaveLength(1);
  });

  test("a later equal request gets the stored answer, also in another order of members and after a restart", async () => {
    const first = await run("look", { text: "hello", count: 3 }, { idempotency_key: "k-1" });
    await service.close();
    service = await start();
    const again = await run("lab_look", { count: 3, text: "hello" }, { idempotency_key: "k-1" });
    expect(answer(again)).toEqual(answer(first));
    expect(lab.ran).toEqual(["look"]);
  });

  test("a stored failure is answered again, with its Retry-After", async () => {
    const first = await run("fail", { how: "rate" }, { idempotency_key: "k-1" });
    const again = await run("fail", { how: "rate" }, { idempotency_key: "k-1" });
    expect(answer(again)).toEqual(answer(first));
    expect([first.headers["retry-after"], again.headers["retry-after"]]).toEqual(["7", "7"]);
    expect(lab.ran).toEqual(["fail"]);
  });

  test("is answered from the store even when the connection is gone", async () => {
    const first = await put("T", "k-1");
    const [connection] = await service.service.connections.list();
    await service.service.connections.remove(connection?.id ?? "");
    expect(answer(await put("T", "k-1"))).toEqual(answer(first));
  });

  test("with other input, or for another action, is blocked and runs nothing", async () => {
    verifies("decision.idempotency-conflict");
    await put("T", "k-1");
    for (const other of [await put("U", "k-1"), await run("look", { title: "T" }, { idempotency_key: "k-1" })]) {
      expect(other).toMatchObject({
        status: 409,
        json: { status: "blocked", execution_id: null, error_code: "validation_error" },
      });
      expect(other.json.message).toContain("idempotency_key");
    }
    expect(lab.ran).toEqual(["put"]);
  });

  test("is not used up by a blocked or an invalid request", async () => {
    expect((await put("T", "k-1", false)).json.error_code).toBe("policy_blocked");
    expect((await run("put", { title: 7 }, { confirm: true, idempotency_key: "k-1" })).json.error_code).toBe(
      "validation_error",
    );
    expect((await put("T", "k-1")).status).toBe(200);
    expect(lab.ran).toEqual(["put"]);
  });

  test("other keys, and requests without a key, run on their own", async () => {
    await put("T", "k-1");
    await put("T", "k-2");
    await put("T");
    await put("T");
    expect(lab.ran).toHaveLength(4);
  });

  test.each([1, 7, 8, 100])("stands for its execution when the clock jumps %d days, and back", async (days) => {
    const first = await put("T", "k-1");
    time += days * DAY_MS;
    expect(answer(await put("T", "k-1"))).toEqual(answer(first));
    await service.close();
    service = await start();
    expect(answer(await put("T", "k-1"))).toEqual(answer(first));
    time -= days * DAY_MS;
    expect(answer(await put("T", "k-1"))).toEqual(answer(first));
    expect(lab.ran).toEqual(["put"]);
  });

  test("an equal request that comes while the first runs waits for it, and a caller that left does not end it", async () => {
    const controller = new AbortController();
    const left = fetch(`${service.url}/api/executions`, {
      method: "POST",
      headers: { "x-svc-api-key": service.apiKey },
      body: JSON.stringify({
        integration_id: "lab",
        action_id: "wait",
        input: {},
        confirm: true,
        idempotency_key: "k",
      }),
      signal: controller.signal,
    }).catch(() => undefined);
    await lab.waiting;
    const second = run("wait", {}, { confirm: true, idempotency_key: "k" });
    controller.abort();
    await left;
    lab.release();
    expect(await second).toMatchObject({ status: 200, json: { output: { aborted: false } } });
    expect(lab.ran).toEqual(["wait"]);
  });
});

describe("a service that was killed while a write ran", () => {
  const CHILD = fileURLToPath(new URL("../store/serve-child.ts", import.meta.url));

  async function startChild(): Promise<ServedChild> {
    const { database } = await findStore(dataDir);
    return serveChild(CHILD, dataDir, ...(database ? [database] : []));
  }
  afterEach(killChildren);

  async function countStarted(): Promise<number> {
    const store = await openStoreOf(dataDir);
    try {
      return (await store.selectFrom("executions").select("id").where("status", "=", "started").execute()).length;
    } finally {
      await store.destroy();
    }
  }

  test("answers a clear failure and never runs it again", async () => {
    await service.close();
    const served = await startChild();
    const request = { confirm: true, idempotency_key: "k-1" };
    const cut = run("wait", {}, request, served).catch((error: unknown) => error);
    await expect.poll(countStarted).toBe(1);
    await Promise.all([killChild(served), cut]);

    service = await start();
    const reply = await run("wait", {}, request);
    expect(reply).toMatchObject({
      status: 500,
      json: { status: "failed", execution_id: expect.any(String), error_code: "execution_failed" },
    });
    expect(reply.json.message).toContain("not known");
    expect(reply.json).toHaveProperty("outcome_unknown", true);
    expect(reply.json.hint).toContain("Check with a read");
    expect(answer(await run("wait", {}, request))).toEqual(answer(reply));
    expect(lab.ran).toEqual([]);
  });
});
