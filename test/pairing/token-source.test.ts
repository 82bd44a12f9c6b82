import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SvcClient } from "../../src/client/client.ts";
import type { SignInStore } from "../../src/pairing/sign-in-store.ts";
import { signOut } from "../../src/pairing/sign-out.ts";
import { createTokenSource } from "../../src/pairing/token-source.ts";
import { catchError } from "../client/recording-server.ts";
import { verifies } from "../contract/verifies.ts";
import { openOwnerBrowser } from "../service/oauth/oauth-client.ts";
import { readCsrf } from "../service/pages/browser.ts";
import { type RelayedService, startRelayedService } from "./relay.ts";
import { type Machine, openMachine, signInAt } from "./sign-in-at.ts";

const HOUR = 3_600_000;
const CHILD = fileURLToPath(new URL("token-child.ts", import.meta.url));
let service: RelayedService;
let machine: Machine;
/** Milliseconds by which the clock of this machine is ahead. */
let ahead: number;
beforeEach(async () => {
  ahead = 0;
  service = await startRelayedService();
  machine = await openMachine();
  await signInAt(service, machine.store);
  service.seen.length = 0;
});
afterEach(async () => {
  await machine.close();
  await service.close();
});

async function openSource() {
  const signIn = await machine.store.read();
  if (signIn === undefined) throw new Error("Nothing is stored.");
  return createTokenSource({ store: machine.store, signIn, now: () => Date.now() + ahead });
}

async function openClient() {
  const source = await openSource();
  const client = new SvcClient({ baseUrl: service.url, accessToken: source, sleep: async () => undefined });
  return { client, source };
}

const renewals = () => service.seen.filter(({ path }) => path.startsWith("/oauth/token"));
const mcpCalls = () => service.seen.filter(({ path, method }) => path === "/api/mcp" && method === "POST");
const CHALLENGE = {
  status: 401,
  headers: { "www-authenticate": 'Bearer error="invalid_token"' },
  body: '{"error":"x"}',
};

/** Answers `times` MCP requests with a challenge before the service sees them. */
function challenge(times: number, answer: typeof CHALLENGE | { status: number; body: string } = CHALLENGE) {
  let left = times;
  service.interfere = ({ path }) => {
    if (path !== "/api/mcp" || left === 0) return undefined;
    left -= 1;
    return answer;
  };
}

/** Withdraws every approval on the Devices page, as the owner can. */
async function withdraw() {
  const owner = await openOwnerBrowser(await service.service.signInUrl());
  const page = await owner.browser.open(`${service.url}/devices`);
  const path = /action="(\/oauth\/apps\/[^"]+\/end)"/.exec(page.text)?.[1];
  const answer = await owner.browser.submit(`${service.url}${path}`, { csrf: readCsrf(page) });
  expect(answer.status).toBe(303);
}

describe("a token", () => {
  test("is used until shortly before its end, then renewed and stored", async () => {
    verifies("auth.oauth-refresh");
    const before = await machine.store.read();
    const source = await openSource();
    expect(await source.getToken({})).toBe(before?.accessToken);
    ahead = HOUR - 30_000;
    const renewed = await source.getToken({});
    const after = await machine.store.read();
    expect(renewed).not.toBe(before?.accessToken);
    expect(after).toMatchObject({ accessToken: renewed, signInId: before?.signInId });
    expect(after?.refreshToken).not.toBe(before?.refreshToken);
    expect(new URLSearchParams(renewals()[0]?.body).get("resource")).toBe(`${service.url}/api/mcp`);
    ahead += HOUR;
    expect(await source.getToken({})).not.toBe(renewed);
    expect(renewals()).toHaveLength(2);
  });

  test("is renewed once for many that need it at once, and one that gives up takes it from nobody", async () => {
    ahead = 2 * HOUR;
    const source = await openSource();
    const stop = new AbortController();
    service.interfere = ({ path }) => {
      if (path.startsWith("/oauth/token")) stop.abort();
      return undefined;
    };
    const all = await Promise.allSettled([
      source.getToken({ signal: stop.signal }),
      ...Array.from({ length: 5 }, () => source.getToken({})),
    ]);
    expect(all[0]).toMatchObject({ status: "rejected", reason: { code: "aborted", sent: false } });
    const tokens = all.slice(1).map((one) => (one.status === "fulfilled" ? one.value : one.reason));
    expect(new Set(tokens)).toEqual(new Set([(await machine.store.read())?.accessToken]));
    expect(renewals()).toHaveLength(1);
  });

  test("is renewed by one of two processes, and the other one gets it too", async () => {
    const start = () => {
      const child = spawn(process.execPath, [CHILD, machine.folder, String(2 * HOUR)], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      let output = "";
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        output += text;
      });
      const asks = async () => {
        while (!output.includes("asking")) await once(child.stdout, "data");
      };
      return { asks, done: once(child, "close").then(() => /got (\S+)/.exec(output)?.[1]) };
    };
    const [first, second] = [start(), start()];
    service.interfere = async ({ path }) => {
      // The one that came first waits with its refresh token in use until the other one wants to use it too.
      if (path.startsWith("/oauth/token")) await Promise.all([first.asks(), second.asks()]);
      return undefined;
    };
    const tokens = await Promise.all([first.done, second.done]);
    const stored = await machine.store.read();
    expect(tokens).toEqual([stored?.accessToken, stored?.accessToken]);
    expect(renewals()).toHaveLength(1);
    ahead = 4 * HOUR;
    expect(await (await openSource()).getToken({})).toEqual(expect.any(String));
  });

  test.each([503, 429])("that is still good is used while the service cannot renew it: %i", async (status) => {
    const before = await machine.store.read();
    ahead = HOUR - 30_000;
    const source = await openSource();
    service.interfere = ({ path }) => (path.startsWith("/oauth/token") ? { status, body: "{}" } : undefined);
    expect(await source.getToken({})).toBe(before?.accessToken);
    ahead = HOUR;
    expect(await catchError(() => source.getToken({}))).toMatchObject({
      code: "service_failure",
      retryable: true,
      sent: false,
      status,
    });
    service.interfere = () => undefined;
    expect(await source.getToken({})).not.toBe(before?.accessToken);
  });
});

