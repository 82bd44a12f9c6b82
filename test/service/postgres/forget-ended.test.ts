import { afterAll, beforeAll, expect, test } from "vitest";
import { openStore, type Store } from "../../../src/service/store/open-store.ts";
import { forgetEnded } from "../../../src/service/store/retention.ts";
import { startPostgres, type TestPostgres } from "../../suites/start-postgres.ts";

const DAY = 24 * 60 * 60 * 1000;
const START = Date.parse("2026-03-04T10:00:00Z");
const at = new Date(START).toISOString();

let postgres: TestPostgres;
let nodes: Store[];
beforeAll(async () => {
  postgres = await startPostgres();
  const database = await postgres.createDatabase();
  nodes = [await openStore(database), await openStore(database), await openStore(database)];
});
afterAll(async () => {
  for (const store of nodes) await store.destroy();
  await postgres.stop();
});

const execution = (id: string, isRunning: boolean) => ({
  ...{ id, account_id: "acc", api_key_id: null, connection_id: "con", integration: "lab", action_id: "put" },
  ...{ tool_name: "lab_put", side_effect_level: "write" as const, arguments: "{}", output: null, error: null },
  ...{ started_at: at, finished_at: isRunning ? null : at, node_id: null },
  status: isRunning ? ("started" as const) : ("succeeded" as const),
});

const flow = (id: string, status: "waiting" | "cancelled") => ({
  ...{ id, account_id: "acc", api_key_id: "key", template_key: "t", status, trigger_type: "agent" as const },
  ...{ input: "{}", context: "{}", current_step: "s", segment: 1, runner: "n", wake_at: null },
  ...{ created_at: at, updated_at: at, completed_at: null },
});

test("several nodes remove the same at one time, and nothing that runs or waits", async () => {
  const [store] = nodes;
  if (store === undefined) throw new Error("There is no node.");
  await store.insertInto("accounts").values({ id: "acc", created_at: at }).execute();
  const numbers = Array.from({ length: 400 }, (_, index) => index);
  await store
    .insertInto("executions")
    .values(numbers.map((n) => execution(`exe_${n}`, n % 8 === 0)))
    .execute();
  const ids = numbers.map((n) => `flw_${n}`);
  await store
    .insertInto("flows")
    .values(ids.map((id, n) => flow(id, n % 8 === 0 ? "waiting" : "cancelled")))
    .execute();
  const calls = ids.map((flow_id, n) => ({ key: flow_id, flow_id, execution_id: `exe_${n}` }));
  await store.insertInto("flow_calls").values(calls).execute();

  const time = START + 91 * DAY;
  await Promise.all(nodes.map((node) => forgetEnded({ store: node, time, days: 90, isStopping: () => false })));

  const flows = await store.selectFrom("flows").select("status").execute();
  expect(flows.map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => "waiting"));
  const executions = await store.selectFrom("executions").select("status").execute();
  expect(executions.map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => "started"));
  expect(await store.selectFrom("flow_calls").select("key").execute()).toHaveLength(50);
});
