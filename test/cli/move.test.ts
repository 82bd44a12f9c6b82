import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { placesUnder } from "../../src/cli/context.ts";
import { openClient } from "../../src/cli/open-session.ts";
import { SvcClient } from "../../src/plugin/client/client.ts";
import { openCredentialStore } from "../../src/plugin/pairing/credentials.ts";
import { startTestService, type TestService } from "../../src/testing.ts";
import { runSvc } from "../e2e/run-svc.ts";
import { openBrowser } from "../service/http/pages/browser.ts";
import { call } from "../service/http-calls.ts";

let home: string;
let service: TestService;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "svc-cli-"));
  service = await startTestService({ integrations: [] });
});
afterEach(async () => {
  await service.close();
  await rm(home, { recursive: true, force: true });
});

test("svc move changes the address of the stored key, and names settings that still have the old one", async () => {
  const nothing = await runSvc(["move", service.url], home);
  expect([nothing.code, nothing.stderr]).toEqual([3, expect.stringContaining("so there is nothing to move")]);
  const store = openCredentialStore(join(home, "config"));
  const old = "https://old.example.org";
  const { apiKey } = service;
  const owner = openBrowser();
  await owner.open(await service.service.signInUrl());
  const [, apiKeyId = ""] =
    /\/devices\/(key_\w+)\/revoke/.exec((await owner.open(`${service.url}/devices`)).text) ?? [];
  await store.write({ baseUrl: old, apiKey, apiKeyId, pairedAt: "2026-01-01T00:00:00.000Z" });
  await writeFile(join(home, "config", "config.json"), JSON.stringify({ baseUrl: old }));

  const refused = await runSvc(["status", "--base-url", service.url], home);
  expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining(`run "svc move ${service.url}"`)]);
  const moved = await runSvc(["move", service.url, "--json"], home);
  expect([moved.code, JSON.parse(moved.stdout)]).toEqual([0, { from: old, to: service.url }]);
  expect(moved.stderr).toContain(`Still set to ${old}: change SVC_BASE_URL, or baseUrl in `);
  expect(await store.read()).toMatchObject({ baseUrl: service.url, apiKey });
  const { client } = await openClient({ places: placesUnder(home), env: {} }, { baseUrl: service.url });
  expect(client.principal).toBe(new SvcClient({ baseUrl: old, apiKey }).principal);
  await client.close();
  expect((await call(`${service.url}/api/tools`, { key: apiKey })).status).toBe(200);
});
