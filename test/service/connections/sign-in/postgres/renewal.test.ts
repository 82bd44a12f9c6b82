import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createAccessTokens } from "../../../../../src/service/connections/sign-in/access-tokens.ts";
import { createSecretBox } from "../../../../../src/service/secrets/secret-box.ts";
import { openStore, type Store } from "../../../../../src/service/store/open-store.ts";
import { startPostgres, type TestPostgres } from "../../../../suites/start-postgres.ts";
import { lockApp, storeSignIn } from "../kit/lock-integration.ts";
import { startTokenServer, type TokenServer } from "../kit/start-token-server.ts";

let postgres: TestPostgres;
let provider: TokenServer;
const stores: Store[] = [];

beforeAll(async () => {
  postgres = await startPostgres();
  provider = await startTokenServer();
  const database = await postgres.createDatabase();
  for (let nodes = 0; nodes < 3; nodes++) stores.push(await openStore(database));
}, 60_000);

afterAll(async () => {
  for (const store of stores) await store.destroy();
  await provider?.close();
  await postgres?.stop();
});

test("nodes that need a new token at one time ask the provider once, for each grant", async () => {
  const box = createSecretBox(Buffer.alloc(32, 7));
  const nodes = stores.map((store) => createAccessTokens({ store, box, now: Date.now }));
  const [store] = stores;
  if (store === undefined) return expect.unreachable();
  const settings = await storeSignIn({ store, box, tokenUrl: provider.url });
  const provideAll = () => Promise.all(nodes.flatMap((node) => [1, 2].map(() => node.provide(lockApp, settings))));
  // The first one to ask gets its answer when the others wait already.
  const answer = Promise.withResolvers<void>();
  provider.held = answer.promise;
  const first = provideAll();
  await expect.poll(() => countWaiting()).toBe(2);
  answer.resolve();
  expect((await first).map((live) => live.settings.token)).toEqual(Array(6).fill("access-1"));
  const renewed = await Promise.all((await first).map(({ renew }) => renew()));
  expect(renewed.map((one) => one?.token)).toEqual(Array(6).fill("access-2"));
  expect(provider.seen.map(({ params }) => params.refresh_token)).toEqual(["refresh-0", "refresh-1"]);
});

/** Processes that wait for another one's renewal. */
async function countWaiting(): Promise<number> {
  const [store] = stores;
  if (store === undefined) return 0;
  const waiting = sql<{
    count: string;
  }>`select count(*) as count from pg_locks where locktype = 'advisory' and not granted`;
  return Number((await waiting.execute(store)).rows[0]?.count);
}
