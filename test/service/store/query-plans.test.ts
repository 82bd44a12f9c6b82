import { DatabaseSync } from "node:sqlite";
import { afterEach, expect, test, vi } from "vitest";
import { openSqlite } from "../../../src/service/store/open-sqlite.ts";
import { openStore } from "../../../src/service/store/open-store.ts";
import { startTestService } from "../../../src/testing.ts";
import { GROWING, sendAll } from "./plans/all-requests.ts";

afterEach(() => vi.restoreAllMocks());

/** Tables in a plan that grow. */
const GROWS = new RegExp(`^(?:SCAN|SEARCH) (?:${GROWING.join("|")})\\b`);
/** Steps that take longer the more rows there are: through a whole table or index, through all rows of the account, a sort. */
const SLOW = /^SCAN|^SEARCH \w+$|INDEX \w+$|\(account_id=\?\)$|executions_by_status|TEMP B-TREE FOR ORDER BY/;

/** Slow steps of a statement where it touches what grows. */
function findSlow(database: DatabaseSync, statement: string): string[] {
  const steps = database.prepare(`explain query plan ${statement}`).all();
  const details = steps.map(({ detail }) => String(detail));
  if (!details.some((detail) => GROWS.test(detail))) return [];
  return details.filter((detail) => SLOW.test(detail) && !isPage(detail, statement));
}

/** Rows in the order of an index, of which a page, the first or the last one is read, or a count of devices. */
function isPage(detail: string, statement: string): boolean {
  // Most rows have the same status; those of one account are few.
  if (detail.includes("executions_by_status")) return !statement.includes('"connection_id" =');
  if (detail.endsWith("idempotency_keys_by_number")) return statement.includes('max("number")');
  if (detail.includes("COVERING INDEX live_api_keys")) return statement.includes("count(*)");
  // There are 500 of them at most.
  if (detail.startsWith("SCAN triggers ")) return true;
  // The calls of one flow are few.
  if (statement.includes('"executions"."id" in (')) return detail === "USE TEMP B-TREE FOR ORDER BY";
  // Those that wait for an approval may be few among all.
  if (statement.includes('"wake_at" is null')) return false;
  return detail.endsWith("(account_id=?)") && /\blimit \?$|\bmin\(|\bmax\(/.test(statement);
}

test("no request, start or upkeep looks through a table that grows", async () => {
  const prepared = new Set<string>();
  const { prepare } = DatabaseSync.prototype;
  vi.spyOn(DatabaseSync.prototype, "prepare").mockImplementation(function note(this: DatabaseSync, sql) {
    prepared.add(sql);
    return prepare.call(this, sql);
  });
  const service = await startTestService();
  const place = `${service.dataDir}/svc.db`;
  const [database, store] = [openSqlite(place), await openStore(place)];
  try {
    await sendAll(service, store);
    const asked = [...prepared].filter((sql) => /^(select|with|insert|update|delete)\b/.test(sql));
    expect(asked.length).toBeGreaterThan(100);
    const slow = asked.flatMap((sql) => findSlow(database, sql).map((step) => `${step}: ${sql}`));
    expect(slow).toEqual([]);
  } finally {
    database.close();
    await store.destroy();
    await service.close();
  }
});
