import { readFile, stat } from "node:fs/promises";
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openCredentialStore } from "../../src/pairing/credentials.ts";
import { createOAuthHttp } from "../../src/pairing/oauth-http.ts";
import type { SignInProgress } from "../../src/pairing/sign-in.ts";
import { catchError } from "../client/recording-server.ts";
import { verifies } from "../contract/verifies.ts";
import { registerClient } from "../service/oauth/oauth-client.ts";
import { type RelayedService, startRelayedService } from "./relay.ts";
import { approve, decline, type Machine, openMachine, signInAt } from "./sign-in-at.ts";

let service: RelayedService;
let machine: Machine;
beforeEach(async () => {
  service = await startRelayedService();
  machine = await openMachine();
});
afterEach(async () => {
  await machine.close();
  await service.close();
});

const readClaims = (token: string) => JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8"));

/** Runs a sign-in that must fail; nothing may be stored, and no secret may be in what it says. */
async function expectRefusal(options: Parameters<typeof signInAt>[2], expected: Record<string, unknown>) {
  const codes: string[] = [];
  const human = options?.human ?? approve;
  const error = await catchError(() =>
    signInAt(service, machine.store, {
      ...options,
      human: async (link, owner) => human(link, owner),
      onProgress: (progress) => {
        if (progress.kind === "started") codes.push(new URL(progress.signInUrl).searchParams.get("state") ?? "");
      },
    }),
  );
  expect(error).toMatchObject(expected);
  expect(await machine.store.read()).toBeUndefined();
  const shown = JSON.stringify(error) + String(error);
  for (const state of codes) expect(shown).not.toContain(state);
  return error as Error & { hint: string };
}

describe("a sign-in", () => {
  test("asks for exactly what the MCP endpoint needs, and keeps the tokens for its owner alone", async () => {
    verifies("auth.oauth-code-flow", "auth.oauth-discovery", "auth.oauth-registration", "auth.oauth-scopes");
    const steps: SignInProgress[] = [];
    let page = "";
    const signIn = await signInAt(service, machine.store, {
      clientName: "svc on desk",
      onProgress: (step) => steps.push(step),
      human: async (link, owner) => {
        const asked = await owner.follow(link);
        expect(asked.page.text).toContain("Give svc on desk access?");
        page = await (await fetch(await owner.decide(link, "approve"))).text();
      },
    });
    expect(await machine.store.read()).toEqual(signIn);
    expect((await stat(machine.store.path)).mode & 0o777).toBe(0o600);
    expect(readClaims(signIn.accessToken)).toMatchObject({ aud: `${service.url}/api/mcp`, scope: "openid" });
    expect(page).toContain("Signed in");
    expect(page).not.toContain(signIn.accessToken);
    const started = steps.find((step) => step.kind === "started");
    const query = new URL(started?.signInUrl ?? "").searchParams;
    expect(Object.fromEntries(query)).toMatchObject({
      response_type: "code",
      code_challenge_method: "S256",
      resource: `${service.url}/api/mcp`,
      scope: "openid",
      redirect_uri: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/callback$/),
    });
    expect(steps.at(-1)).toEqual({ kind: "signed_in" });
    // The port is closed again.
    await expect(fetch(String(query.get("redirect_uri")))).rejects.toThrow();
  });

  test("tells the browser that it is stored also when the listener fails", async () => {
    let page = "";
    const signedIn = signInAt(service, machine.store, {
      onProgress: ({ kind }) => {
        if (kind === "signed_in") throw new Error("the terminal is gone");
      },
      human: async (link, owner) => {
        page = await (await fetch(await owner.decide(link, "approve"))).text();
      },
    });
    await expect(signedIn).rejects.toThrow("the terminal is gone");
    expect(await machine.store.read()).toMatchObject({ baseUrl: service.url });
    expect(page).toContain("You can close this page");
  });

  test("lives beside the key in one file", async () => {
    const keys = openCredentialStore(machine.folder);
    const key = { baseUrl: service.url, apiKey: "svc_live_a", apiKeyId: "1", pairedAt: "2026-01-05T10:00:00.000Z" };
    await keys.write(key);
    const signIn = await signInAt(service, machine.store);
    expect([await keys.read(), await machine.store.read()]).toEqual([key, signIn]);
    await keys.clear();
    expect([await keys.read(), await machine.store.read()]).toEqual([undefined, signIn]);
    await keys.write(key);
    await machine.store.clear();
    expect([await keys.read(), await machine.store.read()]).toEqual([key, undefined]);
  });

  test("takes the place of the one before, which ends at the service", async () => {
    const first = await signInAt(service, machine.store);
    const second = await signInAt(service, machine.store);
    expect(second.signInId).not.toBe(first.signInId);
    const ask = async (token: string) =>
      (await fetch(`${service.url}/api/mcp`, { headers: { authorization: `Bearer ${token}` } })).status;
    expect([await ask(first.accessToken), await ask(second.accessToken)]).toEqual([401, 200]);
  });

  test("stops when the caller gives up, and closes its port", async () => {
    const stop = new AbortController();
    let port = "";
    await expectRefusal(
      {
        signal: stop.signal,
        human: async (link) => {
          port = String(new URL(link).searchParams.get("redirect_uri"));
          stop.abort();
        },
      },
      { code: "aborted" },
    );
    await expect(fetch(port)).rejects.toThrow();
  });

  test("ends after a quarter of an hour without an answer", async () => {
    let clock = Date.now();
    const sleep = async (ms: number) => {
      clock += ms * 120;
    };
    const options = { human: async () => undefined, now: () => clock, sleep };
    const error = await expectRefusal(options, { code: "pairing_failed", message: /within 15 minutes/ });
    expect(error.hint).toContain("svc login");
  });
});

