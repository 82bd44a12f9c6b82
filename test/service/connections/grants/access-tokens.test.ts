import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createAccessTokens } from "../../../../src/service/connections/grants/access-tokens.ts";
import { createSecretBox } from "../../../../src/service/secrets/secret-box.ts";
import { openStore, type Store } from "../../../../src/service/store/open-store.ts";
import { createLockSettings, lockApp } from "./kit/lock-integration.ts";
import { startTokenServer, type TokenServer } from "./kit/start-token-server.ts";

const KEY = Buffer.alloc(32, 7);

let provider: TokenServer;
let folder: string;
let store: Store;
let now: number;

beforeEach(async () => {
  provider = await startTokenServer();
  folder = await mkdtemp(join(tmpdir(), "svc-grants-"));
  store = await openStore(join(folder, "svc.db"));
  now = Date.parse("2026-01-01T10:00:00Z");
});

afterEach(async () => {
  await store.destroy();
  await provider.close();
  await rm(folder, { recursive: true, force: true });
});

const open = (key = KEY) => createAccessTokens({ store, box: createSecretBox(key), now: () => now });
const settings = (more: Parameters<typeof createLockSettings>[1] = {}) => createLockSettings(provider.url, more);
const tokenOf = async (tokens = open(), more: Parameters<typeof settings>[0] = {}) =>
  (await tokens.provide(lockApp, settings(more))).settings.token;
const refused = (status: number, body: object | string) => {
  provider.faults.push({ status, body: typeof body === "string" ? body : JSON.stringify(body) });
};

test("settings without a grant are left as they are", async () => {
  const plain = { address: "x" };
  const live = await open().provide({ ...lockApp, findGrant: () => undefined }, plain);
  expect(live.settings).toBe(plain);
  expect(await live.renew()).toBeUndefined();
});

test("a token is got once, kept encrypted, and renewed a minute before its end with the newest refresh token", async () => {
  const tokens = open();
  const { settings: used } = await tokens.provide(lockApp, settings());
  expect(used).toMatchObject({ token: "access-1", data: { team: "blue", token_type: "Bearer" } });
  expect(JSON.stringify(used)).not.toContain("refresh-1");
  now += 3539_000;
  expect(await tokenOf(tokens)).toBe("access-1");
  // After a restart, too.
  expect(await tokenOf()).toBe("access-1");
  now += 1_000;
  expect(await tokenOf()).toBe("access-2");
  expect(provider.seen.map(({ params }) => params)).toEqual([
    {
      grant_type: "refresh_token",
      refresh_token: "refresh-0",
      client_id: "lock-client",
      client_secret: "lock's secret",
    },
    {
      grant_type: "refresh_token",
      refresh_token: "refresh-1",
      client_id: "lock-client",
      client_secret: "lock's secret",
    },
  ]);
  const rows = JSON.stringify(await store.selectFrom("access_tokens").selectAll().execute());
  expect(rows).not.toMatch(/access-2|refresh-[0-2]/);
});

test("many calls at a time ask the provider once, whatever they noticed", async () => {
  const tokens = open();
  expect(await Promise.all(Array.from({ length: 20 }, () => tokenOf(tokens)))).toEqual(Array(20).fill("access-1"));
  const live = await Promise.all(Array.from({ length: 20 }, () => tokens.provide(lockApp, settings())));
  const renewed = await Promise.all(live.map(({ renew }) => renew()));
  expect(renewed.map((one) => one?.token)).toEqual(Array(20).fill("access-2"));
  // Late by one: another call has renewed already.
  expect((await live[0]?.renew())?.token).toBe("access-2");
  expect(provider.seen).toHaveLength(2);
});