describe("a renewed sign-in that cannot be stored", () => {
  const full = async () => {
    throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
  };

  /** A source whose store is full as long as `isFull`, in the part that `change` breaks. */
  async function openFull(change: "renew" | "inTurn" = "renew") {
    const signIn = await machine.store.read();
    if (signIn === undefined) throw new Error("Nothing is stored.");
    const disk = { isFull: true, breaks: change };
    const { store } = machine;
    const broken: SignInStore = {
      ...store,
      renew: (one) => (disk.isFull && disk.breaks === "renew" ? full() : store.renew(one)),
      inTurn: (work) => (disk.isFull && disk.breaks === "inTurn" ? full() : store.inTurn(work)),
    };
    return { disk, signIn, source: createTokenSource({ store: broken, signIn, now: () => Date.now() + ahead }) };
  }

  test("is used all the same, and stored by the next call that can", async () => {
    ahead = 2 * HOUR;
    const { disk, signIn, source } = await openFull();
    const token = await source.getToken({});
    expect(token).not.toBe(signIn.accessToken);
    expect(await source.getToken({})).toBe(token);
    disk.breaks = "inTurn";
    expect(await source.getToken({})).toBe(token);
    expect(await machine.store.read()).toEqual(signIn);
    disk.isFull = false;
    expect(await source.getToken({})).toBe(token);
    const stored = await machine.store.read();
    expect(stored).toMatchObject({ accessToken: token, signInId: signIn.signInId });
    expect(stored?.refreshToken).not.toBe(signIn.refreshToken);
    expect(renewals()).toHaveLength(1);
  });

  test.each(["by its time", "by the service"])("is renewed with its own refresh token when it ends %s", async (how) => {
    ahead = 2 * HOUR;
    const { disk, source } = await openFull();
    const token = await source.getToken({});
    if (how === "by its time") ahead += 2 * HOUR;
    const next = how === "by its time" ? await source.getToken({}) : await source.renewToken(token, {});
    expect(next).not.toBe(token);
    disk.isFull = false;
    expect(await source.getToken({})).toBe(next);
    expect((await machine.store.read())?.accessToken).toBe(next);
    expect(renewals()).toHaveLength(2);
  });

  test("is over when the human signs out meanwhile", async () => {
    ahead = 2 * HOUR;
    const { disk, source } = await openFull();
    await source.getToken({});
    disk.isFull = false;
    await machine.store.clear();
    expect(await catchError(() => source.getToken({}))).toMatchObject({ code: "unauthorized", sent: false });
    expect(await machine.store.read()).toBeUndefined();
  });
});

