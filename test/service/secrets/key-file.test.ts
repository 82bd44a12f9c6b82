import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { watch } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openService } from "../../../src/service/open-service.ts";
import { hasSealed, readSecretKey } from "../../../src/service/secrets/secret-box.ts";

import { createVault } from "../connections/vault-integration.ts";

const KEY_FILE = "connection-secrets.key";
const vault = createVault();
let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "svc-key-"));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

const read = (isInUse: boolean) => readSecretKey({ dataDir, isInUse: async () => isInUse });
const start = () => openService({ dataDir, port: 0, integrations: [vault.integration] });

const HALF = "c2hvcnQ";

describe.each([
  ["empty", ""],
  ["half-written", HALF],
  ["cut short by one character", "A".repeat(42)],
])("a key file that a first start left %s", (_what, text) => {
  beforeEach(() => writeFile(join(dataDir, KEY_FILE), text, { mode: 0o600 }));

  test("is made anew where nothing was encrypted", async () => {
    const key = await read(false);
    expect(await readFile(join(dataDir, KEY_FILE), "utf8")).toBe(`${key.toString("base64url")}\n`);
    expect(await read(true)).toEqual(key);
    expect(await readdir(dataDir)).toEqual([KEY_FILE]);
  });

  test("is left alone where something was, and the refusal names the file and a backup", async () => {
    await expect(read(true)).rejects.toMatchObject({
      code: "invalid_config",
      message: expect.stringContaining(join(dataDir, KEY_FILE)),
      hint: expect.stringMatching(/backup/),
    });
    expect(await readFile(join(dataDir, KEY_FILE), "utf8")).toBe(text);
  });

  test("does not keep a service from starting", async () => {
    const service = await start();
    const settings = { address: "https://vault.example", token: "hunter2" };
    const added = await service.connections.add({ integration: "vault", label: "V", settings });
    expect(await hasSealed(service.store)).toBe(true);
    await service.close();
    await writeFile(join(dataDir, KEY_FILE), text);
    await expect(start()).rejects.toMatchObject({ message: expect.stringContaining("secrets were encrypted with it") });
    expect(added.state).toBe("healthy");
  });
});

test("of several that make the key at once, all get the same", async () => {
  const keys = await Promise.all(Array.from({ length: 20 }, () => read(false)));
  expect(new Set(keys.map((key) => key.toString("hex"))).size).toBe(1);
  expect(await readdir(dataDir)).toEqual([KEY_FILE]);
});

/** A first start in a process of its own, which prints nothing. */
function startChild(): ChildProcess {
  const module = new URL("../../../src/service/open-service.ts", import.meta.url).href;
  const script = `const { openService } = await import(${JSON.stringify(module)});
await openService({ dataDir: ${JSON.stringify(dataDir)}, port: 0 });`;
  return spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: "ignore" });
}

test("a first start that is killed while it makes the key leaves no key file or a whole one", async () => {
  for (let round = 0; round < 3; round += 1) {
    await rm(dataDir, { recursive: true });
    dataDir = await mkdtemp(join(tmpdir(), "svc-key-"));
    const child = startChild();
    const watcher = watch(dataDir, (_event, name) => {
      if (name?.startsWith(KEY_FILE)) child.kill("SIGKILL");
    });
    await once(child, "exit");
    watcher.close();
    const kept = await readFile(join(dataDir, KEY_FILE), "utf8").catch(() => undefined);
    if (kept !== undefined) expect(Buffer.from(kept, "base64url")).toHaveLength(32);
    const service = await start();
    await service.close();
  }
});
