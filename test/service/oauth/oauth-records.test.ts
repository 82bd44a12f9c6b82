import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createOAuthRecords, type OAuthRecords } from "../../../src/service/oauth/oauth-records.ts";
import { openStore, type Store } from "../../../src/service/store/open-store.ts";
import { forgetExpired } from "../../../src/service/store/retention.ts";

const HOUR = 3_600_000;
let folder: string;
let store: Store;
let records: OAuthRecords;
let clock: number;
beforeEach(async () => {
  clock = Date.parse("2026-03-01T12:00:00Z");
  folder = await mkdtemp(join(tmpdir(), "svc-oauth-"));
  store = await openStore(join(folder, "svc.db"));
  records = createOAuthRecords({ store, now: () => clock });
});
afterEach(async () => {
  await store.destroy();
  await rm(folder, { recursive: true, force: true });
});

const exp = () => clock / 1000 + 3600;

/** An approval with a code and a refresh token from it. */
async function approve(grantId = "grant-1", clientId = "app"): Promise<void> {
  await records.adapter("Grant").upsert(grantId, { accountId: "acc_1", clientId, exp: exp() }, 3600);
  await records.adapter("AuthorizationCode").upsert("code-1", { jti: "code-1", grantId, clientId, exp: exp() }, 60);
  await records.adapter("RefreshToken").upsert("token-1", { jti: "token-1", grantId, clientId, exp: exp() }, 3600);
}

describe("a code", () => {
  test("is found with its id, which the table does not hold", async () => {
    await approve();
    expect(await records.adapter("AuthorizationCode").find("code-1")).toMatchObject({
      jti: "code-1",
      grantId: "grant-1",
    });
    const rows = await store.selectFrom("oauth_records").selectAll().execute();
    expect(JSON.stringify(rows)).not.toMatch(/code-1|token-1/);
  });

  test("is consumed by exactly one of many; the others end the approval", async () => {
    await approve();
    const codes = records.adapter("AuthorizationCode");
    const tries = await Promise.allSettled(Array.from({ length: 5 }, () => codes.consume("code-1")));
    expect(tries.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const one of tries) {
      if (one.status === "rejected") expect(one.reason).toMatchObject({ message: "invalid_grant", statusCode: 400 });
    }
    expect(await records.hasGrant("grant-1")).toBe(false);
    expect(await records.adapter("RefreshToken").find("token-1")).toBeUndefined();
  });

  test("says later that it was used", async () => {
    await approve();
    await records.adapter("AuthorizationCode").consume("code-1");
    const found = await records.adapter("AuthorizationCode").find("code-1");
    expect(found).toMatchObject({ consumed: clock / 1000 });
  });
});

describe("an approval", () => {
  test("ends with its time", async () => {
    await approve();
    expect(await records.hasGrant("grant-1")).toBe(true);
    clock += HOUR;
    expect(await records.hasGrant("grant-1")).toBe(false);
    expect(await records.listApps("acc_1")).toEqual([]);
  });

  test("takes with it what came from it, and only that", async () => {
    await approve();
    await records.adapter("RefreshToken").upsert("token-2", { grantId: "grant-2", exp: exp() }, 3600);
    await records.adapter("RefreshToken").revokeByGrantId("grant-1");
    expect(await records.hasGrant("grant-1")).toBe(false);
    expect(await records.adapter("RefreshToken").find("token-1")).toBeUndefined();
    expect(await records.adapter("RefreshToken").find("token-2")).toMatchObject({ grantId: "grant-2" });
  });

  test("is listed once per app, and withdrawn for this account alone", async () => {
    await records.adapter("Client").upsert("app", { client_id: "app", client_name: "Desk", redirect_uris: ["app:/"] });
    await approve();
    await approve("grant-2");
    await approve("grant-3", "gone");
    expect((await records.listApps("acc_1")).map(({ clientId, name }) => [clientId, name]).sort()).toEqual([
      ["app", "Desk"],
      ["gone", undefined],
    ]);
    expect(await records.endApp("acc_2", "app")).toBe(false);
    expect(await records.endApp("acc_1", "app")).toBe(true);
    expect(await Promise.all(["grant-1", "grant-2", "grant-3"].map(records.hasGrant))).toEqual([false, false, true]);
    expect(await records.endApp("acc_1", "app")).toBe(false);
  });
});

