import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterEach, beforeEach, expect, test } from "vitest";
import { inSoftTransaction, openStore, type Store } from "../../../src/service/store/open-store.ts";

let folder: string;
let store: Store;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-soft-"));
  store = await openStore(join(folder, "svc.db"));
});
afterEach(async () => {
  await store.destroy();
  await rm(folder, { recursive: true, force: true });
});

/** As SQLite names it. */
const NORMAL = 1;
const FULL = 2;

async function readLevel(from: Store): Promise<number | undefined> {
  const { rows } = await sql<{ synchronous: number }>`pragma synchronous`.execute(from);
  return rows[0]?.synchronous;
}

function insert(into: Store, name: string): Promise<unknown> {
  return into.insertInto("service_keys").values({ name, value: "v", created_at: "now" }).execute();
}

async function listNames(): Promise<string[]> {
  const other = await openStore(join(folder, "svc.db"));
  const rows = await other.selectFrom("service_keys").select("name").orderBy("name").execute();
  await other.destroy();
  return rows.map(({ name }) => name);
}

test("only the soft transaction does without the disk, and another process sees what it wrote", async () => {
  const names = await listNames();
  const level = await inSoftTransaction(store, async (transaction) => {
    await insert(transaction, "soft");
    return readLevel(transaction);
  });
  expect(level).toBe(NORMAL);
  expect(await readLevel(store)).toBe(FULL);
  expect(await listNames()).toEqual([...names, "soft"].sort());
});

test("what throws in it undoes it, and the next transaction waits for the disk again", async () => {
  const names = await listNames();
  const work = inSoftTransaction(store, async (transaction) => {
    await insert(transaction, "soft");
    throw new Error("no");
  });
  await expect(work).rejects.toThrow("no");
  expect(await readLevel(store)).toBe(FULL);
  expect(await listNames()).toEqual(names);
});

test("transactions that are asked for meanwhile do not run in its mode", async () => {
  const soft = inSoftTransaction(store, (transaction) => insert(transaction, "soft"));
  const levels = await Promise.all([
    store.transaction().execute(readLevel),
    inSoftTransaction(store, readLevel),
    store.transaction().execute(readLevel),
  ]);
  await soft;
  expect(levels).toEqual([FULL, NORMAL, FULL]);
});