describe("what the browser comes back with", () => {
  test("is believed only with the right state, at the right address", async () => {
    const statuses: number[] = [];
    const visit = (url: string, host?: string) =>
      new Promise<void>((resolve, reject) => {
        const sent = request(url, { headers: host === undefined ? {} : { host } }, async (answer) => {
          await text(answer);
          statuses.push(answer.statusCode ?? 0);
          resolve();
        });
        sent.on("error", reject).end();
      });
    const signIn = await signInAt(service, machine.store, {
      human: async (link, owner) => {
        const back = new URL(String(new URL(link).searchParams.get("redirect_uri")));
        const state = String(new URL(link).searchParams.get("state"));
        await visit(`${back}?code=c&state=wrong`);
        await visit(`${back}?error=access_denied`);
        await visit(`${back}?code=c&state=${state}x`);
        await visit(`${back.origin}/other?code=c&state=${state}`);
        await visit(`${back}?code=c&state=${state}`, "evil.example");
        await approve(link, owner);
      },
    });
    expect(statuses).toEqual([400, 400, 400, 404, 404]);
    expect(await machine.store.read()).toEqual(signIn);
  });

  test("may be a refusal of the human", async () => {
    const error = await expectRefusal({ human: decline }, { code: "pairing_failed", serviceCode: "access_denied" });
    expect(error.message).toBe("The sign-in was declined in the browser. Nothing was stored.");
  });

  test("counts once: the answer sent again changes nothing", async () => {
    const late: number[] = [];
    service.interfere = async ({ path }, pass) => {
      if (!path.startsWith("/oauth/token")) return undefined;
      // While the code is redeemed the browser reloads the page.
      late.push((await fetch(back)).status);
      return pass();
    };
    let back = "";
    await signInAt(service, machine.store, {
      human: async (link, owner) => {
        back = await owner.decide(link, "approve");
        await fetch(back);
      },
    });
    expect(late).toEqual([409]);
  });

  test("is of no use with the wrong issuer", async () => {
    const human: typeof approve = async (link, owner) => {
      const back = new URL(await owner.decide(link, "approve"));
      back.searchParams.set("iss", "https://evil.example");
      await fetch(back);
    };
    await expectRefusal({ human }, { code: "pairing_failed", message: /"iss"/ });
    expect(service.seen.some(({ path }) => path.startsWith("/oauth/token"))).toBe(false);
  });

  test("is of no use with the code of another request", async () => {
    const other = await registerClient(service.url);
    const human: typeof approve = async (link, owner) => {
      const stolen = new URL(await owner.decide((await other.start()).url, "approve")).searchParams.get("code");
      const back = new URL(await owner.decide(link, "approve"));
      back.searchParams.set("code", String(stolen));
      const page = await (await fetch(back)).text();
      expect(page).toContain("Not signed in");
    };
    await expectRefusal({ human }, { code: "pairing_failed", serviceCode: "invalid_grant" });
  });

  test("a code that somebody has used already leaves nothing here", async () => {
    service.interfere = async ({ path }, pass) => {
      if (path.startsWith("/oauth/token")) await pass();
      return undefined;
    };
    const error = await expectRefusal({}, { code: "pairing_failed", serviceCode: "invalid_grant", status: 400 });
    expect(error.message).toMatch(/^The sign-in was not completed: invalid_grant: .*Nothing was stored\.$/);
  });
});

