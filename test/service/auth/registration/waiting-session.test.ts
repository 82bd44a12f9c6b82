import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createApiKeys } from "../../../../src/service/auth/api-keys.ts";
import { createGrants } from "../../../../src/service/auth/grants.ts";
import { createBootstrap } from "../../../../src/service/auth/registration/bootstrap.ts";
import { createPairing } from "../../../../src/service/auth/registration/pairing.ts";
import { MAX_WAITING } from "../../../../src/service/auth/registration/waiting-session.ts";
import { openStore, type Store } from "../../../../src/service/store/open-store.ts";
import { forgetExpired } from "../../../../src/service/store/retention.ts";
import { useTempFolder } from "../../files/temp-folder.ts";

const folder = useTempFolder();
let store: Store;
let time: number;
beforeEach(async () => {
  time = Date.parse("2026-03-04T10:00:00Z");
  store = await openStore(`${folder()}/svc.db`);
});
afterEach(() => store.destroy());

const now = () => time;
const parts = () => ({
  store,
  keys: createApiKeys(store, { read: async () => ({ mark: "" }) }, now),
  grants: createGrants(store, now),
  now,
});
const approve = { accountId: "acc_1", decision: "approve", scopes: {} } as const;

/** The two flows by the same names. `start` gives the token of the owner's page. */
const flows = {
  pairing() {
    const pairing = createPairing({ ...parts(), pairUrl: (token) => token });
    return {
      ...pairing,
      table: "pairing_sessions" as const,
      start: async () => (await pairing.start({})).pairUrl,
    };
  },
  bootstrap() {
    const bootstrap = createBootstrap({ ...parts(), baseUrl: "" });
    return {
      ...bootstrap,
      table: "bootstrap_sessions" as const,
      start: async () => (await bootstrap.start({}, { address: "203.0.113.9" })).approval_url.replace("/install/", ""),
    };
  },
};

describe.each(Object.entries(flows))("waiting sessions: %s", (_name, create) => {
  async function flood(count: number): Promise<string[]> {
    const tokens: string[] = [];
    for (let index = 0; index < count; index++) {
      time += 1;
      tokens.push(await create().start());
    }
    return tokens;
  }

  test("a flood drops the oldest that nobody opened", async () => {
    const flow = create();
    const [oldest = "", next = ""] = await flood(2);
    await flood(MAX_WAITING - 1);
    expect(await flow.open(oldest)).toBeUndefined();
    expect(await flow.open(next)).toMatchObject({ status: "awaiting_approval" });
    const rows = await store.selectFrom(flow.table).select("created_at").execute();
    expect(rows).toHaveLength(MAX_WAITING);
  });

  test("a session that the owner opened stays", async () => {
    const flow = create();
    const [opened = "", unopened = ""] = await flood(2);
    await flow.open(opened);
    await flood(MAX_WAITING);
    expect(await flow.decide(opened, approve)).toBe(true);
    expect(await flow.decide(unopened, approve)).toBe(false);
    // What was approved waits for nobody.
    await flood(3);
    expect(await flow.open(opened)).toMatchObject({ status: "approved" });
  });

  test("what expired takes no place, and is gone a day later", async () => {
    const flow = create();
    const [first = ""] = await flood(MAX_WAITING);
    time += 16 * 60_000;
    await flood(1);
    expect(await flow.open(first)).toMatchObject({ status: "expired" });
    time += 24 * 60 * 60_000;
    await forgetExpired(store, time);
    expect(await flow.open(first)).toBeUndefined();
  });
});
