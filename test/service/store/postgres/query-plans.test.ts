import { sql } from "kysely";
import pg from "pg";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { copyRows, I, numbered, spacedTime } from "../../../../bench/growth/fill.ts";
import { openStore, type Store } from "../../../../src/service/store/open-store.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { startPostgres, type TestPostgres } from "../../../suites/start-postgres.ts";
import { sendAll } from "../plans/all-requests.ts";

let postgres: TestPostgres;
let service: TestService;
let store: Store;
let client: pg.Client;
beforeAll(async () => {
  postgres = await startPostgres();
  const database = await postgres.createDatabase();
  service = await startTestService({ database });
  store = await openStore(database);
  client = new pg.Client({ connectionString: database });
  await client.connect();
}, 120_000);
afterAll(async () => {
  vi.restoreAllMocks();
  await client?.end();
  await store?.destroy();
  await service?.close();
  await postgres?.stop();
});

/** With fewer rows PostgreSQL looks through a table rather than into an index. */
const ROWS = 20_000;
const DAY_MS = 24 * 60 * 60 * 1000;

const FILLED = new Set<string | undefined>();

/** Copies what the requests made, all of it ended and some days old. */
async function fill(): Promise<void> {
  const time = spacedTime(store, Date.now() - 20 * DAY_MS, 60);
  const copy = (table: string, change: Parameters<typeof copyRows>[2]["change"]) => {
    FILLED.add(table);
    const where = sql`o.ctid = (select min(ctid) from ${sql.table(table)})`;
    return copyRows(store, table, { count: ROWS, where, change });
  };
  const ended = sql`'cancelled'`;
  await copy("executions", { id: numbered("exe_b"), started_at: time, finished_at: time, status: sql`'failed'` });
  await copy("idempotency_keys", { key: numbered("key_b"), execution_id: numbered("exe_b"), number: I });
  await copy("approvals", {
    id: numbered("apr_b"),
    requested_at: time,
    expires_at: time,
    status: ended,
    fingerprint: numbered("f"),
    execution_id: sql`null`,
  });
  await copy("opened_approvals", { browser: numbered("b"), expires_at: sql`'2999'` });
  await copy("flows", { id: numbered("flw_b"), updated_at: time, status: ended, wake_at: sql`null` });
  await copy("flow_steps", { flow_id: numbered("flw_b") });
  await copy("api_keys", { id: numbered("key_b"), key_hash: numbered("h"), created_at: time });
  await copy("grants", { subject: numbered("key_b") });
  await sql`vacuum analyze`.execute(store);
}

interface Plan {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Plan Rows": number;
  readonly Plans?: readonly Plan[];
}

/** Tables that a plan looks through, and those of which it sorts many rows. */
function listSlow(plan: Plan): string[] {
  const { "Node Type": type, "Relation Name": table = "", "Plan Rows": rows, Plans: parts = [] } = plan;
  const isSlow = type === "Seq Scan" && FILLED.has(table);
  const sorts = type === "Sort" && rows > ROWS / 10;
  return [...(isSlow ? [`${type} ${table}`] : []), ...(sorts ? [type] : []), ...parts.flatMap(listSlow)];
}

test("no request or upkeep looks through a table that grows", async () => {
  await sendAll(service, store);
  await fill();
  const asked = new Map<string, readonly unknown[]>();
  const { query } = pg.Client.prototype;
  vi.spyOn(pg.Client.prototype, "query").mockImplementation(function note(this: pg.Client, ...args: unknown[]) {
    const [statement, values] = args;
    if (typeof statement === "string" && Array.isArray(values)) asked.set(statement, values);
    return Reflect.apply(query, this, args);
  });
  await sendAll(service, store);
  vi.restoreAllMocks();
  const slow: string[] = [];
  for (const [statement, values] of asked) {
    // Where all are counted, all are read.
    const isCount = statement.startsWith('select count(*) as "count" from "api_keys"');
    if (isCount || !/^(select|with|insert|update|delete)\b/.test(statement)) continue;
    const { rows } = await client.query(`explain (format json) ${statement}`, [...values]);
    slow.push(...listSlow(rows[0]["QUERY PLAN"][0].Plan).map((step) => `${step}: ${statement}`));
  }
  expect(asked.size).toBeGreaterThan(80);
  expect(slow).toEqual([]);
});
