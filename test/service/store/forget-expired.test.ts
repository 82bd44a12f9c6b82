import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createChallenges } from "../../../src/service/auth/passkeys/challenges.ts";
import { createIdempotencyKeys } from "../../../src/service/executions/idempotency-keys.ts";
import { createTokenSpender } from "../../../src/service/files/ingest-tokens.ts";
import { createOAuthRecords } from "../../../src/service/oauth/oauth-records.ts";
import { openStore, type Store } from "../../../src/service/store/open-store.ts";
import { forgetExpired } from "../../../src/service/store/retention.ts";
import { useTempFolder } from "../files/temp-folder.ts";

const HOUR = 60 * 60 * 1000;
const folder = useTempFolder();
let store: Store;
let time: number;
beforeEach(async () => {
  time = Date.parse("2026-03-04T10:00:00Z");
  store = await openStore(`${folder()}/svc.db`);
});
afterEach(() => store.destroy());

test("what an app gets by renewing its tokens goes a day after its end", async () => {
  const tokens = createOAuthRecords({ store, now: () => time }).adapter("RefreshToken");
  await tokens.upsert("first", { grantId: "g" }, 3600);
  await tokens.consume("first");
  await tokens.upsert("second", { grantId: "g" }, 30 * 3600);
  time += 24 * HOUR;
  await forgetExpired(store, time);
  expect(await tokens.find("first")).toMatchObject({ consumed: expect.any(Number) });
  time += 2 * HOUR;
  await forgetExpired(store, time);
  expect(await tokens.find("first")).toBeUndefined();
  expect(await tokens.find("second")).toBeDefined();
});

test("a spent upload token stays spent when the clock jumps forward and back", async () => {
  const spend = createTokenSpender(store);
  const end = time + 10 * 60 * 1000;
  expect(await spend("jti", end)).toBe(true);
  await forgetExpired(store, time + 14 * HOUR);
  expect(await spend("other", time + 14 * HOUR + 10 * 60 * 1000)).toBe(true);
  expect(await spend("jti", end)).toBe(false);
  await forgetExpired(store, end + 25 * HOUR);
  expect(await spend("jti", end)).toBe(true);
});

test("an answered challenge of a passkey stays answered when the clock jumps forward and back", async () => {
  const serviceKeys = { read: async () => "k".repeat(43) };
  const challenges = createChallenges({ store, serviceKeys, now: () => time });
  const use = { use: "sign-in", browser: "b" } as const;
  const challenge = await challenges.make(use);
  expect([await challenges.isValid(challenge, use), await challenges.spend(challenge, store)]).toEqual([true, true]);
  await forgetExpired(store, time + 14 * HOUR);
  expect(await challenges.spend(challenge, store)).toBe(false);
  await forgetExpired(store, time + 26 * HOUR);
  expect(await store.selectFrom("spent_challenges").selectAll().execute()).toEqual([]);
});

test("what the owner typed for a sign-in goes when it has expired", async () => {
  const row = { details: "sealed", expires_at: new Date(time + HOUR).toISOString() };
  await store
    .insertInto("provider_sign_ins")
    .values({ state_hash: "a", ...row })
    .execute();
  await forgetExpired(store, time);
  expect(await store.selectFrom("provider_sign_ins").selectAll().execute()).toHaveLength(1);
  await forgetExpired(store, time + HOUR + 1);
  expect(await store.selectFrom("provider_sign_ins").selectAll().execute()).toEqual([]);
});

test("an idempotency key goes when it has expired and enough newer ones are there, not by its age alone", async () => {
  const keys = createIdempotencyKeys(store, () => time);
  const take = (key: string) => keys.claim(store, { accountId: "a", key, inputHash: key }, `exe_${key}`);
  const list = async () =>
    (await store.selectFrom("idempotency_keys").select("key").orderBy("number").execute()).map(({ key }) => key);
  for (const key of ["one", "two", "three", "four"]) await take(key);
  // Taken while the clock was a month ahead: they are the newest by time, and not by number.
  time += 30 * 24 * HOUR;
  await take("ahead");
  time -= 30 * 24 * HOUR;
  await take("five");
  await forgetExpired(store, time + 60 * 24 * HOUR, 10);
  expect(await list()).toEqual(["one", "two", "three", "four", "ahead", "five"]);
  await forgetExpired(store, time + 6 * 24 * HOUR, 1);
  expect(await list()).toHaveLength(6);
  await forgetExpired(store, time + 8 * 24 * HOUR, 1);
  expect(await list()).toEqual(["ahead", "five"]);
  expect(await keys.find("a", "four")).toBeUndefined();
  expect(await keys.find("a", "five")).toMatchObject({ executionId: "exe_five" });
});

test.each([
  ["oauth_records", "delete from oauth_records where expires_at < ?"],
  ["idempotency_keys", "delete from idempotency_keys where number <= ? and expires_at < ?"],
  ["idempotency_keys", "select max(number) from idempotency_keys"],
  ["pairing_sessions", "delete from pairing_sessions where expires_at < ?"],
  ["executions", "select id from executions where account_id = ? and started_at < ? and (started_at, id) > (?, ?)"],
  [
    "executions",
    "select * from executions where account_id = ? and connection_id = ? order by started_at desc, id desc",
  ],
  ["flow_calls", "delete from flow_calls where flow_id in (?, ?)"],
  ["flow_calls", "select key from flow_calls where execution_id = ?"],
  ["idempotency_keys", "select key from idempotency_keys where execution_id = ?"],
  ["flows", "select id from flows where account_id = ? and updated_at < ? and (updated_at, id) > (?, ?)"],
])("nobody looks through all %s for: %s", (table, query) => {
  const database = new DatabaseSync(`${folder()}/svc.db`, { readOnly: true });
  const plan = database.prepare(`explain query plan ${query}`).all();
  database.close();
  const steps = plan.map(({ detail }) => String(detail)).join("; ");
  expect(steps).toContain(`SEARCH ${table} USING`);
  expect(steps).not.toContain("TEMP B-TREE");
});
