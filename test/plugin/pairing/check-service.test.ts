import { createServer, type Server } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checkServiceAt } from "../../../src/plugin/pairing/check-service.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { findFreePort } from "../../service/free-port.ts";

let service: TestService;
let stranger: Server;
let strangerUrl: string;

beforeAll(async () => {
  service = await startTestService();
  const port = await findFreePort();
  strangerUrl = `http://127.0.0.1:${port}`;
  stranger = createServer((_request, response) => response.end("<html>It works!</html>")).listen(port, "127.0.0.1");
});

afterAll(async () => {
  await service.close();
  stranger.close();
});

describe("a look at a service", () => {
  test("tells that it takes the key, and how many tools there are", async () => {
    const check = await checkServiceAt({ baseUrl: `${service.url}/`, apiKey: service.apiKey });
    expect(check).toMatchObject({ baseUrl: service.url, problem: undefined, key: "accepted" });
    expect(check.tools).toBeGreaterThan(10);
    expect(check.principal).toMatch(/^[0-9a-f]{16}$/);
  });

  test("tells that it does not take the key", async () => {
    const check = await checkServiceAt({ baseUrl: service.url, apiKey: "svc_live_revoked" });
    expect(check).toMatchObject({ problem: undefined, key: "refused", tools: undefined });
  });

  test("looks at the address alone without a key", async () => {
    expect(await checkServiceAt({ baseUrl: service.url })).toMatchObject({ problem: undefined, key: "unchecked" });
  });

  test("tells by how much the clocks differ, to a second", async () => {
    const now = () => Date.now() - 3_600_000;
    const { clockAheadMs = 0 } = await checkServiceAt({ baseUrl: service.url, apiKey: service.apiKey }, { now });
    expect(Math.abs(clockAheadMs + 3_600_000)).toBeLessThan(30_000);
  });

  test.each([
    ["nothing answers", async () => `http://127.0.0.1:${await findFreePort()}`, "unreachable"],
    ["something else answers", async () => strangerUrl, "bad_response"],
  ])("tells that %s", async (_what, address, code) => {
    for (const apiKey of [undefined, "svc_live_any"]) {
      const check = await checkServiceAt({ baseUrl: await address(), apiKey }, { timeoutMs: 5_000 });
      expect(check).toMatchObject({ problem: { code }, key: "unchecked", clockAheadMs: undefined });
    }
  });

  test("refuses an address that would give the key away", async () => {
    const refused = checkServiceAt({ baseUrl: "http://svc.example", apiKey: "svc_live_any" });
    await expect(refused).rejects.toMatchObject({ code: "invalid_config", field: "baseUrl" });
  });
});
