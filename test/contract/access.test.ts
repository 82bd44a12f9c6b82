import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { request } from "undici";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openService } from "../../src/service/open-service.ts";
import { startTestService, type TestService } from "../../src/testing.ts";
import { openBrowser } from "../service/http/pages/browser.ts";
import { playExchange, type RawReply, readExchanges, send } from "./golden-exchange.ts";
import { readMember } from "./probe-service.ts";
import { verifies } from "./verifies.ts";

const MINUTE = 60_000;
let clock: number;
let service: TestService;

beforeEach(async () => {
  clock = Date.parse("2026-01-05T10:00:00Z");
  service = await startTestService({ now: () => clock });
});
afterEach(() => service.close());

describe("keys", () => {
  const list = (headers: Record<string, string>) => send(service.url, { method: "GET", path: "/api/tools", headers });

  test("begin with svc_live_ and are accepted in both headers", async () => {
    verifies("auth.key-prefix", "auth.header-own", "auth.header-bearer");
    expect(service.apiKey).toMatch(/^svc_live_\S{20,}$/);
    expect((await list({ "x-svc-api-key": service.apiKey })).status).toBe(200);
    expect((await list({ authorization: `Bearer ${service.apiKey}` })).status).toBe(200);
  });

  test("in the header of the service win over a bearer token", async () => {
    verifies("decision.own-header-wins");
    const good = service.apiKey;
    expect((await list({ "x-svc-api-key": good, authorization: "Bearer svc_live_wrong" })).status).toBe(200);
    expect((await list({ "x-svc-api-key": "svc_live_wrong", authorization: `Bearer ${good}` })).status).toBe(401);
  });

  test("are needed on every path but the open ones", async () => {
    verifies("auth.key-required");
    const closed = [
      ["GET", "/api/tools"],
      ["GET", "/api/tools/search?query=a"],
      ["GET", "/api/tools/drive_upload_file"],
      ["POST", "/api/tools/drive_upload_file/execute"],
    ] as const;
    for (const [method, path] of closed) {
      const body = method === "POST" ? { body: { arguments: {} } } : {};
      expect((await send(service.url, { method, path, ...body })).status, path).toBe(401);
    }
  });

  test("are refused from the request after their revocation on", async () => {
    verifies("decision.key-revocable");
    const open = await openService({ dataDir: join(service.dataDir, "second"), port: 0 });
    try {
      const { apiKey, apiKeyId } = await open.keys.issue({ accountId: open.accountId, label: "Old", client: null });
      const headers = { "x-svc-api-key": apiKey };
      const ask = async () => (await send(open.url, { method: "GET", path: "/api/tools", headers })).status;
      expect(await ask()).toBe(200);
      expect(await open.keys.revoke(open.accountId, apiKeyId)).toBe(true);
      expect(await ask()).toBe(401);
    } finally {
      await open.close();
    }
  });

  test("are stored only as their SHA-256", async () => {
    verifies("pair.key-stored-as-hash", "auth.key-shown-once");
    const { apiKey } = await pairDevice();
    await service.service.close();
    for (const file of await readdir(service.dataDir, { recursive: true, withFileTypes: true })) {
      if (!file.isFile()) continue;
      const bytes = await readFile(join(file.parentPath, file.name), "latin1");
      expect(bytes.includes(apiKey), file.name).toBe(false);
      expect(bytes.includes(apiKey.slice("svc_live_".length)), file.name).toBe(false);
    }
  });
});

describe("golden exchanges of pairing", () => {
  test.each(readExchanges("pairing"))("$name", async (exchange) => {
    verifies(
      "pair.start.reply",
      "pair.start.no-key",
      "pair.start.body-optional",
      "pair.start.client",
      "pair.start.optional-members",
      "pair.start.bad-request",
      "pair.exchange.unknown",
      "pair.exchange.verifier-required",
      "decision.pair.unknown-404",
    );
    await playExchange(service, exchange);
  });
});

interface Started {
  readonly sessionToken: string;
  readonly pairUrl: string;
  readonly verifier: string;
  readonly expiresAt: string;
  readonly displayCode: string;
}

async function start(body: unknown = { deviceLabel: "Kitchen laptop", client: "cli" }): Promise<Started> {
  const reply = await send(service.url, { method: "POST", path: "/api/plugin/pair/start", body });
  return reply.body as Started;
}

function exchange(sessionToken: string, verifier: string): Promise<RawReply> {
  const path = `/api/plugin/pair/sessions/${sessionToken}/exchange`;
  return send(service.url, { method: "POST", path, body: { verifier } });
}

async function pairDevice(): Promise<{ apiKey: string }> {
  const { sessionToken, pairUrl, verifier } = await start();
  await service.decide(pairUrl);
  return (await exchange(sessionToken, verifier)).body as { apiKey: string };
}