describe("clients", () => {
  const clients = () => records.adapter("Client");

  test("are forgotten after a day unless they were approved", async () => {
    await clients().upsert("a", { client_id: "a" });
    await clients().upsert("b", { client_id: "b" });
    await records.keepClient("b");
    clock += 25 * HOUR;
    expect(await clients().find("a")).toBeUndefined();
    expect(await clients().find("b")).toEqual({ client_id: "b" });
  });

  test("that nobody approved cannot fill the store: the oldest go", async () => {
    await clients().upsert("kept", { client_id: "kept" });
    await records.keepClient("kept");
    for (let count = 0; count < 503; count += 1) {
      clock += 1000;
      await clients().upsert(`c${count}`, { client_id: `c${count}` });
    }
    const { n } = await store
      .selectFrom("oauth_records")
      .select((e) => e.fn.countAll().as("n"))
      .executeTakeFirstOrThrow();
    expect(Number(n)).toBe(501);
    expect(await clients().find("c0")).toBeUndefined();
    expect(await clients().find("c502")).toBeDefined();
    expect(await clients().find("kept")).toBeDefined();
  });
});

test("requests that nobody decided cannot fill the store: upkeep takes ended ones, and the oldest give way", async () => {
  const requests = records.adapter("Interaction");
  await requests.upsert("ended", { jti: "ended", exp: exp() }, 900);
  clock += 26 * HOUR;
  for (let count = 0; count < 502; count += 1) {
    clock += 1000;
    await requests.upsert(`r${count}`, { jti: `r${count}`, exp: exp() }, 900);
  }
  await forgetExpired(store, clock);
  const { n } = await store
    .selectFrom("oauth_records")
    .select((e) => e.fn.countAll().as("n"))
    .executeTakeFirstOrThrow();
  expect(Number(n)).toBe(500);
  expect(await requests.find("r1")).toBeUndefined();
  expect(await requests.find("r501")).toBeDefined();
});

describe.each(["Client", "Interaction"])("what waits for the owner: %s", (model) => {
  const find = (id: string) => records.adapter(model).find(id);

  async function send(id: string): Promise<void> {
    clock += 1;
    await records.adapter(model).upsert(id, { client_id: id, exp: exp() }, 900);
  }

  test("is dropped oldest first", async () => {
    for (let count = 0; count < 502; count += 1) await send(`flood-${count}`);
    const kept = await Promise.all(["flood-0", "flood-1", "flood-2", "flood-501"].map(find));
    expect(kept.map((one) => one !== undefined)).toEqual([false, false, true, true]);
  });

  test("stays once the owner has seen it", async () => {
    await send("seen");
    await send("unseen");
    await records.open({ requestId: "seen", clientId: "seen" });
    for (let count = 0; count < 500; count += 1) await send(`flood-${count}`);
    expect(await find("seen")).toBeDefined();
    expect(await find("unseen")).toBeUndefined();
  });

  test("pushes nothing out when it is changed", async () => {
    for (let count = 0; count < 500; count += 1) await send(`r${count}`);
    await send("r499");
    expect(await find("r0")).toBeDefined();
  });
});

test("a session is found by its public name too", async () => {
  const sessions = records.adapter("Session");
  await sessions.upsert("secret", { jti: "secret", uid: "public", accountId: "acc_1", exp: exp() }, 60);
  expect(await sessions.findByUid("public")).toMatchObject({ uid: "public", accountId: "acc_1" });
  await sessions.destroy("secret");
  expect(await sessions.findByUid("public")).toBeUndefined();
});
