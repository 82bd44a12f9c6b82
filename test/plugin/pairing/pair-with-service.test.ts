import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SvcClient } from "../../../src/plugin/client/client.ts";
import { type CredentialStore, openCredentialStore } from "../../../src/plugin/pairing/credentials.ts";
import { type PairProgress, pairDevice } from "../../../src/plugin/pairing/pair.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { verifies } from "../../contract/verifies.ts";
import { expectMode } from "../../suites/this-system.ts";
import { catchError } from "../client/recording-server.ts";

/** Between two looks of a process: the other one has eight times as long to store the key. */
const WAIT_MS = 500;

let clock = Date.now();
let folder: string;
let service: TestService;
let client: SvcClient;
let store: CredentialStore;

beforeEach(async () => {
  clock = Date.now();
  folder = await mkdtemp(join(tmpdir(), "svc-pair-service-"));
  service = await startTestService({ now: () => clock });
  client = new SvcClient({ baseUrl: service.url });
  store = openCredentialStore(folder);
});
afterEach(async () => {
  await client.close();
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

/** Pairs with the real service; `onWait` is what happens in the browser meanwhile. */
function pair(onWait: (pairUrl: string) => Promise<void>, signal?: AbortSignal) {
  const seen: PairProgress[] = [];
  let pairUrl = "";
  const done = pairDevice({
    client,
    credentials: store,
    deviceLabel: "Test desk",
    clientKind: "cli",
    signal,
    onProgress: (step) => {
      seen.push(step);
      if (step.kind === "started") pairUrl = step.pairUrl;
    },
    sleep: () => onWait(pairUrl),
    now: () => clock,
  });
  return { done, seen };
}

describe("pairing with the embedded service", () => {
  test("ends with a key that works, stored for its owner alone", async () => {
    verifies("pair.client-waits-for-human", "pair.client-stores-key");
    const { done, seen } = pair((pairUrl) => service.decide(pairUrl));
    const credentials = await done;
    expect(seen.map(({ kind }) => kind)).toEqual(["started", "waiting", "approved"]);
    expect(seen[0]).toMatchObject({ displayCode: expect.stringMatching(/\w/) });
    expect(await store.read()).toEqual(credentials);
    expectMode(store.path, 0o600);
    const paired = new SvcClient({ baseUrl: credentials.baseUrl, apiKey: credentials.apiKey });
    const { tools } = await paired.listTools();
    expect(tools.length).toBeGreaterThan(0);
    await paired.close();
  });

  test("ends with an explanation when the human declines", async () => {
    verifies("pair.client-explains-failure");
    const { done } = pair((pairUrl) => service.decide(pairUrl, "decline"));
    const error = await catchError(() => done);
    expect(error).toMatchObject({ code: "pairing_failed", hint: expect.any(String) });
    expect(error).toHaveProperty("message", expect.stringMatching(/declined/));
    expect(await store.readPending()).toBeUndefined();
  });

  test("ends with an explanation when the session expires", async () => {
    verifies("pair.client-explains-failure");
    const { done } = pair(async () => {
      clock += 16 * 60_000;
    });
    const error = await catchError(() => done);
    expect(error).toMatchObject({ code: "pairing_failed", hint: expect.stringContaining("again") });
  });

  test("goes on with the stored session after an interruption", async () => {
    const controller = new AbortController();
    const first = pair(async () => controller.abort(), controller.signal);
    expect(await catchError(() => first.done)).toMatchObject({ code: "aborted" });
    const second = pair((pairUrl) => service.decide(pairUrl));
    expect(await second.done).toMatchObject({ deviceLabel: "Test desk" });
    expect(second.seen[0]).toEqual(first.seen[0]);
  });

  test("starts anew when the key was handed out but never stored", async () => {
    verifies("pair.client-explains-failure");
    const { done } = pair(async (pairUrl) => {
      const lost = await store.readPending();
      if (lost === undefined) return;
      await service.decide(pairUrl);
      await client.exchangePairing(lost.sessionToken, lost.verifier);
      await store.clearPending();
    });
    const error = await catchError(() => done);
    expect(error).toMatchObject({ code: "pairing_failed", hint: expect.stringContaining("dashboard") });
    const again = pair((pairUrl) => service.decide(pairUrl));
    expect(await again.done).toMatchObject({ baseUrl: service.url });
  });

  test("gives two devices that wait at once one key each", async () => {
    const other = openCredentialStore(join(folder, "other"));
    const labels = ["one", "two"];
    const paired = await Promise.all(
      [store, other].map((credentials, index) =>
        pairDevice({
          client,
          credentials,
          deviceLabel: labels[index],
          onProgress: () => {},
          sleep: async () => service.decide((await credentials.readPending())?.pairUrl ?? ""),
        }),
      ),
    );
    expect(new Set(paired.map(({ apiKey }) => apiKey)).size).toBe(2);
    expect(paired.map(({ deviceLabel }) => deviceLabel)).toEqual(labels);
  });

  test("two processes that wait for one session both end with its key", async () => {
    const secondWaits = Promise.withResolvers<void>();
    const first = pair(() => secondWaits.promise.then(() => delay(WAIT_MS)));
    await expect.poll(() => first.seen.length).toBe(2);
    let decided: Promise<void> | undefined;
    const second = pair(async (pairUrl) => {
      decided ??= service.decide(pairUrl).then(secondWaits.resolve);
      await decided;
      await delay(WAIT_MS);
    });
    const [a, b] = await Promise.all([first.done, second.done]);
    expect(a.apiKey).toBe(b.apiKey);
    expect(second.seen[0]).toEqual(first.seen[0]);
  });
});
