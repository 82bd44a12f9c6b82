import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SvcClient } from "../../../src/plugin/client/client.ts";
import { type CredentialStore, openCredentialStore } from "../../../src/plugin/pairing/credentials.ts";
import { moveCredentials } from "../../../src/plugin/pairing/move.ts";
import { pairAt } from "../../../src/plugin/pairing/pair.ts";
import { sha256Hex } from "../../../src/shared/base/hash.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { findFreePort } from "../../service/free-port.ts";
import { post } from "../../service/http-calls.ts";
import { startRecordingServer } from "../client/recording-server.ts";

let folder: string;
let service: TestService;
let store: CredentialStore;
let apiKey: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-move-"));
  service = await startTestService({ integrations: [], dataDir: join(folder, "data") });
  store = openCredentialStore(join(folder, "device"));
  const onProgress = (step: { kind: string; pairUrl?: string }) => {
    if (step.pairUrl !== undefined) void service.decide(step.pairUrl);
  };
  const paired = await pairAt({ baseUrl: service.url, credentials: store, onProgress, sleep: async () => {} });
  apiKey = paired.apiKey;
});
afterEach(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

const moveTo = (baseUrl: string) => moveCredentials({ baseUrl, credentials: store, sleep: async () => {} });

/** The service goes by another name from now on. */
async function rename(): Promise<string> {
  await service.close();
  const port = await findFreePort();
  const publicUrl = `http://localhost:${port}`;
  service = await startTestService({ integrations: [], dataDir: join(folder, "data"), port, publicUrl });
  return publicUrl;
}

const principalAt = (baseUrl: string, key: { apiKey: string; principal?: string }) =>
  new SvcClient({ baseUrl, ...key }).principal;

interface Lie {
  readonly status?: number;
  readonly json: unknown;
}

/** A stranger at the new address. */
async function standIn(answer: (body: string) => Lie | Promise<Lie>, work: (url: string) => Promise<void>) {
  const server = await startRecordingServer(({ body }) => async (_request, response) => {
    const { status = 200, json } = await answer(body);
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(json));
  });
  try {
    await work(server.url);
    const sent = JSON.stringify(server.requests.map(({ url, headers, body }) => [url, headers, body]));
    expect(server.requests.length).toBeGreaterThan(0);
    for (const secret of [apiKey, sha256Hex(apiKey), sha256Hex(apiKey).slice(0, 20)])
      expect(sent).not.toContain(secret);
  } finally {
    await server.close();
  }
}

test("a key follows its service to another name, and its account with it", async () => {
  const before = principalAt(service.url, { apiKey });
  const old = service.url;
  const url = await rename();
  const moved = await moveTo(url);
  expect([moved.before.baseUrl, moved.after.baseUrl]).toEqual([old, url]);
  const stored = await store.read();
  expect(stored).toMatchObject({ baseUrl: url, apiKey, principal: before });
  const client = new SvcClient({ ...moved.after });
  expect([client.principal, (await client.listTools()).tools]).toEqual([before, []]);
  await client.close();
  const again = await rename();
  expect((await moveTo(again)).after).toMatchObject({ baseUrl: again, principal: before });
  expect(await moveTo(again)).toMatchObject({ before: { baseUrl: again }, after: { baseUrl: again } });
});

describe("a key does not follow", () => {
  const stay = async (url: string, message: RegExp) => {
    await expect(moveTo(url)).rejects.toMatchObject({
      code: "pairing_failed",
      message: expect.stringMatching(message),
    });
    expect(await store.read()).toMatchObject({ apiKey, baseUrl: service.url });
  };
  const STRANGER = /does not prove to be your service. The key was not sent there/;

  test.each<[string, (url: string) => Lie]>([
    ["that knows nothing", () => ({ status: 404, json: { error: "There is nothing at this address." } })],
    ["that makes something up", (url) => ({ json: { baseUrl: url, proof: "x".repeat(43) } })],
    ["that proves nothing", (url) => ({ json: { baseUrl: url, proof: "" } })],
  ])("a stranger %s", async (_what, answer) => {
    let own = "";
    await standIn(
      () => answer(own),
      (url) => {
        own = url;
        return stay(url, STRANGER);
      },
    );
  });

  test.each([
    ["under its own name", true, STRANGER],
    ["as it is", false, /Your service goes by \S+, and not by \S+\. The key was not sent there\./],
  ])("a stranger that hands the question on, and the answer back %s", async (_what, lies, message) => {
    let own = "";
    const relay = async (body: string): Promise<Lie> => {
      const { json } = await post(`${service.url}/api/plugin/identity`, JSON.parse(body));
      return { json: lies ? { ...json, baseUrl: own } : json };
    };
    await standIn(relay, (url) => {
      own = url;
      return stay(url, message);
    });
  });

  test("another service, and its own after a revocation", async () => {
    const other = await startTestService({ integrations: [] });
    await stay(other.url, STRANGER).finally(() => other.close());
    const { apiKeyId = "" } = (await store.read()) ?? {};
    const ask = () => post(`${service.url}/api/plugin/identity`, { apiKeyId, challenge: "x".repeat(43) });
    expect((await ask()).status).toBe(200);
    await revoke(apiKeyId);
    expect((await ask()).status).toBe(404);
  });

  test("where nothing answers: it can be tried again", async () => {
    await expect(moveTo(`http://localhost:${await findFreePort()}`)).rejects.toMatchObject({ code: "unreachable" });
    expect(await store.read()).toMatchObject({ apiKey, baseUrl: service.url });
  });
});

async function revoke(id: string): Promise<void> {
  const { openBrowser, readCsrf } = await import("../../service/http/pages/browser.ts");
  const owner = openBrowser();
  await owner.open(await service.service.signInUrl());
  const csrf = readCsrf(await owner.open(`${service.url}/devices`));
  await owner.submit(`${service.url}/devices/${id}/revoke`, { csrf });
}

test("a question has an id and 32 random bytes, and the answer is another for each", async () => {
  const { apiKeyId = "" } = (await store.read()) ?? {};
  const ask = async (body: unknown) => post(`${service.url}/api/plugin/identity`, body);
  const [first, second] = [
    await ask({ apiKeyId, challenge: "a".repeat(43) }),
    await ask({ apiKeyId, challenge: "b".repeat(43) }),
  ];
  expect(first.json).toEqual({ baseUrl: service.url, proof: expect.stringMatching(/^[\w-]{43}$/) });
  expect(first.json.proof).not.toBe(second.json.proof);
  for (const body of [{}, { apiKeyId }, { apiKeyId, challenge: "short" }, { apiKeyId: 7, challenge: "a".repeat(43) }]) {
    expect((await ask(body)).status).toBe(400);
  }
});