const readStatus = async (sessionToken: string) =>
  readMember(await send(service.url, { method: "GET", path: `/api/plugin/pair/sessions/${sessionToken}` }), "status");

const BARE = { error: expect.any(String) };

describe("a pairing", () => {
  test("yields a working key after a signed-in human approved, and only once", async () => {
    verifies(
      "pair.exchange.reply",
      "pair.exchange.no-key",
      "pair.exchange.once",
      "pair.approval-needs-human",
      "decision.pair.statuses",
    );
    const { sessionToken, pairUrl, verifier } = await start();
    expect(await readStatus(sessionToken)).toBe("awaiting_approval");
    await service.decide(pairUrl);
    expect(await readStatus(sessionToken)).toBe("approved");
    const reply = await exchange(sessionToken, verifier);
    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({ apiKey: expect.stringMatching(/^svc_live_/), session: expect.any(Object) });
    expect(["string", "number"]).toContain(typeof readMember(reply, "apiKeyId"));
    expect(await readStatus(sessionToken)).toBe("exchanged");
    const headers = { "x-svc-api-key": String(readMember(reply, "apiKey")) };
    expect((await send(service.url, { method: "GET", path: "/api/tools", headers })).status).toBe(200);

    const again = await exchange(sessionToken, verifier);
    expect(again.status).toBe(409);
    expect(again.body).toEqual(BARE);
  });

  test("is not approved by a key, nor by somebody who is not signed in", async () => {
    verifies("pair.approval-needs-human");
    const { sessionToken, pairUrl, verifier } = await start();
    for (const headers of [{}, { "x-svc-api-key": service.apiKey }]) {
      const type = { "content-type": "application/x-www-form-urlencoded" };
      const reply = await request(pairUrl, {
        method: "POST",
        headers: { ...type, ...headers },
        body: "decision=approve",
      });
      await reply.body.dump();
      expect(reply.statusCode).toBeGreaterThanOrEqual(300);
    }
    expect(await readStatus(sessionToken)).toBe("awaiting_approval");
    expect((await exchange(sessionToken, verifier)).status).toBe(409);
  });

  test("yields nothing before the approval", async () => {
    verifies("pair.exchange.not-approved", "decision.pair.not-approved-409");
    const { sessionToken, verifier } = await start();
    const reply = await exchange(sessionToken, verifier);
    expect(reply.status).toBe(409);
    expect(reply.body).toEqual(BARE);
  });

  test("yields nothing for another verifier, and ends after five of them", async () => {
    verifies("pair.exchange.token-not-sufficient", "decision.pair.wrong-verifier", "decision.pair.five-tries");
    const { sessionToken, pairUrl, verifier } = await start();
    await service.decide(pairUrl);
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      const reply = await exchange(sessionToken, `guess ${attempt}`);
      expect(reply.status).toBe(400);
      expect(reply.body).toEqual(BARE);
    }
    expect((await exchange(sessionToken, verifier)).status).not.toBe(200);
  });

  test("survives four wrong verifiers", async () => {
    verifies("decision.pair.five-tries");
    const { sessionToken, pairUrl, verifier } = await start();
    await service.decide(pairUrl);
    for (let attempt = 1; attempt <= 4; attempt += 1) await exchange(sessionToken, `guess ${attempt}`);
    expect((await exchange(sessionToken, verifier)).status).toBe(200);
  });

  test("expires after 15 minutes", async () => {
    verifies("pair.exchange.expired", "decision.pair.lifetime", "decision.pair.expired-410", "decision.pair.statuses");
    const { sessionToken, pairUrl, verifier, expiresAt } = await start();
    expect(Date.parse(expiresAt)).toBe(clock + 15 * MINUTE);
    await service.decide(pairUrl);
    clock += 15 * MINUTE;
    const reply = await exchange(sessionToken, verifier);
    expect(reply.status).toBe(410);
    expect(reply.body).toEqual(BARE);
    expect(await readStatus(sessionToken)).toBe("expired");
  });

  test("that was declined yields nothing and says so", async () => {
    verifies("decision.pair.denied", "decision.pair.statuses");
    const { sessionToken, pairUrl, verifier } = await start();
    await service.decide(pairUrl, "decline");
    expect(await readStatus(sessionToken)).toBe("denied");
    const reply = await exchange(sessionToken, verifier);
    expect(reply.status).toBeGreaterThanOrEqual(400);
    expect(String(readMember(reply, "error"))).toMatch(/declined|denied/i);
  });

  test("shows label and code on the approval page", async () => {
    verifies("pair.start.device-label", "pair.start.display-code");
    const { pairUrl, displayCode } = await start();
    const browser = openBrowser();
    await browser.open(await service.service.signInUrl());
    const page = await browser.open(pairUrl);
    expect(page.text).toContain("Kitchen laptop");
    expect(page.text).toContain(displayCode);
  });
});
