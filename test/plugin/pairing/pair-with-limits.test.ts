import { afterEach, beforeEach, expect, test } from "vitest";
import { describeGranted, readLimitFlags } from "../../../src/cli/commands/key-limits.ts";
import { SvcClient } from "../../../src/plugin/client/client.ts";
import { checkServiceAt } from "../../../src/plugin/pairing/check-service.ts";
import { openCredentialStore } from "../../../src/plugin/pairing/credentials.ts";
import { type PairProgress, pairDevice } from "../../../src/plugin/pairing/pair.ts";
import { diagnoseService } from "../../../src/plugin/runtimes/openclaw/doctor/diagnose.ts";
import type { KeyScopes } from "../../../src/shared/wire/key-scopes.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { useTempFolder } from "../../service/files/temp-folder.ts";

const folder = useTempFolder();
let service: TestService;
let clock: number;
let client: SvcClient;
beforeEach(async () => {
  clock = Date.now();
  service = await startTestService({ now: () => clock });
  client = new SvcClient({ baseUrl: service.url });
});
afterEach(async () => {
  await client.close();
  await service.close();
});

/** Pairs; `decide` is given the link once it is shown. */
async function pair(scopes: KeyScopes | undefined, decide: (url: string) => void, signal?: AbortSignal) {
  const steps: PairProgress[] = [];
  const credentials = await pairDevice({
    client,
    credentials: openCredentialStore(folder()),
    scopes,
    signal,
    onProgress(step) {
      steps.push(step);
      if (step.kind === "started") decide(step.pairUrl);
    },
  });
  return { credentials, granted: steps.find((step) => step.kind === "approved")?.scopes };
}

test("a device gets the key that it asked for, is told so, and later that its time is over", async () => {
  const scopes = readLimitFlags({ apps: "notes, Drive", readOnly: true, expires: "30" });
  const { credentials, granted } = await pair(scopes, (url) => void service.decide(url));
  expect(granted).toEqual({
    integrations: ["notes", "drive"],
    levels: ["read"],
    expiresInDays: 30,
    approvals: "device",
  });
  expect(describeGranted(scopes, granted)).toBe("The key is limited: effects read; apps notes, drive; for 30 days.");
  const { apiKey } = credentials;
  expect((await checkServiceAt({ baseUrl: service.url, apiKey })).key).toBe("accepted");
  clock += 31 * 24 * 60 * 60_000;
  const check = await checkServiceAt({ baseUrl: service.url, apiKey });
  const finding = diagnoseService(check, { pair: "svc pair" }).find(({ id }) => id === "key.accepted");
  expect(finding).toMatchObject({ level: "fail", text: expect.stringContaining("its time is over") });
  expect(finding?.fix).toContain("svc pair");
});

test("a pairing that was interrupted goes on only with the same limits", async () => {
  const links: string[] = [];
  const interrupt = async (scopes: KeyScopes | undefined) => {
    const stop = new AbortController();
    const shown = (url: string) => {
      links.push(url);
      stop.abort();
    };
    await expect(pair(scopes, shown, stop.signal)).rejects.toMatchObject({ code: "aborted" });
  };
  await interrupt(undefined);
  await interrupt({ levels: ["read"] });
  await interrupt({ levels: ["read"] });
  expect(links[1]).not.toBe(links[0]);
  expect(links[2]).toBe(links[1]);
});

test.each([
  [{ apps: " , " }, "--apps"],
  [{ levels: "read,all" }, "--levels"],
  [{ expires: "0" }, "--expires"],
])("flags that mean nothing are refused: %j", (flags, field) => {
  expect(() => readLimitFlags(flags)).toThrow(expect.objectContaining({ code: "invalid_config", field }));
});

test("a service that does not limit keys is named", () => {
  expect(readLimitFlags({})).toBeUndefined();
  expect(describeGranted({ levels: ["read"] }, undefined)).toContain("does not limit keys");
  expect(describeGranted(undefined, undefined)).toBeUndefined();
});
