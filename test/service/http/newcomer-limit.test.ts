import { afterEach, expect, it } from "vitest";
import { createNewcomerLimit } from "../../../src/service/http/newcomer-limit.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";

/** Registering an OAuth client needs no key and holds up all other work: no address may do so much of it that others wait. */

let service: TestService | undefined;

afterEach(async () => {
  await service?.close();
  service = undefined;
});

it("refuses a registration after the first 100 at once, and takes another one a second later", async () => {
  let now = Date.now();
  service = await startTestService({ now: () => now });
  const { url } = service;
  const client = { redirect_uris: ["http://127.0.0.1:1/back"], token_endpoint_auth_method: "none" };
  const headers = { "content-type": "application/json" };
  const ask = () => fetch(`${url}/oauth/register`, { method: "POST", headers, body: JSON.stringify(client) });
  for (let count = 0; count < 100; count += 1) expect((await ask()).status).toBe(201);
  const refused = await ask();
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"]);
  expect(await refused.json()).toEqual({ error: expect.stringContaining("Too many registrations") });
  // What other newcomers do is counted by itself.
  expect((await fetch(`${url}/api/plugin/pair/start`, { method: "POST" })).status).toBe(200);
  expect((await fetch(`${url}/health`)).status).toBe(200);
  now += 1000;
  expect((await ask()).status).toBe(201);
});

it.each(["/api/plugin/pair/start", "/api/installer/bootstrap-sessions"])(
  "refuses %s after the first 1,000 of one address, and never one of another address",
  async (path) => {
    let now = Date.now();
    service = await startTestService({ now: () => now, trustProxy: ["127.0.0.1"] });
    const { url } = service;
    const ask = (address: string) =>
      fetch(`${url}${path}`, {
        method: "POST",
        headers: { "x-forwarded-for": address, "content-type": "application/json" },
        body: "{}",
      });
    const many = Array.from({ length: 1000 }, (_, count) => count);
    const statuses = new Set<number>();
    while (many.length > 0) {
      const replies = await Promise.all(many.splice(0, 50).map(() => ask("203.0.113.1")));
      for (const reply of replies) {
        statuses.add(reply.status);
        await reply.body?.cancel();
      }
    }
    expect(statuses).toEqual(new Set([200]));
    const refused = await ask("203.0.113.1");
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"]);
    expect(await refused.json()).toEqual({ error: expect.stringContaining("Too many pairings") });
    expect((await ask("203.0.113.2")).status).toBe(200);
    now += 1000;
    expect((await ask("203.0.113.1")).status).toBe(200);
  },
);

it("counts each address by itself, and a network of IPv6 addresses as one", () => {
  let now = 0;
  const limit = createNewcomerLimit(() => now);
  for (let count = 0; count < 100; count += 1) expect(limit.take("client", "203.0.113.1")).toBe(true);
  expect([limit.take("client", "203.0.113.1"), limit.take("client", "203.0.113.2")]).toEqual([false, true]);
  for (let count = 0; count < 100; count += 1) limit.take("client", `2001:db8:1:2:${count}::1`);
  expect([limit.take("client", "2001:db8:1:2::5"), limit.take("client", "2001:db8:1:3::5")]).toEqual([false, true]);
  now = 1000;
  const taken = Array.from({ length: 10 }, () => limit.take("client", "203.0.113.1"));
  expect(taken.filter(Boolean)).toHaveLength(5);
  // A clock that was set back gives nothing and takes nothing.
  now = 0;
  expect(limit.take("client", "203.0.113.1")).toBe(false);
});
