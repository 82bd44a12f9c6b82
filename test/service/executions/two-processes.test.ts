import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createAccess } from "../../../src/service/access/access-view.ts";
import { createGrants } from "../../../src/service/auth/grants.ts";
import { createCatalog } from "../../../src/service/catalog/catalog.ts";
import type { Connections } from "../../../src/service/connections/connection.ts";
import { createCanonicalExecutions } from "../../../src/service/executions/canonical-executions.ts";
import { createExecutor } from "../../../src/service/executions/execute-tool.ts";
import { createExecutionLog } from "../../../src/service/executions/execution-log.ts";
import { createIdempotencyKeys } from "../../../src/service/executions/idempotency-keys.ts";
import { readAllowedHosts } from "../../../src/service/fetch/address-rules.ts";
import { createUrlFiles } from "../../../src/service/fetch/url-files.ts";
import { createBlobStore } from "../../../src/service/files/blob-store.ts";
import { openStore, type Store } from "../../../src/service/store/open-store.ts";
import { createLab, type Lab } from "../lab-integration.ts";

const CONNECTION = {
  id: "con_1",
  integration: "lab",
  label: "L",
  settings: {},
  scopes: ["lab.read", "lab.write"],
  state: "healthy",
  isDefault: true,
} as const;

let folder: string;
let store: Store;
let lab: Lab;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-twins-"));
  store = await openStore(join(folder, "svc.db"));
  lab = createLab();
});
afterEach(async () => {
  await store.destroy();
  await rm(folder, { recursive: true, force: true });
});

/** What one process of several on the same database has of its own; `onSleep` runs while it waits for the other. */
function createProcess(onSleep: () => Promise<void>, waitForTwinMs = 60_000) {
  const now = Date.now;
  const catalog = createCatalog([lab.integration]);
  const connections = { list: async () => [CONNECTION] } as unknown as Connections;
  const log = createExecutionLog(store, now);
  const onUnexpected = (error: unknown) => {
    throw error;
  };
  const rules = { list: async () => [] };
  const access = createAccess({
    states: { read: async () => ({ mark: "" }) },
    grants: createGrants(store, now),
    catalog,
    connections,
    rules,
    now,
  });
  const providerTimeoutMs = 60_000;
  const executor = createExecutor({ access, catalog, connections, log, now, providerTimeoutMs, onUnexpected });
  const blobs = createBlobStore({ dir: join(folder, "blobs"), now });
  const canonical = createCanonicalExecutions({
    undo: { findUntil: async () => undefined },
    access,
    executor,
    log,
    now,
    findHold: () => undefined,
    waitForTwinMs,
    sleep: onSleep,
    idempotencyKeys: createIdempotencyKeys(store, now),
    blobs,
    ingestTokens: undefined,
    urlFiles: createUrlFiles({ blobs, allowed: readAllowedHosts([]) }),
  });
  return () =>
    canonical.execute({
      principal: { accountId: "acc_1", apiKeyId: "key_1" },
      integrationId: "lab",
      actionId: "wait",
      input: {},
      confirm: true,
      idempotencyKey: "k-1",
      connectionId: undefined,
      clientGone: new AbortController().signal,
    });
}

/** A sleep lets the other process get on. */
async function waitForRelease(): Promise<void> {
  lab.release();
  await nextTurn();
}

test("two processes on one database run an equal request once", async () => {
  const runs = [1, 2].map(() => createProcess(waitForRelease));
  const [first, second] = await Promise.all(runs.map((run) => run()));
  expect(first).toMatchObject({ status: "succeeded", output: { aborted: false } });
  expect(second?.executionId).toBe(first?.executionId);
  expect(second?.output).toEqual(first?.output);
  expect(lab.ran).toEqual(["wait"]);
});

test("a twin that does not end is reported as still running, with its id", async () => {
  const first = createProcess(async () => {})();
  await lab.waiting;
  let slept = 0;
  const second = await createProcess(async () => {
    slept += 100;
  }, 1000)();
  expect(slept).toBe(1000);
  expect(second).toMatchObject({ status: "failed", error: { code: "timeout" } });
  lab.release();
  expect((await first).executionId).toBe(second.executionId);
});