test("a grant that the owner replaces starts anew; one that two connections share is forgotten with the last", async () => {
  const tokens = open();
  await tokenOf(tokens);
  await tokens.forget(lockApp, settings(), [settings({ refreshToken: "other" }), settings()]);
  expect(await tokenOf(tokens)).toBe("access-1");
  expect(await tokenOf(tokens, { refreshToken: "refresh-1" })).toBe("access-2");
  await tokens.forget(lockApp, settings(), [settings({ refreshToken: "refresh-1" })]);
  expect(await store.selectFrom("access_tokens").selectAll().execute()).toHaveLength(1);
});

test("a provider that does not say how long a token lasts is asked only after a refusal", async () => {
  provider.lifetime = undefined;
  const tokens = open();
  expect(await tokenOf(tokens)).toBe("access-1");
  now += 365 * 24 * 3600_000;
  expect(await tokenOf(tokens)).toBe("access-1");
});

test("a token that lasts for a minute is used for half of it", async () => {
  provider.lifetime = 60;
  const tokens = open();
  expect(await tokenOf(tokens)).toBe("access-1");
  now += 29_000;
  expect(await tokenOf(tokens)).toBe("access-1");
  now += 1_000;
  expect(await tokenOf(tokens)).toBe("access-2");
});

test("an ended sign-in asks for a new one in the provider's words, without control characters and secrets", async () => {
  const error = await open()
    .provide(lockApp, settings({ refreshToken: "refresh-of-nobody" }))
    .catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    status: 401,
    code: "needs_reauth",
    message: "Lock: The sign-in has ended or was withdrawn: Token [hidden] [31m was revoked. (invalid_grant)",
    options: { hint: expect.stringContaining("signs in again"), extra: { setting: "refreshToken" } },
  });
});

test.each([
  [401, { error: "invalid_client" }, [401, "needs_reauth", false]],
  // As GitHub says it.
  [200, { error: "bad_refresh_token", error_description: "Gone." }, [401, "needs_reauth", false]],
  [429, { error: "slow_down" }, [429, "rate_limited", true]],
  [503, "Closed.", [503, "provider_unavailable", true]],
  [404, "<html>", [500, "provider_error", false]],
  [200, { access_token: "" }, [500, "provider_error", false]],
  [302, "", [500, "provider_error", false]],
])("the endpoint's %i with %o is told as what it is", async (status, body, expected) => {
  refused(status, body);
  const error = (await tokenOf().catch((thrown: unknown) => thrown)) as {
    status: number;
    code: string;
    message: string;
    options: { retryable?: boolean };
  };
  expect([error.status, error.code, error.options.retryable ?? false]).toEqual(expected);
  expect(error.message).not.toMatch(/refresh-0|lock's secret/);
  // Nothing is spoilt by it.
  expect(await tokenOf()).toBe("access-1");
});

test("a token that is still good is used while the provider is down, and not longer", async () => {
  const tokens = open();
  await tokenOf(tokens);
  now += 3550_000;
  refused(503, "Closed.");
  expect(await tokenOf(tokens)).toBe("access-1");
  now += 60_000;
  refused(503, "Closed.");
  await expect(tokenOf(tokens)).rejects.toMatchObject({ code: "provider_unavailable" });
  expect(await tokenOf(tokens)).toBe("access-2");
});

test("the client proves itself in the header where the provider wants it so", async () => {
  await tokenOf(open(), { clientIn: "header" });
  const [{ params, authorization } = { params: {}, authorization: "" }] = provider.seen;
  expect(params).toEqual({ grant_type: "refresh_token", refresh_token: "refresh-0" });
  expect(authorization).toBe(`Basic ${Buffer.from("lock-client:lock's%20secret").toString("base64")}`);
});

test("only a public address with encryption is asked, unless it is the owner's", async () => {
  await expect(tokenOf(open(), { isPrivate: "no" })).rejects.toMatchObject({ code: "provider_unavailable" });
  expect(provider.seen).toEqual([]);
});

test("tokens that another key encrypted are got anew", async () => {
  await tokenOf();
  await expect(tokenOf(open(Buffer.alloc(32, 8)))).rejects.toMatchObject({ code: "needs_reauth" });
  expect(provider.seen).toHaveLength(2);
});
