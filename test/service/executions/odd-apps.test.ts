import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { Action, Integration } from "../../../src/apps/port/integration.ts";
import { ServiceError } from "../../../src/service/service-error.ts";
import { createService } from "../../../src/service.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { storeSignInOf } from "../connections/sign-in/kit/lock-integration.ts";
import { execute } from "../http-calls.ts";

const WRITE = { level: "write", requiresConfirmation: true, idempotent: false, scopes: [] } as const;

/** An app with one write, `odd_go`. */
function createOddApp(run: Action["run"], more: Partial<Integration> = {}): Integration {
  const inputSchema = { type: "object", properties: {} };
  const action: Action = { ...WRITE, id: "go", title: "Go", description: "Goes.", inputSchema, run };
  const names = { slug: "odd", name: "Odd", description: "Is odd.", category: "tests", scopes: [] };
  return { ...names, actions: [action], checkSettings: async () => {}, ...more };
}

let service: TestService | undefined;
afterEach(async () => {
  await service?.close();
  service = undefined;
});

async function start(integration: Integration, settings = {}, options = {}) {
  const started = await startTestService({ integrations: [integration], ...options });
  service = started;
  const { connections } = started.service;
  const { id } = await connections.add({ integration: "odd", label: "Odd", settings });
  const readState = async () => (await connections.list()).find((connection) => connection.id === id)?.state;
  return { id, connections, readState, go: () => execute(started, "odd_go", { confirmed: true }) };
}

test("settings whose check never ends are given up in time, and nothing is done with them later", async () => {
  const checked = Promise.withResolvers<void>();
  let runs = 0;
  const run = async () => ++runs;
  const app = createOddApp(run, { checkSettings: () => checked.promise });
  const { go } = await start(app, {}, { providerTimeoutMs: 200 });
  const { status, json } = await go();
  expect(status).toBe(503);
  expect(json.error).toMatchObject({ code: "timeout", retryable: true });
  expect(json.hint).toBe("Try again later.");
  checked.resolve();
  await service?.close();
  expect(runs).toBe(0);
});

test("an app that changes its settings changes those of no other call", async () => {
  const seen: unknown[] = [];
  const run: Action["run"] = async (_args, { connection: { settings } }) => {
    seen.push(structuredClone(settings));
    Object.assign(settings, { host: "other" });
    Object.assign(settings.folders as object, { inbox: "other" });
  };
  const { go } = await start(createOddApp(run), { host: "mine", folders: { inbox: "mine" } });
  for (let time = 0; time < 2; time += 1) expect((await go()).status).toBe(200);
  expect(seen).toEqual(Array.from({ length: 2 }, () => ({ host: "mine", folders: { inbox: "mine" } })));
});

test("a sign-in that outlasts the call leads to no action any more", async () => {
  const asked = Promise.withResolvers<void>();
  const provider = createServer(async (_request, response) => {
    await asked.promise;
    response.end(JSON.stringify({ access_token: "token", expires_in: 3600 }));
  });
  await once(provider.listen(0, "127.0.0.1"), "listening");
  const place = provider.address();
  const tokenUrl = `http://127.0.0.1:${typeof place === "object" ? place?.port : ""}/`;
  const plan = { provider: { tokenUrl }, flow: "code", scopes: [], isPrivate: true, useToken: () => ({}) } as const;
  let runs = 0;
  const findSignIn = () => plan;
  const app = createOddApp(async () => ++runs, { findSignIn });
  const { go } = await start(app, { signInId: "sin_lock" }, { providerTimeoutMs: 200 });
  await storeSignInOf(service?.dataDir ?? "", tokenUrl);
  try {
    const { status, json } = await go();
    expect([status, json.error.code, json.error.retryable, runs]).toEqual([503, "timeout", true, 0]);
    asked.resolve();
    await service?.close();
    expect(runs).toBe(0);
  } finally {
    provider.close();
  }
});

describe("a refused sign-in", () => {
  /** A call that the app refuses when it is told to. */
  function createSlowRefusal() {
    const begun = Promise.withResolvers<void>();
    const told = Promise.withResolvers<void>();
    const app = createOddApp(async (_args, { connection }) => {
      if (connection.settings.token === "new") return "done";
      begun.resolve();
      await told.promise;
      throw new ServiceError(401, "needs_reauth", "Odd wants another token.");
    });
    return { app, begun: begun.promise, refuse: told.resolve };
  }

  test("of settings that the owner has replaced meanwhile does not speak against the new ones", async () => {
    const { app, begun, refuse } = createSlowRefusal();
    const { id, connections, readState, go } = await start(app, { token: "old" });
    const late = go();
    await begun;
    await connections.update(id, { state: "healthy", settings: { token: "new" } });
    refuse();
    expect((await late).json.error).toMatchObject({ code: "needs_reauth" });
    expect(await readState()).toBe("healthy");
    expect((await go()).json).toMatchObject({ ok: true, result: "done" });
  });

  test("of a connection that is gone is told as it is", async () => {
    const { app, begun, refuse } = createSlowRefusal();
    const { id, connections, go } = await start(app, { token: "old" });
    const late = go();
    await begun;
    await connections.remove(id);
    refuse();
    const { status, json } = await late;
    expect(status).toBe(401);
    expect(json.error).toMatchObject({ code: "needs_reauth", message: "Odd wants another token." });
  });
});

test("an app that cannot be closed keeps neither the other apps nor the data folder", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "svc-odd-"));
  const closed: string[] = [];
  const logged: string[] = [];
  const fail = async () => {
    throw new Error("The socket is stuck.");
  };
  const throwAtOnce = () => {
    throw new Error("There is no socket.");
  };
  const integrations = [
    createOddApp(async () => null, { close: fail }),
    createOddApp(async () => null, { slug: "odder", close: throwAtOnce }),
    createOddApp(async () => null, { slug: "good", close: async () => void closed.push("good") }),
  ];
  try {
    const first = await createService({ dataDir, port: 0, integrations, log: ({ message }) => logged.push(message) });
    await first.close();
    expect(closed).toEqual(["good"]);
    expect(logged.filter((message) => message.includes("could not be closed")).sort()).toEqual([
      'The app "odd" could not be closed.',
      'The app "odder" could not be closed.',
    ]);
    await (await createService({ dataDir, port: 0, integrations: [] })).close();
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
});

test("an app that never closes is given up in time, and named", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "svc-odd-"));
  const logged: string[] = [];
  const integrations = [createOddApp(async () => null, { close: () => new Promise(() => {}) })];
  try {
    const first = await createService({ dataDir, port: 0, integrations, log: ({ message }) => logged.push(message) });
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const closing = first.close();
    await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1));
    await vi.advanceTimersByTimeAsync(15_000);
    await closing;
    vi.useRealTimers();
    expect(logged).toContain('The app "odd" has not closed in 15 seconds and is left as it is.');
    await (await createService({ dataDir, port: 0, integrations: [] })).close();
  } finally {
    vi.useRealTimers();
    await rm(dataDir, { recursive: true, force: true });
  }
});

test("a log that throws or rejects stops nothing", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "svc-odd-"));
  const fail = async () => {
    throw new Error("The socket is stuck.");
  };
  const integrations = [createOddApp(async () => null, { close: fail })];
  let told = 0;
  const throwAtOnce = () => {
    told += 1;
    throw new Error("The disk of the log is full.");
  };
  try {
    for (const log of [throwAtOnce, async () => throwAtOnce()]) {
      await (await createService({ dataDir, port: 0, integrations, log })).close();
    }
    expect(told).toBe(2);
    await (await createService({ dataDir, port: 0, integrations: [] })).close();
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
});
