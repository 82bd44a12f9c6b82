import { afterEach, beforeEach, expect, test } from "vitest";
import { createOwnerSessions } from "../../../src/service/auth/owner-sessions.ts";
import { openStore, type Store } from "../../../src/service/store/open-store.ts";
import { advanceUpkeep } from "../../../src/service/store/retention.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { useTempFolder } from "../files/temp-folder.ts";
import { call } from "../http-calls.ts";
import { createLab } from "../lab-integration.ts";

/** A clock that is wrong for a while removes no more than a day's worth of what is kept for some time. */

const HOUR = 60 * 60 * 1000;
const DAY = 24 * HOUR;
const folder = useTempFolder();
const lab = createLab();
let time: number;
let running: TestService | undefined;

beforeEach(() => {
  time = Date.parse("2026-03-04T10:00:00Z");
});
afterEach(() => running?.close());

async function start(): Promise<TestService> {
  running = await startTestService({ dataDir: folder(), integrations: [lab.integration], now: () => time });
  return running;
}

async function inStore<T>(work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(`${folder()}/svc.db`);
  return work(store).finally(() => store.destroy());
}

const put = ({ url, apiKey }: TestService) =>
  call(`${url}/api/executions`, {
    method: "POST",
    key: apiKey,
    body: JSON.stringify({
      integration_id: "lab",
      action_id: "put",
      input: { title: "T" },
      confirm: true,
      idempotency_key: "k-1",
    }),
  });

/** An execution that ended a few hours less than 90 days ago: it goes first, and within a day. */
const nearlyOld = () => ({
  ...{ id: "exe_old", api_key_id: null, connection_id: "c", integration: "lab", action_id: "look", node_id: null },
  ...{ tool_name: "lab_look", side_effect_level: "read" as const, arguments: "{}", output: "null", error: null },
  ...{ started_at: new Date(time - 90 * DAY + 3 * HOUR).toISOString(), status: "succeeded" as const },
  finished_at: new Date(time - 90 * DAY + 3 * HOUR).toISOString(),
});

test("a start with a clock that is 100 days ahead keeps log, keys and sign-ins", async () => {
  const first = await start();
  await first.service.connections.add({ integration: "lab", label: "L", settings: {} });
  const done = await put(first);
  expect(done.status).toBe(200);
  await first.close();
  const secret = await inStore(async (store) => {
    const [account] = await store.selectFrom("accounts").select("id").execute();
    const account_id = account?.id ?? "";
    await store
      .insertInto("executions")
      .values({ ...nearlyOld(), account_id })
      .execute();
    const sessions = createOwnerSessions(store, () => time);
    return sessions.signIn(await sessions.createLink(account_id), {});
  });

  time += 100 * DAY;
  const ahead = await start();
  const find = (id: string) => call(`${ahead.url}/api/executions/${id}`, { key: ahead.apiKey });
  await expect.poll(async () => (await find("exe_old")).status).toBe(404);
  await ahead.close();

  time -= 100 * DAY;
  const right = await start();
  const kept = await call(`${right.url}/api/executions/${done.json.execution_id}`, { key: right.apiKey });
  expect(kept.status).toBe(200);
  expect((await put(right)).json).toEqual(done.json);
  expect(lab.ran).toEqual(["put"]);
  await right.close();
  expect(await inStore((store) => createOwnerSessions(store, () => time).find(secret ?? ""))).toBeDefined();
});

test("upkeep goes on with the clock, at most a day at once and a day an hour, and back with it", async () => {
  await inStore(async (store) => {
    const started = time;
    const goOn = async (ms: number) => {
      time += ms;
      return (await advanceUpkeep(store, time)) - started;
    };
    expect(await goOn(0)).toBe(0);
    expect(await goOn(HOUR)).toBe(HOUR);
    expect(await goOn(20 * HOUR)).toBe(21 * HOUR);
    expect(await goOn(100 * DAY)).toBe(21 * HOUR + DAY);
    // A service that is started over and over in one minute.
    for (let times = 0; times < 10; times += 1) expect(await goOn(0)).toBe(21 * HOUR + DAY);
    expect(await goOn(HOUR / 2)).toBe(33 * HOUR + DAY);
    expect(await goOn(HOUR)).toBe(33 * HOUR + 2 * DAY);
    expect(await goOn(-100 * DAY - 1.5 * HOUR)).toBe(21 * HOUR);
    expect(await goOn(HOUR)).toBe(22 * HOUR);
  });
});
