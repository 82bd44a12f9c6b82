import { mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readVersion } from "../../../src/shared/base/version.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { createVault } from "../connections/vault-integration.ts";
import { openBrowser } from "../http/pages/browser.ts";
import { call, execute } from "../http-calls.ts";

const version = await readVersion();
const DAY = 24 * 60 * 60_000;
const KEY_FILE = "connection-secrets.key";
const vault = createVault();

let dataDir: string;
let running: TestService | undefined;
let log: string[];
let wall: number;
let elapsed: number;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "svc-health-"));
  log = [];
  wall = Date.now();
  elapsed = 0;
});
afterEach(async () => {
  await running?.close();
  running = undefined;
  await rm(dataDir, { recursive: true, force: true });
});

async function start(): Promise<TestService> {
  await running?.close();
  running = undefined;
  running = await startTestService({
    integrations: [vault.integration],
    dataDir,
    now: () => wall,
    elapsed: () => elapsed,
    retentionDays: 90,
    log: ({ level, message }) => log.push(`${level}: ${message}`),
  });
  return running;
}

const look = async (service: TestService) => {
  const { status, json } = await call(`${service.url}/health`);
  return { status, ...json };
};

async function addConnection(service: TestService) {
  const settings = { address: "https://vault.example", token: "hunter2" };
  return service.service.connections.add({ integration: "vault", label: "Ana", settings });
}

test("a service without problems answers 200 and writes no line", async () => {
  const service = await start();
  expect(await look(service)).toEqual({ status: 200, ok: true, version });
  expect(log).toEqual([]);
});

describe("a lost key of secrets", () => {
  test("is told at the start, to monitors and to callers, until it is there again", async () => {
    let service = await start();
    await addConnection(service);
    await service.close();
    running = undefined;
    await rename(join(dataDir, KEY_FILE), join(dataDir, "backup"));

    service = await start();
    const message =
      "The key that the secrets of connections were encrypted with is lost; these connections cannot be used.";
    const health = await call(`${service.url}/health`);
    expect(health.status).toBe(503);
    expect(health.json).toEqual({
      ok: false,
      version,
      error: message,
      problems: [{ code: "secrets_key_lost", message }],
    });
    expect(log).toEqual([
      `error: ${message} They are "Ana" (vault). Either restore ${join(dataDir, KEY_FILE)} from a backup and start again, or connect them again in the dashboard.`,
    ]);
    // Strangers learn no path and no account.
    expect(health.text).not.toMatch(/Ana|vault|svc-health|key file/);

    const browser = openBrowser();
    await browser.open(await service.service.signInUrl());
    const home = await browser.open(service.url);
    expect(home.text.indexOf(message)).toBeGreaterThan(0);
    expect(home.text.indexOf(message)).toBeLessThan(home.text.indexOf("Connections</h2>"));

    const { status, json } = await execute(service, "vault_look");
    expect(status).toBe(422);
    expect(json.error.message).toContain("the key that its password or token was encrypted with is lost");
    expect(json.hint).not.toContain("try again in a minute");

    await service.close();
    running = undefined;
    await rename(join(dataDir, "backup"), join(dataDir, KEY_FILE));
    log.length = 0;
    service = await start();
    expect((await look(service)).status).toBe(200);
    expect((await execute(service, "vault_look")).status).toBe(200);
    expect(log).toEqual([]);
  });

  test("is over when the connections were made anew", async () => {
    let service = await start();
    const { id } = await addConnection(service);
    await service.close();
    running = undefined;
    await rm(join(dataDir, KEY_FILE));
    service = await start();
    expect((await look(service)).status).toBe(503);
    await service.service.connections.update(id, { settings: { address: "https://vault.example", token: "new" } });
    await expect.poll(async () => (await look(service)).status).toBe(200);
    expect(log.map((line) => line.split(":")[0])).toEqual(["error", "info"]);
  });
});

describe("a clock that jumped", () => {
  test("fails the health check, ends by itself, and removes nothing meanwhile", async () => {
    let service = await start();
    await addConnection(service);
    const id = (await execute(service, "vault_look")).json.canonical.execution_id;
    const isKept = async () => (await call(`${service.url}/api/executions/${id}`, { key: service.apiKey })).status;
    await service.close();
    running = undefined;

    wall += 100 * DAY;
    service = await start();
    expect(await look(service)).toMatchObject({ status: 503, problems: [{ code: "clock_wrong" }] });
    expect(await isKept()).toBe(200);
    await service.close();
    running = undefined;
    wall -= 100 * DAY;
    service = await start();
    expect(await look(service)).toEqual({ status: 200, ok: true, version });
    expect(await isKept()).toBe(200);
    expect(log.filter((line) => line.startsWith("error"))).toHaveLength(1);
  });

  test("backwards while it runs, too", async () => {
    const service = await start();
    wall -= 2 * DAY;
    await expect.poll(() => look(service)).toMatchObject({ status: 503, problems: [{ code: "clock_wrong" }] });
    wall += 2 * DAY;
    await expect.poll(async () => (await look(service)).status).toBe(200);
    expect(log).toEqual([
      expect.stringMatching(/^error: The clock of this machine was set back by 2 days/),
      expect.stringMatching(/^info: This is over: The clock/),
    ]);
  });
});
