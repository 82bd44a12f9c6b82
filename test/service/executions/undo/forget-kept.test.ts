import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createKeptWrites, forgetKeptWrites } from "../../../../src/service/executions/undo/kept-writes.ts";
import { createSecretBox } from "../../../../src/service/secrets/secret-box.ts";
import { migrateStore } from "../../../../src/service/store/migrations.ts";
import { openStore, type Store } from "../../../../src/service/store/open-store.ts";

const DAY_MS = 86_400_000;

let folder: string;
let store: Store;
let at = Date.UTC(2026, 10, 30);

const open = (isOff = false) => {
  const box = createSecretBox(randomBytes(32));
  return createKeptWrites({ store, box, now: () => at, isOff });
};

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-kept-"));
  store = await openStore(join(folder, "svc.db"));
  await migrateStore(store);
});
afterEach(async () => {
  await store.destroy();
  await rm(folder, { recursive: true, force: true });
});

async function keep(kept: ReturnType<typeof open>, id: string, intent: unknown): Promise<void> {
  const keeping = kept.open(id);
  await keeping.keep(intent);
  keeping.leave("left");
  await keeping.end();
}

test("keeps what a write was about to do and how it left things, encrypted", async () => {
  const kept = open();
  await keep(kept, "exe_a", { text: "Zebra" });
  expect(await kept.find("exe_a")).toMatchObject({ intent: { text: "Zebra" }, after: "left", state: "done" });
  expect(JSON.stringify(await store.selectFrom("kept_writes").selectAll().execute())).not.toContain("Zebra");
  expect(await open().find("exe_a"), "with another key").toBeUndefined();
});

test("keeps the last of two intents: an action runs once more where its access token was renewed", async () => {
  const kept = open();
  const keeping = kept.open("exe_a");
  await keeping.keep({ text: "first" });
  await keeping.keep({ text: "second" });
  await keeping.end();
  expect(await kept.find("exe_a")).toMatchObject({ intent: { text: "second" }, state: "done" });
});

test("forgets what is older than thirty days", async () => {
  const kept = open();
  await keep(kept, "exe_a", {});
  at += 10 * DAY_MS;
  await keep(kept, "exe_b", {});
  await forgetKeptWrites(store, at + 21 * DAY_MS, 1e9);
  expect(await kept.find("exe_a")).toBeUndefined();
  expect(await kept.find("exe_b")).toBeDefined();
});

test("forgets the oldest above the space it has, and nothing that is still to be settled", async () => {
  const kept = open();
  await kept.open("exe_acting").keep("x".repeat(10_000));
  for (const id of ["exe_a", "exe_b", "exe_c"]) {
    at += 1000;
    await keep(kept, id, "x".repeat(10_000));
  }
  await forgetKeptWrites(store, at, 30_000);
  const left = await store.selectFrom("kept_writes").select("id").orderBy("kept_at").execute();
  expect(left.map(({ id }) => id)).toEqual(["exe_acting", "exe_c"]);
});

test("keeps nothing where it is turned off, and nothing that is too long", async () => {
  await keep(open(true), "exe_a", {});
  await keep(open(), "exe_b", "x".repeat(9 * 1024 * 1024));
  expect(await store.selectFrom("kept_writes").select("id").execute()).toEqual([]);
});
