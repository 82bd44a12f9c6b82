import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createSecretBox, SECRET_KEY_BYTES } from "../../../src/service/secrets/secret-box.ts";
import { createServiceKeys } from "../../../src/service/secrets/service-keys.ts";
import { openStore, type Store } from "../../../src/service/store/open-store.ts";

let folder: string;
let store: Store;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-keys-"));
  store = await openStore(join(folder, "svc.db"));
});
afterEach(async () => {
  await store.destroy();
  await rm(folder, { recursive: true, force: true });
});

const openKeys = (fill = 1) =>
  createServiceKeys({ store, box: createSecretBox(Buffer.alloc(SECRET_KEY_BYTES, fill)), now: () => 0 });
const refuse = () => {
  throw new Error("It was made again.");
};

test("a key is made once and kept, also by a service started anew", async () => {
  expect(await openKeys().read("one", () => "secret")).toBe("secret");
  expect(await openKeys().read("one", refuse)).toBe("secret");
  expect(await openKeys().read("two", () => "other")).toBe("other");
});

test("of many that make it at once all get the same", async () => {
  let made = 0;
  const tries = Array.from({ length: 8 }, () => openKeys().read("one", () => `secret-${made++}`));
  expect(new Set(await Promise.all(tries)).size).toBe(1);
});

test("keys are encrypted, each for its own place", async () => {
  await openKeys().read("one", () => "secret");
  await openKeys().read("two", () => "other");
  const rows = await store.selectFrom("service_keys").selectAll().execute();
  expect(JSON.stringify(rows)).not.toMatch(/secret"|other"/);
  const [first, second] = rows.map((row) => row.value);
  await store
    .updateTable("service_keys")
    .set({ value: String(first) })
    .where("name", "=", "two")
    .execute();
  expect(second).not.toBe(first);
  expect(await openKeys().read("two", () => "third")).toBe("third");
});

test("a key that another secret key locked is replaced", async () => {
  await openKeys(1).read("one", () => "secret");
  expect(await openKeys(2).read("one", () => "new")).toBe("new");
  expect(await openKeys(2).read("one", refuse)).toBe("new");
});
