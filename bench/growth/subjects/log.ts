import { join } from "node:path";
import { type RawBuilder, sql } from "kysely";
import { isShared, type Store } from "../../../src/service/store/open-store.ts";
import { runSample } from "../../processes/run-sample.ts";
import type { Cost } from "../cost.ts";
import { copyRows, I, numbered, spacedTime } from "../fill.ts";
import { openPlace } from "../place.ts";
import type { Opened, Subject } from "../subject.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
/** The log covers so many days, of the 90 that are kept. */
const DAYS = 80;
/** The service keeps no more keys that have expired. */
const MOST_KEYS = 100_000;
const FAILURE = JSON.stringify({ code: "timeout", message: "The app took too long.", status: 503 });
/** Rows that upkeep removes in a round. */
const REMOVED = 100;

/** A log of more and more executions; each has its own folder or database. */
export function logSubject(o: {
  readonly folder: string;
  readonly sizes: readonly number[];
  /** Makes an empty PostgreSQL database; without it the log is in a SQLite file. */
  readonly createDatabase?: (() => Promise<string>) | undefined;
}): Subject {
  const isPostgres = o.createDatabase !== undefined;
  const name = isPostgres ? "log-postgres" : "log";
  return {
    name,
    title: `Log${isPostgres ? ", PostgreSQL" : ""}`,
    things: "executions in the log",
    sizes: o.sizes,
    open: async (size) =>
      openLog(size, { dataDir: join(o.folder, `${name}-${size}`), database: await o.createDatabase?.() }),
  };
}

async function openLog(size: number, o: { dataDir: string; database: string | undefined }): Promise<Opened> {
  const from = Date.now() - DAYS * DAY_MS;
  const step = (DAYS * DAY_MS) / 1000 / size;
  const place = await openPlace({
    ...o,
    async prepare({ url, apiKey }) {
      const headers = { "content-type": "application/json", "x-svc-api-key": apiKey };
      const body = JSON.stringify({
        integration_id: "notes",
        action_id: "search",
        input: { query: "a" },
        idempotency_key: "first",
      });
      await fetch(`${url}/api/executions`, { method: "POST", headers, body });
    },
    fill: (store) => fillLog(store, { size, from, step }),
  });
  const late = new Date(from + (size / 10) * step * 1000).toISOString();
  let removed = 0;
  const upkeep = (days: number): Promise<Cost> =>
    runSample(join(import.meta.dirname, "../upkeep-sample.ts"), [o.database ?? join(o.dataDir, "svc.db"), `${days}`]);
  return {
    ...place,
    requests: {
      "first page": () => place.look("/log"),
      "late page": () => place.look(`/log?before=${late}~exe_`),
      "page of one tool": () => place.look("/log?tool=tool_3"),
      "one by its id": () => place.get(`/api/executions/exe_b${(size >> 1) + 1}`),
      "one by its key": () => place.get(`/api/executions?idempotency_key=key_${size}`),
    },
    works: {
      "start of the service": () => place.restart(),
      "upkeep, nothing to remove": () => upkeep(2 * DAYS),
      [`upkeep, ${REMOVED} rows removed`]: () => {
        removed += REMOVED;
        return upkeep(DAYS * (1 - removed / size));
      },
    },
  };
}

async function fillLog(store: Store, o: { size: number; from: number; step: number }): Promise<void> {
  const { id } = await store.selectFrom("executions").select("id").executeTakeFirstOrThrow();
  const time = spacedTime(store, o.from, o.step);
  await copyRows(store, "executions", {
    count: o.size,
    where: sql`o.id = ${id}`,
    change: {
      id: numbered("exe_b"),
      tool_name: sql`'tool_' || (${I} % 12)`,
      status: sql`case ${I} % 20 when 0 then 'failed' else 'succeeded' end`,
      error: sql`case ${I} % 20 when 0 then ${sql.lit(FAILURE)} end`,
      started_at: time,
      finished_at: time,
    },
  });
  await copyRows(store, "idempotency_keys", {
    count: Math.min(o.size, MOST_KEYS),
    where: sql`o.execution_id = ${id}`,
    change: {
      key: shifted("key_", o.size),
      execution_id: shifted("exe_b", o.size),
      number: sql`${I} + 1`,
      expires_at: sql`'2020-01-01T00:00:00.000Z'`,
    },
  });
  // As its own upkeep does within minutes.
  if (isShared(store)) await sql`analyze`.execute(store);
}

/** Keys stand for the newest executions. */
function shifted(start: string, size: number): RawBuilder<unknown> {
  return sql`${sql.lit(start)} || (${I} + ${sql.lit(Math.max(0, size - MOST_KEYS))})`;
}
