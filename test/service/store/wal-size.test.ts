import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterEach, expect, test } from "vitest";
import { KEPT_WAL_BYTES } from "../../../src/service/store/open-sqlite.ts";
import { openStore } from "../../../src/service/store/open-store.ts";

let folder = "";
afterEach(() => rm(folder, { recursive: true, force: true }));

test("the disk gets back what one large write took", async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-wal-"));
  const file = join(folder, "svc.db");
  const store = await openStore(file);
  try {
    const measure = async () => (await stat(`${file}-wal`)).size;
    await sql`create table large (content blob)`.execute(store);
    await sql`insert into large (content) values (zeroblob(${2 * KEPT_WAL_BYTES}))`.execute(store);
    expect(await measure()).toBeGreaterThan(2 * KEPT_WAL_BYTES);
    for (let turn = 0; turn < 2; turn += 1) await sql`update large set content = 'small'`.execute(store);
    expect(await measure()).toBeLessThanOrEqual(KEPT_WAL_BYTES);
  } finally {
    await store.destroy();
  }
});
