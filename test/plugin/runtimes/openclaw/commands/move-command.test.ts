import { afterEach, beforeEach, expect, test } from "vitest";
import { SvcClient } from "../../../../../src/plugin/client/client.ts";
import { openCredentialStore } from "../../../../../src/plugin/pairing/credentials.ts";
import { moveInTerminal } from "../../../../../src/plugin/runtimes/openclaw/commands/move-command.ts";
import {
  listKnownAccounts,
  readKeyOrigin,
  rememberKeyOrigin,
} from "../../../../../src/plugin/runtimes/openclaw/setup/find-key.ts";
import { createFakeApi, type FakeHost } from "../fake-api.ts";
import { openPairingKit, type PairingKit, playScreen } from "../pairing-kit.ts";

const OLD = "https://old.example";
let kit: PairingKit;
beforeEach(async () => {
  kit = await openPairingKit();
});
afterEach(() => kit.close());

async function move(fake: FakeHost, url = kit.service.url) {
  const call = { host: kit.host(fake), api: createFakeApi(fake).api, config: {} };
  return moveInTerminal(call, url, kit.folder.environment);
}

/** A key that was paired while the service went by another address. */
async function pairBefore() {
  const { profiles } = await kit.pair(kit.host({ pluginConfig: { baseUrl: kit.service.url } }), playScreen());
  const key = profiles[0]?.credential.key ?? "";
  const { places } = kit.host();
  const origin = await readKeyOrigin(places, key);
  const { principal } = new SvcClient({ baseUrl: OLD, apiKey: key });
  if (origin === undefined) throw new Error("The pairing left no origin.");
  const account = { baseUrl: OLD, principal, agentDir: "", connections: ["c1"] };
  await rememberKeyOrigin(places, key, { ...origin, baseUrl: OLD }, account);
  return { key, principal, places, apiKeyId: origin.apiKeyId ?? "" };
}

test("the key goes to the new address of its service, and its account goes on", async () => {
  const { key, principal, places } = await pairBefore();
  const done = await move({ storedKey: key, pluginConfig: { baseUrl: OLD } });
  expect([done.exit, done.text]).toEqual([
    0,
    expect.stringContaining(`Then: openclaw config set plugins.entries.svc.config.baseUrl ${kit.service.url}`),
  ]);
  expect(done.text).not.toContain("svc_live_");
  expect(await listKnownAccounts(places)).toContainEqual(
    expect.objectContaining({ baseUrl: kit.service.url, principal }),
  );
  const { session } = await kit.host({ storedKey: key }).openAccount(undefined);
  expect([session.client.baseUrl, session.principal]).toEqual([kit.service.url, principal]);
  expect((await session.client.listTools()).tools.length).toBeGreaterThan(0);
});

test("a key in the plugin's own file moves, too", async () => {
  const { key, principal, places, apiKeyId } = await pairBefore();
  const store = openCredentialStore(places.state);
  await store.write({ baseUrl: OLD, apiKey: key, apiKeyId, pairedAt: "2026-01-01T00:00:00.000Z" });
  expect(await move({})).toMatchObject({ exit: 0, data: { moved: true, baseUrl: kit.service.url } });
  const { session } = await kit.host({}).openAccount(undefined);
  expect([session.client.baseUrl, session.principal]).toEqual([kit.service.url, principal]);
});

test("a key stays where its service does not prove to be the same", async () => {
  const { key, places } = await pairBefore();
  const other = await openPairingKit();
  try {
    await expect(move({ storedKey: key }, other.service.url)).rejects.toMatchObject({ code: "pairing_failed" });
  } finally {
    await other.close();
  }
  expect((await readKeyOrigin(places, key))?.baseUrl).toBe(OLD);
});

test("without a pairing, or with a key from elsewhere, it says what to do", async () => {
  expect(await move({})).toMatchObject({ exit: 3, text: expect.stringContaining("nothing to move") });
  expect(await move({ pluginConfig: { apiKey: "svc_live_set" } })).toMatchObject({
    exit: 1,
    text: expect.stringContaining("openclaw config set plugins.entries.svc.config.baseUrl"),
  });
  expect(await move({ storedKey: "svc_live_unknown" })).toMatchObject({
    exit: 1,
    text: expect.stringContaining("openclaw svc pair"),
  });
});