describe("a token the service does not accept", () => {
  test.each(["initialize", "tools/list", "tools/call"])("is renewed once and %s repeated", async (method) => {
    const { client } = await openClient();
    challenge(1);
    const params = method === "tools/call" ? { name: "svc.whoami", arguments: {} } : {};
    const { result } = await client.callMcp({ method, params });
    expect(result).toBeDefined();
    expect(renewals()).toHaveLength(1);
    const sent = mcpCalls().map(({ headers }) => headers.authorization);
    expect(sent).toHaveLength(2);
    expect(new Set(sent).size).toBe(2);
    await client.close();
  });

  test("makes a write act once all the same", async () => {
    const { client } = await openClient();
    const name = "notes_create_page";
    await client.describeTool(name);
    challenge(1);
    const reply = await client.executeTool(name, { arguments: { title: "Once" }, confirmed: true });
    expect(reply).toMatchObject({ kind: "summary", status: 200, summary: { status: "succeeded" } });
    expect(await service.effects()).toHaveLength(1);
    await client.close();
  });

  test("is not confused with a service that is busy: reads are tried again, a write is not", async () => {
    const { client } = await openClient();
    await client.describeTool("notes_create_page");
    let left = 1;
    service.interfere = ({ path }) => {
      if (path !== "/api/mcp" || left === 0) return undefined;
      left -= 1;
      return { status: 503, body: '{"error":"busy"}' };
    };
    expect((await client.listTools({ integration: "notes" })).tools.length).toBeGreaterThan(0);
    left = 1;
    const write = { arguments: { title: "Once" }, confirmed: true };
    expect(await catchError(() => client.executeTool("notes_create_page", write))).toMatchObject({ status: 503 });
    expect(await service.effects()).toEqual([]);
    expect(renewals()).toEqual([]);
    await client.close();
  });

  test("is not tried a third time", async () => {
    const { client } = await openClient();
    challenge(5);
    const error = await catchError(() => client.callMcp({ method: "tools/list" }));
    expect(error).toMatchObject({ code: "unauthorized", status: 401, hint: expect.stringContaining("svc login") });
    expect([renewals().length, mcpCalls().length]).toEqual([1, 2]);
    await client.close();
  });

  test("but by a 401 without a challenge is not the service's word: nothing is renewed or repeated", async () => {
    const { client } = await openClient();
    challenge(1, { status: 401, body: '{"error":"proxy"}' });
    const error = await catchError(() => client.callMcp({ method: "tools/call", params: {} }));
    expect(error).toMatchObject({ code: "unauthorized", hint: expect.stringContaining("svc login") });
    expect([renewals().length, mcpCalls().length]).toEqual([0, 1]);
    await client.close();
  });
});

describe("a sign-in that has ended", () => {
  test("says so with the command, and asks the service only once more", async () => {
    await withdraw();
    const { client } = await openClient();
    for (const _try of [1, 2]) {
      const error = await catchError(() => client.getMcpListing());
      expect(error).toMatchObject({ code: "unauthorized", sent: false });
      expect(error).toHaveProperty("hint", expect.stringContaining('"svc login"'));
    }
    expect(renewals()).toHaveLength(1);
    expect(await machine.store.read()).not.toHaveProperty("refreshToken");
    await client.close();
  });

  test("asks the service no second time when that cannot be stored, and stores it when it can", async () => {
    await withdraw();
    service.seen.length = 0;
    ahead = 2 * HOUR;
    const signIn = await machine.store.read();
    if (signIn === undefined) expect.fail();
    let isFull = true;
    const store: SignInStore = {
      ...machine.store,
      renew: async (next) => {
        if (isFull) throw Object.assign(new Error("no space"), { code: "ENOSPC" });
        return machine.store.renew(next);
      },
    };
    const source = createTokenSource({ store, signIn, now: () => Date.now() + ahead });
    for (let call = 0; call < 2; call += 1) {
      const error = await catchError(() => source.getToken({}));
      expect(error).toMatchObject({ code: "unauthorized", hint: expect.stringContaining("svc login"), sent: false });
    }
    expect(renewals()).toHaveLength(1);
    isFull = false;
    await catchError(() => source.getToken({}));
    expect(await machine.store.read()).not.toHaveProperty("refreshToken");
    expect(renewals()).toHaveLength(1);
  });

  test("by signing out is over at the service and here", async () => {
    const { client } = await openClient();
    const token = (await machine.store.read())?.accessToken;
    expect(await signOut(machine.store)).toEqual({ baseUrl: service.url, isRevoked: true });
    expect(await machine.store.read()).toBeUndefined();
    const { status } = await fetch(`${service.url}/api/mcp`, { headers: { authorization: `Bearer ${token}` } });
    expect(status).toBe(401);
    expect(await catchError(() => client.getMcpListing())).toMatchObject({ code: "unauthorized" });
    expect(await signOut(machine.store)).toEqual({ baseUrl: undefined, isRevoked: false });
    await client.close();
  });

  test("here is forgotten although the service cannot be told", async () => {
    service.interfere = () => ({ status: 500, body: "{}" });
    expect(await signOut(machine.store)).toEqual({ baseUrl: service.url, isRevoked: false });
    expect(await machine.store.read()).toBeUndefined();
  });

  test("while it was renewed stays ended", async () => {
    ahead = 2 * HOUR;
    const source = await openSource();
    service.interfere = async ({ path }) => {
      if (path.startsWith("/oauth/token")) await machine.store.clear();
      return undefined;
    };
    expect(await catchError(() => source.getToken({}))).toMatchObject({ code: "unauthorized" });
    expect(await machine.store.read()).toBeUndefined();
  });
});

test("no failure of a renewal shows a token", async () => {
  ahead = 2 * HOUR;
  const { client } = await openClient();
  const signIn = await machine.store.read();
  const echo = ({ path, body }: { path: string; body: string }) =>
    path.startsWith("/oauth/token")
      ? {
          status: 400,
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ error: "invalid_request", error_description: body }),
        }
      : undefined;
  service.interfere = echo;
  const error = await catchError(() => client.getMcpListing());
  const shown = JSON.stringify(error) + String(error) + String((error as Error).cause);
  expect(shown).toContain("invalid_request");
  expect(shown).not.toContain(signIn?.refreshToken);
  expect(shown).not.toContain(signIn?.accessToken);
  await client.close();
});
