import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Activity, createActivity } from "../../../src/service/executions/activity.ts";
import { openStore, type Store } from "../../../src/service/store/open-store.ts";
import { useTempFolder } from "../files/temp-folder.ts";

const folder = useTempFolder();
let store: Store;
let activity: Activity;
beforeEach(async () => {
  store = await openStore(`${folder()}/svc.db`);
  activity = createActivity(store);
});
afterEach(() => store.destroy());

async function log(id: string, tool_name: string, started_at: string, account_id = "acc_1"): Promise<void> {
  const action = { integration: "lab", action_id: "x", side_effect_level: "read" as const, connection_id: "con_1" };
  const end = { status: "succeeded" as const, output: "null", error: null, finished_at: started_at, node_id: null };
  const row = { id, account_id, api_key_id: null, tool_name, started_at, arguments: "{}", ...action, ...end };
  await store.insertInto("executions").values(row).execute();
}

test("tools are listed once, of one account, by name", async () => {
  await log("exe_1", "b_tool", "2026-01-01T00:00:00.000Z");
  await log("exe_2", "a_tool", "2026-01-02T00:00:00.000Z");
  await log("exe_3", "b_tool", "2026-01-03T00:00:00.000Z");
  await log("exe_4", "c_tool", "2026-01-03T00:00:00.000Z", "acc_2");
  expect(await activity.listTools("acc_1")).toEqual(["a_tool", "b_tool"]);
  const { items } = await activity.list("acc_1", { tool: "b_tool" }, { size: 10 });
  expect(items.map(({ id }) => id)).toEqual(["exe_3", "exe_1"]);
});

test("pages follow each other, also where executions began in the same moment", async () => {
  const times = ["2026-01-01", "2026-01-02", "2026-01-02", "2026-01-02", "2026-01-03"];
  for (const [index, day] of times.entries()) await log(`exe_${index}`, "a_tool", `${day}T00:00:00.000Z`);
  const seen: string[] = [];
  for (let before: string | undefined, pages = 0; pages < 5; pages++) {
    const { items, next } = await activity.list("acc_1", {}, { size: 2, before });
    seen.push(...items.map(({ id }) => id));
    if (next === undefined) break;
    before = next;
  }
  expect(seen).toEqual(["exe_4", "exe_3", "exe_2", "exe_1", "exe_0"]);
});

test("the writes of a flow alone are listed, each with its flow", async () => {
  for (const id of ["exe_1", "exe_2", "exe_3"]) await log(id, "a_tool", "2026-01-01T00:00:00.000Z");
  await log("exe_4", "a_tool", "2026-01-01T00:00:00.000Z", "acc_2");
  for (const execution_id of ["exe_1", "exe_3", "exe_4"]) {
    await store.insertInto("flow_calls").values({ key: execution_id, flow_id: "flw_1", execution_id }).execute();
  }
  const list = async (flowId?: string) => {
    const { items } = await activity.list("acc_1", { flowId }, { size: 10 });
    return items.map(({ id, flow_id }) => [id, flow_id]);
  };
  expect(await list("flw_1")).toEqual([
    ["exe_3", "flw_1"],
    ["exe_1", "flw_1"],
  ]);
  expect(await list("flw_2")).toEqual([]);
  expect(await list()).toEqual([
    ["exe_3", "flw_1"],
    ["exe_2", null],
    ["exe_1", "flw_1"],
  ]);
});

test("what a call is about is read from the beginning of its arguments", async () => {
  await log("exe_1", "a_tool", "2026-01-01T00:00:00.000Z");
  const args = JSON.stringify({ title: "Terrace", api_key: "s3cret", body: "x".repeat(100_000), to: "late" });
  await store.updateTable("executions").set({ arguments: args }).execute();
  const { items } = await activity.list("acc_1", {}, { size: 10 });
  expect(items[0]).toMatchObject({ object: "Terrace" });
  expect(JSON.stringify(items)).not.toMatch(/s3cret|xxx/);
});

const before = "2026-01-01T00:00:00.000Z~exe_1";

test.each<[string, (seen: Activity) => Promise<unknown>, string]>([
  ["of its tools", (seen) => seen.listTools("acc_1"), "executions_by_tool (account_id=? AND tool_name>?)"],
  [
    "from a place",
    (seen) => seen.list("acc_1", {}, { size: 5, before }),
    "executions_by_time (account_id=? AND (start",
  ],
  [
    "of a tool",
    (seen) => seen.list("acc_1", { tool: "t" }, { size: 5 }),
    "executions_by_tool (account_id=? AND tool_name=?)",
  ],
  [
    "of a connection",
    (seen) => seen.list("acc_1", { connectionId: "con_1" }, { size: 5 }),
    "executions_by_connection (account_id=? AND connection_id=?)",
  ],
  [
    "of a device",
    (seen) => seen.list("acc_1", { deviceId: "key_1" }, { size: 5 }),
    "executions_by_device (account_id=? AND api_key_id=?)",
  ],
  [
    "of a status",
    (seen) => seen.list("acc_1", { status: "failed" }, { size: 5 }),
    "executions_by_status (status=? AND account_id=?)",
  ],
])("no log is too long for a page %s", async (_name, show, wanted) => {
  const prepare = vi.spyOn(DatabaseSync.prototype, "prepare");
  await show(activity);
  const query = prepare.mock.calls.find(([text]) => /select/.test(text))?.[0];
  prepare.mockRestore();
  const database = new DatabaseSync(`${folder()}/svc.db`, { readOnly: true });
  const plan = database.prepare(`explain query plan ${query}`).all();
  database.close();
  const steps = plan.map(({ detail }) => String(detail)).join("; ");
  expect(steps).toContain(wanted);
  expect(steps).not.toContain("TEMP B-TREE");
  expect(steps).not.toContain("SCAN executions");
});