describe("a service that is not to be trusted", () => {
  const RESOURCE = "/.well-known/oauth-protected-resource";
  const SERVER = "/.well-known/oauth-authorization-server";

  /** Changes a JSON answer of the service. */
  const change = (place: string, edit: (json: Record<string, unknown>) => unknown) => {
    service.interfere = async ({ path }, pass) => {
      if (!path.startsWith(place)) return undefined;
      const answer = await pass();
      return { ...answer, body: JSON.stringify(edit(JSON.parse(answer.body ?? "{}"))) };
    };
  };

  test.each([
    ["token_endpoint", "http://evil.example/token", /token_endpoint is plain http on evil\.example/],
    ["token_endpoint", "https://evil.example/token", /token_endpoint is on evil\.example, not on the server itself/],
    ["token_endpoint", "http://127.0.0.1:1/token", /token_endpoint is on 127\.0\.0\.1:1, not on the server itself/],
    ["token_endpoint", "file:///etc/passwd", /token_endpoint is not an address/],
    ["token_endpoint", "https://me:secret@evil.example/", /token_endpoint holds a user name or password/],
    ["authorization_endpoint", "https://evil.example/a", /authorization_endpoint is on evil\.example/],
    ["authorization_endpoint", "javascript:alert(1)", /authorization_endpoint is not an address/],
    ["registration_endpoint", "https://evil.example/r", /registration_endpoint is on evil\.example/],
    ["registration_endpoint", undefined, /registration_endpoint is missing: clients cannot register themselves/],
    ["revocation_endpoint", "https://evil.example/v", /revocation_endpoint is on evil\.example/],
    ["code_challenge_methods_supported", ["plain"], /does not name S256/],
    ["code_challenge_methods_supported", undefined, /does not name S256/],
    ["issuer", "https://evil.example", /issuer is "https:\/\/evil\.example" instead of "http:\/\/127\.0\.0\.1/],
  ])("is not signed in to when its %s is %j", async (name, value, message) => {
    change(SERVER, (json) => ({ ...json, [name]: value }));
    const error = await expectRefusal({}, { code: "pairing_failed" });
    expect(error.message).toMatch(message);
    expect(error.message).not.toContain("secret");
    expect(service.seen.some(({ method }) => method === "POST")).toBe(false);
  });

  test.each([
    ["resource", "https://other.example/api/mcp", /resource is "https:\/\/other\.example\/api\/mcp" instead of/],
    ["authorization_servers", ["http://evil.example"], /authorization_servers is plain http on evil\.example/],
    ["authorization_servers", [], /authorization_servers names no server/],
    ["authorization_servers", "x", /authorization_servers is not an address/],
  ])("is not signed in to when the %s of its endpoint is %j", async (name, value, message) => {
    change(RESOURCE, (json) => ({ ...json, [name]: value }));
    const error = await expectRefusal({}, { code: "pairing_failed" });
    expect(error.message).toMatch(message);
  });

  test.each([
    [
      "does not have the metadata",
      { status: 404, body: "{}" },
      /does not exist: this service offers no OAuth sign-in/,
      "pairing_failed",
    ],
    [
      "redirects",
      { status: 302, headers: { location: "http://evil.example/" } },
      /redirects are never followed/,
      "bad_response",
    ],
    [
      "sends far too much",
      { status: 200, body: `{"resource":"${"x".repeat(300_000)}"}` },
      /over 262144 bytes/,
      "bad_response",
    ],
    [
      "sends a page",
      { status: 200, headers: { "content-type": "text/html" }, body: "<h1>Hi" },
      /content-type/,
      "pairing_failed",
    ],
    ["is broken", { status: 500, body: "{}" }, /unexpected HTTP status code/, "pairing_failed"],
  ])("is not signed in to when it %s", async (_name, answer, message, code) => {
    service.interfere = ({ path }) => (path.startsWith(RESOURCE) ? answer : undefined);
    const error = await expectRefusal({}, { code });
    expect(error.message).toMatch(message);
  });

  test.each([
    ["of another type", "token_type", "DPoP", /another kind than bearer/],
    ["without the scope", "scope", "email", /did not grant openid/],
    ["with a line break", "access_token", "a\r\nb", /no request header can carry/],
    ["far too long", "refresh_token", "r".repeat(9_000), /no request header can carry/],
  ])("gives nothing that is kept when a token is %s", async (_what, name, value, message) => {
    change("/oauth/token", (json) => ({ ...json, [name]: value }));
    const error = await expectRefusal({}, { code: "pairing_failed" });
    expect(error.message).toMatch(message);
  });

  test("cannot make its words a secret's or a terminal's", async () => {
    service.interfere = ({ path, body }) => {
      if (!path.startsWith("/oauth/token")) return undefined;
      const code = new URLSearchParams(body).get("code");
      const words = { error: "invalid_grant", error_description: `\u001b[2J ${code} is no good` };
      return { status: 400, headers: { "content-type": "application/json" }, body: JSON.stringify(words) };
    };
    const error = await expectRefusal({}, { code: "pairing_failed" });
    expect(error.message).toContain("\\u001b[2J [redacted] is no good");
  });

  test("elsewhere has no business with this machine", async () => {
    const http = createOAuthHttp({ baseUrl: "https://svc.example" });
    expect(() => http.admit("http://127.0.0.1:8080/token", "token_endpoint")).toThrow(
      /this machine and not the service/,
    );
    expect(() => http.admit("https://localhost/token", "token_endpoint")).toThrow(/this machine and not the service/);
    expect(http.admit("https://auth.example/token", "token_endpoint").host).toBe("auth.example");
    await http.close();
  });
});

test("what is stored is all that is needed, and nothing of the way to it", async () => {
  await signInAt(service, machine.store);
  const kept = JSON.parse(await readFile(machine.store.path, "utf8"));
  expect(Object.keys(kept.signIn).sort()).toEqual(
    [
      "accessToken",
      "baseUrl",
      "clientId",
      "expiresAt",
      "refreshToken",
      "resource",
      "server",
      "signInId",
      "signedInAt",
    ].sort(),
  );
});
