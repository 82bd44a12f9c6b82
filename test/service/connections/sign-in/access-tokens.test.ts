import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createAccessTokens } from "../../../../src/service/connections/sign-in/access-tokens.ts";
import { createSignInRecords, type SignInRecord } from "../../../../src/service/connections/sign-in/sign-in-record.ts";
import { createSecretBox } from "../../../../src/service/secrets/secret-box.ts";
import { openStore, type Store } from "../../../../src/service/store/open-store.ts";
import { lockApp, storeSignIn } from "./kit/lock-integration.ts";
import { startTokenServer, type TokenServer } from "./kit/start-token-server.ts";

const KEY = Buffer.alloc(32, 7);

let provider: TokenServer;
let folder: string;
let store: Store;
let now: number;

beforeEach(async () => {
  provider = await startTokenServer();
  folder = await mkdtemp(join(tmpdir(), "svc-sign-ins-"));
  store = await openStore(join(folder, "svc.db"));
  now = Date.parse("2026-01-01T10:00:00Z");
});

afterEach(async () => {
  await store.destroy();
  await provider.close();
  await rm(folder, { recursive: true, force: true });
});

const box = (key = KEY) => createSecretBox(key);
const open = (key = KEY) => createAccessTokens({ store, box: box(key), now: () => now });
const signIn = (more: Partial<SignInRecord> = {}, id = "sin_lock") =>
  storeSignIn({ store, box: box(), tokenUrl: provider.url, id }, more);
const SETTINGS = { signInId: "sin_lock" };
const tokenOf = async (tokens = open(), settings: Readonly<Record<string, unknown>> = SETTINGS) =>
  (await tokens.provide(lockApp, settings)).settings.token;
const refused = (status: number, body: object | string) => {
  provider.faults.push({ status, body: typeof body === "string" ? body : JSON.stringify(body) });
};
const fail = (work: Promise<unknown>) =>
  work.then(
    () => expect.unreachable(),
    (error: unknown) => error,
  );
const CLIENT = { client_id: "lock-client", client_secret: "lock's secret" };

test("settings that need no sign-in are left as they are; others without one ask for it", async () => {
  const plain = { address: "x" };
  const live = await open().provide({ ...lockApp, findSignIn: () => undefined }, plain);
  expect(live.settings).toBe(plain);
  expect(await live.renew()).toBeUndefined();
  expect(await fail(tokenOf(open(), plain))).toMatchObject({ status: 401, code: "needs_reauth" });
});

test("a token is got once, kept encrypted, and renewed a minute before its end with the newest refresh token", async () => {
  await signIn();
  const tokens = open();
  const { settings: used } = await tokens.provide(lockApp, SETTINGS);
  expect(used).toMatchObject({ token: "access-1", data: { team: "blue" } });
  expect(JSON.stringify(used)).not.toContain("refresh-1");
  now += 3539_000;
  expect(await tokenOf(tokens)).toBe("access-1");
  // After a restart, too.
  expect(await tokenOf()).toBe("access-1");
  now += 1_000;
  expect(await tokenOf()).toBe("access-2");
  expect(provider.seen.map(({ params }) => params)).toEqual([
    { grant_type: "refresh_token", refresh_token: "refresh-0", ...CLIENT },
    { grant_type: "refresh_token", refresh_token: "refresh-1", ...CLIENT },
  ]);
  const rows = JSON.stringify(await store.selectFrom("sign_ins").selectAll().execute());
  expect(rows).not.toMatch(/access-2|refresh-[0-2]|secret/);
});

test("many calls at a time ask the provider once, whatever they noticed", async () => {
  await signIn();
  const tokens = open();
  expect(await Promise.all(Array.from({ length: 20 }, () => tokenOf(tokens)))).toEqual(Array(20).fill("access-1"));
  const live = await Promise.all(Array.from({ length: 20 }, () => tokens.provide(lockApp, SETTINGS)));
  const renewed = await Promise.all(live.map(({ renew }) => renew()));
  expect(renewed.map((one) => one?.token)).toEqual(Array(20).fill("access-2"));
  // Late by one: another call has renewed already.
  expect((await live[0]?.renew())?.token).toBe("access-2");
  expect(provider.seen).toHaveLength(2);
});

test("a sign-in that two connections share is withdrawn with the last of them", async () => {
  const revocation_endpoint = provider.url;
  await signIn();
  const record = { ...(await readProvider()), server: { ...(await readProvider()).server, revocation_endpoint } };
  await signIn({ provider: record });
  const tokens = open();
  await tokens.forget(SETTINGS, [{ signInId: "other" }, SETTINGS]);
  expect([await tokenOf(tokens), provider.seen.length]).toEqual(["access-1", 1]);
  await tokens.forget(SETTINGS, [{ signInId: "other" }]);
  expect(provider.seen.at(-1)?.params).toEqual({ token: "refresh-1", ...CLIENT });
  expect(await store.selectFrom("sign_ins").selectAll().execute()).toEqual([]);
  expect(await fail(tokenOf(tokens))).toMatchObject({ code: "needs_reauth" });
});

async function readProvider() {
  const records = createSignInRecords({ store, box: box(), now: () => now });
  const record = await records.find("sin_lock");
  return record?.provider ?? expect.unreachable();
}

const readRecord = () => createSignInRecords({ store, box: box(), now: () => now }).find("sin_lock");

test("a provider that does not say how long a token lasts is asked only after a refusal", async () => {
  await signIn();
  provider.lifetime = undefined;
  const tokens = open();
  expect(await tokenOf(tokens)).toBe("access-1");
  now += 365 * 24 * 3600_000;
  expect(await tokenOf(tokens)).toBe("access-1");
});

