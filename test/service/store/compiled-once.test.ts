import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sql } from "kysely";
import { afterEach, expect, test, vi } from "vitest";
import { openStore } from "../../../src/service/store/open-store.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

test("a statement is compiled once, on whatever line it begins", async () => {
  const folder = await mkdtemp(join(tmpdir(), "svc-store-"));
  cleanups.push(() => rm(folder, { recursive: true }));
  const store = await openStore(join(folder, "svc.db"));
  cleanups.push(() => store.destroy());
  const compiled = vi.spyOn(DatabaseSync.prototype, "prepare");
  for (const text of ["select 17 as one", "\n    with two(n) as (select 17) select n from two"]) {
    for (let turn = 0; turn < 3; turn += 1) await sql.raw(text).execute(store);
    expect(compiled.mock.calls.filter(([one]) => one === text)).toHaveLength(1);
  }
});
