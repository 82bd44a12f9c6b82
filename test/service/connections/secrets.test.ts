import { chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { expectMode } from "../../suites/this-system.ts";
import { execute } from "../http-calls.ts";
import { createVault } from "./vault-integration.ts";

const SETTINGS = { address: "https://vault.example", token: "hunter2-and-more" };
const KEY_FILE = "connection-secrets.key";

let dataDir: string;
let running: TestService | undefined;
const vault = createVault();

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "svc-secrets-"));
  vault.seen.length = 0;
});
afterEach(async () => {
  await running?.close();
  running = undefined;
  await rm(dataDir, { recursive: true, force: true });
});

async function start(options: { secretKey?: string } = {}): Promise<TestService> {
  await running?.close();
  running = undefined;
  running = await startTestService({ integrations: [vault.integration], dataDir, ...options });
  return running;
}

async function readStore(): Promise<string> {
  await running?.close();
  running = undefined;
  return (await readFile(join(dataDir, "svc.db"))).toString("latin1");
}

describe("secrets of connections", () => {
  test("reach the action in clear and the disk only encrypted", async () => {
    const service = await start();
    const { id } = await service.service.connections.add({ integration: "vault", label: "V", settings: SETTINGS });
    expect((await execute(service, "vault_look")).status).toBe(200);
    expect(vault.seen).toEqual([SETTINGS]);
    await service.service.connections.update(id, { settings: { ...SETTINGS, token: "second-secret" } });
    const stored = await readStore();
    expect(stored).toContain("https://vault.example");
    expect(stored).not.toContain("hunter2");
    expect(stored).not.toContain("second-secret");
    const again = await start();
    expect((await again.service.connections.list())[0]?.settings).toEqual({ ...SETTINGS, token: "second-secret" });
  });

  test("the key file is the owner's alone and made once", async () => {
    await start();
    const file = join(dataDir, KEY_FILE);
    expectMode(file, 0o600);
    const key = await readFile(file, "utf8");
    await start();
    expect(await readFile(file, "utf8")).toBe(key);
  });

  test("a given key leaves no file, and only the same text opens", async () => {
    const secretKey = "a text of more than thirty-two characters";
    const service = await start({ secretKey });
    await service.service.connections.add({ integration: "vault", label: "V", settings: SETTINGS });
    await expect(stat(join(dataDir, KEY_FILE))).rejects.toThrow("ENOENT");
    expect((await (await start({ secretKey })).service.connections.list())[0]?.settings).toEqual(SETTINGS);
    const other = await start({ secretKey: secretKey.toUpperCase() });
    const [connection] = await other.service.connections.list();
    expect(connection).toMatchObject({ state: "error", settings: { address: SETTINGS.address } });
    expect(connection?.settings).not.toHaveProperty("token");
    expect((await execute(other, "vault_look")).status).toBe(422);
  });

  test("a secret moved to another connection does not open", async () => {
    const service = await start();
    const { connections } = service.service;
    await connections.add({ integration: "vault", label: "A", settings: SETTINGS });
    const b = await connections.add({ integration: "vault", label: "B", settings: { ...SETTINGS, token: "other" } });
    await readStore();
    const { DatabaseSync } = await import("node:sqlite");
    const db = new DatabaseSync(join(dataDir, "svc.db"));
    db.exec("UPDATE connections SET settings = (SELECT settings FROM connections WHERE label = 'A') WHERE label = 'B'");
    db.close();
    const list = await (await start()).service.connections.list();
    expect(list.map(({ label, state }) => [label, state])).toEqual([
      ["A", "healthy"],
      ["B", "error"],
    ]);
    expect(list.find(({ id }) => id === b.id)?.settings).not.toHaveProperty("token");
  });

  test.each([
    ["damaged", (file: string) => writeFile(file, "not a key\n"), /is empty or damaged/],
    ["open to others", (file: string) => chmod(file, 0o640), /is open to other users/],
  ])("a key file that is %s stops the start and is left alone", async (_name, spoil, message) => {
    const service = await start();
    await service.service.connections.add({ integration: "vault", label: "V", settings: SETTINGS });
    await readStore();
    await spoil(join(dataDir, KEY_FILE));
    const before = await readFile(join(dataDir, KEY_FILE), "utf8");
    await expect(start()).rejects.toMatchObject({ code: "invalid_config", message: expect.stringMatching(message) });
    expect(await readFile(join(dataDir, KEY_FILE), "utf8")).toBe(before);
  });

  test("a short key is refused", async () => {
    await expect(start({ secretKey: "short" })).rejects.toMatchObject({ code: "invalid_config", field: "secretKey" });
  });
});