test("a token that lasts for a minute is used for half of it", async () => {
  await signIn();
  provider.lifetime = 60;
  const tokens = open();
  expect(await tokenOf(tokens)).toBe("access-1");
  now += 29_000;
  expect(await tokenOf(tokens)).toBe("access-1");
  now += 1_000;
  expect(await tokenOf(tokens)).toBe("access-2");
});

test("an ended sign-in says so in the provider's words, without control characters and secrets, and asks no more", async () => {
  const tokens = { accessToken: "a", refreshToken: "refresh-of-nobody", renewAt: 0, expiresAt: 0, data: {} };
  await signIn({ tokens });
  const message = "Lock: The sign-in has ended or was withdrawn: Token [hidden] [31m was revoked. (invalid_grant)";
  const ended = {
    status: 401,
    code: "needs_reauth",
    message,
    options: { hint: expect.stringContaining("signs in again") },
  };
  expect(await fail(tokenOf())).toMatchObject(ended);
  expect(await fail(tokenOf())).toMatchObject(ended);
  expect(provider.seen).toHaveLength(1);
  expect(await open().describe(SETTINGS)).toMatchObject({ provider: "lock.test", ended: message });
});

test.each([
  [429, { error: "slow_down" }, [429, "rate_limited", true]],
  [503, "Closed.", [503, "provider_unavailable", true]],
  [400, { error: "temporarily_unavailable" }, [503, "provider_unavailable", true]],
])("the endpoint's %i with %o is told as what it is, and spoils nothing", async (status, body, expected) => {
  await signIn();
  refused(status, body);
  const error = (await fail(tokenOf())) as {
    status: number;
    code: string;
    message: string;
    options: { retryable?: boolean };
  };
  expect([error.status, error.code, error.options.retryable ?? false]).toEqual(expected);
  expect(error.message).not.toMatch(/refresh-0|lock's secret/);
  expect(await tokenOf()).toBe("access-1");
});

test.each([
  [401, { error: "invalid_client" }],
  // As GitHub says it.
  [200, { error: "bad_refresh_token", error_description: "Gone." }],
])("the endpoint's %i with %o ends the sign-in", async (status, body) => {
  await signIn();
  refused(status, body);
  expect(await fail(tokenOf())).toMatchObject({ status: 401, code: "needs_reauth" });
  expect(await fail(tokenOf())).toMatchObject({ status: 401, code: "needs_reauth" });
  expect(provider.seen).toHaveLength(1);
});

test("a token that is still good is used while the provider is down, and not longer", async () => {
  await signIn();
  const tokens = open();
  await tokenOf(tokens);
  now += 3550_000;
  refused(503, "Closed.");
  expect(await tokenOf(tokens)).toBe("access-1");
  now += 60_000;
  refused(503, "Closed.");
  expect(await fail(tokenOf(tokens))).toMatchObject({ code: "provider_unavailable" });
  expect(await tokenOf(tokens)).toBe("access-2");
});

test("a refresh token whose answer was lost is not sent again: the sign-in lasts as long as its access token", async () => {
  const tokens = {
    accessToken: "access-0",
    refreshToken: "refresh-0",
    renewAt: now,
    expiresAt: now + 60_000,
    data: {},
  };
  await signIn({ tokens, isRenewing: true });
  expect(await tokenOf()).toBe("access-0");
  now += 60_000;
  expect(await fail(tokenOf())).toMatchObject({ status: 401, code: "needs_reauth" });
  expect(provider.seen).toEqual([]);
});

test.each([
  ["is broken", 200, "<html>", false],
  ["says nothing of use", 200, { access_token: "" }, false],
  ["leads elsewhere", 302, "", false],
  ["is broken, of a provider that keeps its refresh tokens,", 200, "<html>", true],
])(
  "an answer that %s leaves open whether the refresh token is spent",
  async (_what, status, body, keepsRefreshTokens) => {
    await signIn({ keepsRefreshTokens });
    refused(status, body);
    expect(await fail(tokenOf())).toMatchObject({ status: 500, code: "provider_error" });
    if (keepsRefreshTokens) expect(await tokenOf()).toBe("access-1");
    else expect(await fail(tokenOf())).toMatchObject({ status: 401, code: "needs_reauth" });
    expect((await readRecord())?.isRenewing).toBe(false);
  },
);

test("scopes that an app asks for are remembered for the next sign-in", async () => {
  await signIn();
  await open().askForScopes(SETTINGS, ["write"]);
  await open().askForScopes(SETTINGS, ["write", "delete"]);
  expect((await readRecord())?.wantedScopes).toEqual(["write", "delete"]);
});

test("the client proves itself in the header, or in the body where the provider does not know it so", async () => {
  const { authMethod: _, ...client } = { ...(await signedInProvider()).client };
  await signIn({ provider: { ...(await readProvider()), client } });
  await tokenOf();
  expect(provider.seen[0]?.authorization).toBe(
    `Basic ${Buffer.from("lock-client:lock's%20secret").toString("base64")}`,
  );
  now += 3600_000;
  refused(401, { error: "invalid_client" });
  await tokenOf();
  expect(provider.seen.at(-1)?.params).toMatchObject(CLIENT);
});

async function signedInProvider() {
  await signIn();
  return readProvider();
}

test("only a public address with encryption is asked, unless it is the owner's", async () => {
  await signIn({ provider: { ...(await signedInProvider()), isPrivate: false } });
  expect(await fail(tokenOf())).toMatchObject({ status: 500 });
  expect(provider.seen).toEqual([]);
});

test("tokens that another key encrypted are asked for again", async () => {
  await signIn();
  await tokenOf();
  expect(await fail(tokenOf(open(Buffer.alloc(32, 8))))).toMatchObject({ code: "needs_reauth" });
  expect(provider.seen).toHaveLength(1);
});
