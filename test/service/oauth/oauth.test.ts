import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { verifies } from "../../contract/verifies.ts";
import { decideHeld } from "../approvals/owner.ts";
import { openStoreOf } from "../find-store.ts";
import { openBrowser, readCsrf } from "../http/pages/browser.ts";
import { call } from "../http-calls.ts";
import { type OAuthClient, openOwnerBrowser, REDIRECT_URI, registerClient } from "./oauth-client.ts";

const MINUTE = 60_000;
let service: TestService;
let client: OAuthClient;
/** Milliseconds by which the service's clock is ahead: the OAuth library itself has no clock to set. */
let ahead: number;
beforeEach(async () => {
  ahead = 0;
  service = await startTestService({ now: () => Date.now() + ahead });
  client = await registerClient(service.url);
});
afterEach(() => service.close());

const openOwner = async () => openOwnerBrowser(await service.service.signInUrl());

/** The whole way to a token. */
async function getTokens(from = client, scope = "openid", more: Readonly<Record<string, string>> = {}) {
  const owner = await openOwner();
  const started = await from.start({ scope });
  return from.redeem(started, await owner.decide(started.url, "approve", more));
}

function callMcp(token: string, method = "tools/list") {
  return call(`${service.url}/api/mcp`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: {} }),
  });
}

const readClaims = (token: string) => JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8"));

describe("metadata", () => {
  test.each(["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/api/mcp"])(
    "%s says where tokens come from",
    async (path) => {
      verifies("auth.oauth-discovery");
      const { status, json, headers } = await call(`${service.url}${path}`);
      expect(status).toBe(200);
      expect(headers["access-control-allow-origin"]).toBe("*");
      expect(json).toMatchObject({
        resource: `${service.url}/api/mcp`,
        authorization_servers: [service.url],
        scopes_supported: ["openid"],
        bearer_methods_supported: ["header"],
      });
    },
  );

  test.each(["oauth-authorization-server", "openid-configuration"])("%s names the endpoints", async (name) => {
    verifies("auth.oauth-scopes");
    const { json } = await call(`${service.url}/.well-known/${name}`);
    expect(json).toMatchObject({
      issuer: service.url,
      authorization_endpoint: `${service.url}/oauth/authorize`,
      token_endpoint: `${service.url}/oauth/token`,
      registration_endpoint: `${service.url}/oauth/register`,
      revocation_endpoint: `${service.url}/oauth/revoke`,
      jwks_uri: `${service.url}/oauth/jwks`,
      scopes_supported: ["openid", "email", "profile"],
      response_types_supported: ["code"],
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["none"],
      authorization_response_iss_parameter_supported: true,
    });
  });

  test("is built from the configured address, whatever proxies claim", async () => {
    const headers = { "x-forwarded-host": "evil.example", "x-forwarded-proto": "https" };
    const { json } = await call(`${service.url}/.well-known/oauth-authorization-server`, { headers });
    expect(json.token_endpoint).toBe(`${service.url}/oauth/token`);
  });

  test("shows only the public half of the signing key", async () => {
    const { json } = await call(`${service.url}/oauth/jwks`);
    expect(json.keys).toHaveLength(1);
    expect(json.keys[0]).toMatchObject({ kty: "EC", crv: "P-256", use: "sig", alg: "ES256" });
    expect(json.keys[0]).not.toHaveProperty("d");
  });
});

describe("the round trip", () => {
  test("gives an app that knows only the MCP address a token that works there", async () => {
    verifies("auth.oauth-on-mcp", "auth.oauth-code-flow", "auth.oauth-registration");
    const tokens = await getTokens();
    expect(tokens).toMatchObject({ token_type: "bearer", scope: "openid", expires_in: 3600 });
    expect(readClaims(tokens.access_token)).toMatchObject({
      iss: service.url,
      aud: `${service.url}/api/mcp`,
      scope: "openid",
      client_id: client.client.client_id,
    });
    const { status, json } = await callMcp(tokens.access_token);
    expect(status).toBe(200);
    expect(json.result.tools).toHaveLength(10);
    const listing = await call(`${service.url}/api/mcp`, {
      headers: { authorization: `Bearer ${tokens.access_token}` },
    });
    expect(listing.json).toMatchObject({ ok: true });
  });

  test("gives email and profile when they are asked for", async () => {
    verifies("auth.oauth-scopes");
    const tokens = await getTokens(client, "openid email profile");
    expect(tokens.scope).toBe("openid email profile");
  });

  test("takes the MCP endpoint as the resource when the app names none", async () => {
    const owner = await openOwner();
    const started = await client.start({ resource: null });
    const tokens = await client.redeem(started, await owner.decide(started.url, "approve"));
    expect(readClaims(tokens.access_token).aud).toBe(`${service.url}/api/mcp`);
  });

  test("ends at the app with an error when the owner declines", async () => {
    const owner = await openOwner();
    const { url, state } = await client.start();
    const callback = new URL(await owner.decide(url, "decline"));
    expect(callback.href.startsWith(REDIRECT_URI)).toBe(true);
    expect(Object.fromEntries(callback.searchParams)).toMatchObject({
      error: "access_denied",
      state,
      iss: service.url,
    });
    expect(callback.searchParams.has("code")).toBe(false);
  });

  test("asks the owner every time, also for an app that was approved before", async () => {
    verifies("decision.oauth-owner-approves");
    const owner = await openOwner();
    for (const _round of [1, 2]) {
      const started = await client.start();
      const { page } = await owner.follow(started.url);
      expect(page.text).toContain("Give Test app access?");
      await client.redeem(started, await owner.decide((await client.start()).url, "approve")).catch(() => undefined);
    }
  });

  test("cannot be completed silently", async () => {
    const owner = await openOwner();
    await owner.decide((await client.start()).url, "approve");
    const { url } = await client.start();
    const { url: callback } = await owner.follow(`${url}&prompt=none`);
    expect(new URL(callback).searchParams.get("error")).toMatch(/_required$/);
  });
});

describe("an error of a request", () => {
  const elsewhere = { redirect_uris: ["https://phishing.example/"], client_name: "Stranger" };
  const withError = (url: string, [name, value]: readonly [string, string]) => {
    const changed = new URL(url);
    changed.searchParams.set(name, value);
    return changed.href;
  };

  test.each([
    ["code_challenge_method", "plain"],
    ["prompt", "none"],
    ["response_type", "token"],
    ["code_challenge", "short"],
    ["resource", "https://other.example/"],
    ["request", "x.y.z"],
  ])("stays on our page while nobody approved the app: %s=%s", async (...error) => {
    const stranger = await registerClient(service.url, elsewhere);
    for (const mode of ["query", "fragment", "form_post"]) {
      const url = withError(withError((await stranger.start()).url, error), ["response_mode", mode]);
      const reply = await openBrowser().open(url);
      expect([reply.status, reply.headers.location]).toEqual([400, undefined]);
      expect(reply.text).toContain("Start again in the app");
      expect(reply.text).not.toContain("phishing.example");
      expect(reply.headers["content-security-policy"]).toContain("form-action 'self';");
    }
  });

  test("goes to an app that the owner approved, until he withdraws it", async () => {
    const tokens = await getTokens();
    const ask = async () => openBrowser().open(withError((await client.start()).url, ["prompt", "none"]));
    expect(String((await ask()).headers.location)).toMatch(/^http:\/\/127\.0\.0\.1:33418\/callback\?.*error=/);
    await client.revoke(String(tokens.refresh_token));
    expect((await ask()).status).toBe(400);
  });
});

describe("the approval page", () => {
  test("shows who asks, where the browser goes, and what the app may do", async () => {
    const owner = await openOwner();
    const { page } = await owner.follow((await client.start({ scope: "openid email" })).url);
    expect(page.status).toBe(200);
    for (const text of ["Test app", "127.0.0.1:33418", "openid, email", "without asking you each time"]) {
      expect(page.text).toContain(text);
    }
    expect(page.headers["content-security-policy"]).toContain("form-action 'self' http://127.0.0.1:33418;");
    expect(page.headers["content-security-policy"]).toContain("frame-ancestors 'none'");
    expect(page.headers["x-frame-options"]).toBe("DENY");
  });

  test("does not let an app write on it", async () => {
    const name = `<b>svc</b>\u202e ${"x".repeat(150)}`;
    const loud = await registerClient(service.url, { client_name: name });
    const { page } = await (await openOwner()).follow((await loud.start()).url);
    expect(page.text).toContain("&lt;b&gt;svc&lt;/b&gt;");
    expect(page.text).not.toMatch(/<b>|\u202e|x{100}/);
  });

  test("asks a stranger to sign in and then comes back", async () => {
    const { url } = await client.start();
    const browser = openBrowser();
    const first = await browser.open(url);
    const approval = new URL(String(first.headers.location), url).href;
    const page = await browser.open(approval);
    expect(page.status).toBe(401);
    expect(page.text).not.toContain('name="decision"');
    const signedIn = await browser.open(await service.service.signInUrl());
    expect(new URL(String(signedIn.headers.location), url).href).toBe(approval);
    expect((await browser.open(approval)).text).toContain("Give Test app access?");
  });

  test("takes no decision from an API key, a token, a stranger or another site", async () => {
    verifies("decision.oauth-owner-approves");
    const { url } = await client.start();
    const owner = await openOwner();
    const asked = await owner.follow(url);
    const csrf = readCsrf(asked.page);
    const tokens = await getTokens();
    const cookie = [...owner.browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const stranger = cookie.replace(/svc_session=[^;]+/, "svc_session=x");
    const form = { "content-type": "application/x-www-form-urlencoded" };
    const body = `csrf=${csrf}&decision=approve`;
    const attempts: [string, Record<string, string>, string][] = [
      ["an API key", { "x-svc-api-key": service.apiKey }, body],
      ["an API key with the request's cookies", { "x-svc-api-key": service.apiKey, cookie: stranger }, body],
      ["a token", { authorization: `Bearer ${tokens.access_token}`, cookie: stranger }, body],
      ["no sign-in", { cookie: stranger }, body],
      ["another origin", { cookie, origin: "https://evil.example" }, body],
      ["a cross-site request", { cookie, "sec-fetch-site": "cross-site" }, body],
      ["no csrf token", { cookie }, "decision=approve"],
    ];
    for (const [who, headers, content] of attempts) {
      const reply = await call(asked.url, { method: "POST", headers: { ...form, ...headers }, body: content });
      expect(reply.status, who).toBe(403);
    }
    expect((await owner.browser.submit(asked.url, { csrf, decision: "maybe" })).status).toBe(400);
    expect((await owner.browser.submit(asked.url, { csrf, decision: "approve" })).status).toBe(303);
  });

  test("can be regretted on the devices page", async () => {
    const tokens = await getTokens();
    const { browser } = await openOwner();
    const devices = await browser.open(`${service.url}/devices`);
    expect(devices.text).toContain("Withdraw Test app");
    const [, action = ""] = /action="(\/oauth\/apps\/[^"]+)"/.exec(devices.text) ?? [];
    expect((await browser.submit(`${service.url}${action}`, { csrf: "x" })).status).toBe(403);
    expect((await callMcp(tokens.access_token)).status).toBe(200);
    const csrf = readCsrf(devices);
    expect((await browser.submit(`${service.url}${action}`, { csrf })).headers.location).toBe(
      "/devices?notice=withdrawn",
    );
    expect((await callMcp(tokens.access_token)).status).toBe(401);
    await expect(client.refresh(String(tokens.refresh_token))).rejects.toMatchObject({ error: "invalid_grant" });
    expect((await browser.open(`${service.url}/devices`)).text).not.toContain("Test app");
    expect((await browser.submit(`${service.url}${action}`, { csrf })).status).toBe(404);
  });

  test("shows nothing of a request that another browser started", async () => {
    const { url } = await client.start();
    const asked = await (await openOwner()).follow(url);
    const other = await openOwner();
    const page = await other.browser.open(asked.url);
    expect(page.status).toBe(410);
    expect(page.text).not.toContain("Test app");
  });

  test("a decision counts for a minute, for its request, and in the browser that began it", async () => {
    const owner = await openOwner();
    const asked = await owner.follow((await client.start()).url);
    const answer = { csrf: readCsrf(asked.page), decision: "approve" };
    const decided = String((await owner.browser.submit(asked.url, answer)).headers.location);
    const stranger = await openOwner();
    const other = await stranger.follow((await client.start()).url);
    const foreign = decided.replace(new URL(asked.url).pathname, new URL(other.url).pathname);
    const forged = decided.replace(/approve\.\d+/, `approve.${Date.now() + 1000 * MINUTE}`);
    for (const url of [decided, foreign]) expect((await stranger.browser.open(url)).status, url).toBe(410);
    for (const url of [forged, decided.replace("approve.", "decline.")]) {
      expect((await owner.browser.open(url)).status, url).toBe(410);
    }
    ahead = MINUTE + 1;
    expect((await owner.browser.open(decided)).status).toBe(410);
    ahead = 0;
    expect((await owner.browser.open(decided)).status).toBe(303);
  });

  test("keeps an app and its request once the owner has seen them", async () => {
    const store = await openStoreOf(service.dataDir);
    try {
      const list = async () => {
        const rows = store.selectFrom("oauth_records").selectAll().where("model", "in", ["Client", "Interaction"]);
        return (await rows.orderBy("model").execute()).map((row) => [row.model, row.opened_at !== null]);
      };
      const { url } = await client.start();
      const stranger = openBrowser();
      const approval = new URL(String((await stranger.open(url)).headers.location), url).href;
      await stranger.open(approval);
      const unseen = [
        ["Client", false],
        ["Interaction", false],
      ];
      expect(await list()).toEqual(unseen);
      await stranger.open(await service.service.signInUrl());
      expect((await stranger.open(approval)).status).toBe(200);
      expect(await list()).toEqual(unseen.map(([model]) => [model, true]));
    } finally {
      await store.destroy();
    }
  });

  test("cannot be answered twice", async () => {
    const owner = await openOwner();
    const asked = await owner.follow((await client.start()).url);
    const csrf = readCsrf(asked.page);
    const press = async (decision: string) => owner.browser.submit(asked.url, { csrf, decision });
    const [first, second] = [await press("decline"), await press("approve")];
    expect([first.status, second.status]).toEqual([303, 303]);
    const { url: callback } = await owner.follow(String(first.headers.location));
    expect(new URL(callback).searchParams.get("error")).toBe("access_denied");
    expect((await owner.follow(String(second.headers.location))).page.status).toBe(410);
    expect((await press("approve")).status).toBe(410);
    expect((await owner.browser.open(asked.url)).status).toBe(410);
  });
});

describe("registration", () => {
  const register = (metadata: object) =>
    call(`${service.url}/oauth/register`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ redirect_uris: [REDIRECT_URI], ...metadata }),
    });

  test.each([
    "http://127.0.0.1/callback",
    "http://localhost:8080/callback",
    "http://[::1]:8080/callback",
    "https://app.example.com/oauth/callback",
    "cursor://anysphere.cursor-mcp/oauth/callback",
    "com.example.app:/callback",
  ])("takes %s", async (uri) => {
    const { status, json } = await register({ redirect_uris: [uri] });
    expect(status, JSON.stringify(json)).toBe(201);
    expect(json).toMatchObject({ redirect_uris: [uri], token_endpoint_auth_method: "none" });
    expect(json).not.toHaveProperty("client_secret");
  });

  test.each([
    ["plain http to another machine", { redirect_uris: ["http://app.example.com/callback"] }],
    ["plain http to this network", { redirect_uris: ["http://192.168.1.7/callback"] }],
    ["plain http to a name that only looks local", { redirect_uris: ["http://localhost.evil.example/callback"] }],
    ["plain http that hides its host", { redirect_uris: ["http://localhost@evil.example/callback"] }],
    ["plain http in a web client", { redirect_uris: ["http://app.example.com/"], application_type: "web" }],
    ["an address with a password", { redirect_uris: ["https://me:secret@app.example.com/callback"] }],
    ["an address without an end", { redirect_uris: [`https://app.example.com/${"x".repeat(2_100)}`] }],
    ["one bad address among good ones", { redirect_uris: [REDIRECT_URI, "http://app.example.com/"] }],
    ["a script", { redirect_uris: ["javascript:alert(1)"] }],
    ["a data address", { redirect_uris: ["data:text/html,x"] }],
    ["a fragment", { redirect_uris: ["https://app.example.com/#x"] }],
    ["something that is no address", { redirect_uris: ["callback"] }],
    ["no address", { redirect_uris: [] }],
    ["too many addresses", { redirect_uris: Array.from({ length: 11 }, (_, i) => `https://a${i}.example.com/`) }],
    ["a name that is a book", { client_name: "x".repeat(201) }],
    ["a name that is an object", { client_name: {} }],
    ["the implicit flow", { response_types: ["token"], grant_types: ["implicit"] }],
    ["the password flow", { grant_types: ["password"] }],
  ])("refuses %s", async (_what, metadata) => {
    verifies("decision.oauth-loopback-http");
    const { status, json } = await register(metadata);
    expect(status).toBe(400);
    expect(json.error).toMatch(/^invalid_/);
  });

  test("gives a client that asks for more what there is", async () => {
    const { status, json } = await register({
      token_endpoint_auth_method: "client_secret_post",
      grant_types: ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
      id_token_signed_response_alg: "RS256",
      scope: "openid offline_access mcp:tools",
      application_type: "web",
    });
    expect(status, JSON.stringify(json)).toBe(201);
    expect(json).toMatchObject({
      token_endpoint_auth_method: "none",
      grant_types: ["authorization_code", "refresh_token"],
      scope: "openid",
    });
    expect(json).not.toHaveProperty("client_secret");
  });

  test("keeps nothing that would make the service call out", async () => {
    const asked = { jwks_uri: "http://169.254.169.254/keys", sector_identifier_uri: "https://10.0.0.1/x" };
    const { status, json } = await register(asked);
    expect(status).toBe(201);
    expect(JSON.stringify(json)).not.toMatch(/169\.254|10\.0\.0/);
  });

  test("forgets a client that nobody approved within a day, and keeps one that was", async () => {
    const approved = await registerClient(service.url);
    await getTokens(approved);
    ahead = 25 * 60 * MINUTE;
    const owner = await openOwner();
    expect((await owner.follow((await client.start()).url)).page.text).toContain("Start again in the app");
    expect((await owner.follow((await approved.start()).url)).page.text).toContain("Give Test app access?");
  });

  test("answers a request that is no registration", async () => {
    for (const body of ["", "{", "[]", '"x"']) {
      const headers = { "content-type": "application/json" };
      const reply = await call(`${service.url}/oauth/register`, { method: "POST", headers, body });
      expect(reply.status, body).toBe(400);
    }
  });
});

describe("an authorization request", () => {
  const change = (url: string, changes: Record<string, string | null>) => {
    const changed = new URL(url);
    for (const [name, value] of Object.entries(changes)) {
      if (value === null) changed.searchParams.delete(name);
      else changed.searchParams.set(name, value);
    }
    return changed.href;
  };

  test.each([
    ["an unknown client", { client_id: "nobody" }],
    ["an address that was not registered", { redirect_uri: "https://evil.example/callback" }],
    ["another path", { redirect_uri: "http://127.0.0.1:33418/other" }],
  ])("with %s never leads away from the service", async (_what, changes) => {
    const { page, url } = await (await openOwner()).follow(change((await client.start()).url, changes));
    expect(new URL(url).origin).toBe(service.url);
    expect(page.status).toBe(400);
    expect(page.text).toContain("Start again in the app");
    expect(page.headers["content-security-policy"]).toContain("default-src 'none'");
  });

  test("may come back on another loopback port", async () => {
    const moved = "http://127.0.0.1:49152/callback";
    const callback = await (await openOwner()).decide(
      change((await client.start()).url, { redirect_uri: moved }),
      "approve",
    );
    expect(callback.startsWith(`${moved}?code=`)).toBe(true);
  });

  test.each([
    ["no PKCE", { code_challenge: null, code_challenge_method: null }, "invalid_request"],
    ["plain PKCE", { code_challenge_method: "plain" }, "invalid_request"],
    ["a resource that is not ours", { resource: "https://other.example/api/mcp" }, "invalid_target"],
    ["the wrong resource of ours", { resource: "http://127.0.0.1/api/tools" }, "invalid_target"],
    ["the token in the address", { response_type: "token" }, "unsupported_response_type"],
  ])("with %s is refused at the app, once it was approved", async (_what, changes, error) => {
    await getTokens();
    const { url } = await (await openOwner()).follow(change((await client.start()).url, changes));
    const answer = new URL(url);
    const found = answer.searchParams.get("error") ?? new URLSearchParams(answer.hash.slice(1)).get("error");
    expect(found, url).toBe(error);
  });
});

describe("codes and refresh tokens", () => {
  test("a code works once; using it again ends everything that came from it", async () => {
    verifies("decision.oauth-replay-ends-approval");
    const owner = await openOwner();
    const started = await client.start();
    const callback = await owner.decide(started.url, "approve");
    const tokens = await client.redeem(started, callback);
    expect((await callMcp(tokens.access_token)).status).toBe(200);
    await expect(client.redeem(started, callback)).rejects.toMatchObject({ error: "invalid_grant" });
    expect((await callMcp(tokens.access_token)).status).toBe(401);
    await expect(client.refresh(String(tokens.refresh_token))).rejects.toMatchObject({ error: "invalid_grant" });
  });

  test("of many that redeem one code at once at most one gets a token, and it does not last", async () => {
    const owner = await openOwner();
    const started = await client.start();
    const callback = await owner.decide(started.url, "approve");
    const tries = await Promise.allSettled(Array.from({ length: 8 }, () => client.redeem(started, callback)));
    const got = tries.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    expect(got.length).toBeLessThanOrEqual(1);
    for (const tokens of got) expect((await callMcp(tokens.access_token)).status).toBe(401);
  });

  test("a code is nothing without its verifier, and to another app", async () => {
    const owner = await openOwner();
    const started = await client.start();
    const callback = await owner.decide(started.url, "approve");
    const other = await registerClient(service.url);
    const wrong = { ...started, verifier: "x".repeat(43) };
    await expect(client.redeem(wrong, callback)).rejects.toMatchObject({ error: "invalid_grant" });
    await expect(other.redeem(started, callback)).rejects.toMatchObject({ error: "invalid_grant" });
    expect((await client.redeem(started, callback)).access_token).toBeTypeOf("string");
  });

  test("a refresh token is exchanged for a new one; the old one used again ends the approval", async () => {
    verifies("auth.oauth-refresh");
    const first = await getTokens();
    const second = await client.refresh(String(first.refresh_token));
    expect(second.refresh_token).not.toBe(first.refresh_token);
    expect((await callMcp(second.access_token)).status).toBe(200);
    await expect(client.refresh(String(first.refresh_token))).rejects.toMatchObject({ error: "invalid_grant" });
    await expect(client.refresh(String(second.refresh_token))).rejects.toMatchObject({ error: "invalid_grant" });
    expect((await callMcp(second.access_token)).status).toBe(401);
  });

  test("another app cannot revoke them", async () => {
    const tokens = await getTokens();
    await (await registerClient(service.url)).revoke(String(tokens.refresh_token)).catch(() => undefined);
    expect((await callMcp(tokens.access_token)).status).toBe(200);
    expect((await client.refresh(String(tokens.refresh_token))).access_token).toBeTypeOf("string");
  });

  test("a revoked refresh token takes its access token with it", async () => {
    const tokens = await getTokens();
    await client.revoke(String(tokens.refresh_token));
    expect((await callMcp(tokens.access_token)).status).toBe(401);
    await expect(client.refresh(String(tokens.refresh_token))).rejects.toMatchObject({ error: "invalid_grant" });
  });
});

describe("an access token", () => {
  test("is good for the MCP endpoint and nothing else", async () => {
    verifies("decision.oauth-audience", "auth.summary-401");
    const { access_token: token } = await getTokens();
    const closed = [
      "/api/tools",
      "/api/tools/notes_create_page",
      "/api/integrations",
      "/api/executions/exe_1",
      "/api/flows",
    ];
    for (const path of closed) {
      const reply = await call(`${service.url}${path}`, { headers: { authorization: `Bearer ${token}` } });
      expect(reply.status, path).toBe(401);
    }
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const byName = "/api/tools/notes_create_page/execute";
    for (const [path, body] of [
      [byName, { ok: false, canonical: { error_code: "unauthorized" } }],
      ["/api/executions", { status: "blocked", error_code: "unauthorized" }],
    ] as const) {
      const reply = await call(`${service.url}${path}`, { method: "POST", headers, body: "{}" });
      expect(reply.status, path).toBe(401);
      expect(reply.json, path).toMatchObject(body);
    }
    const own = await call(`${service.url}/api/tools`, { headers: { "x-svc-api-key": token } });
    expect(own.status).toBe(401);
  });

  test("is refused when it was changed, has ended, or is for somebody else", async () => {
    const { access_token: token, id_token: idToken } = await getTokens();
    const [head = "", body = "", signature = ""] = token.split(".");
    const claims = readClaims(token);
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const forgeries = [
      `${head}.${encode({ ...claims, sub: "acc_other" })}.${signature}`,
      `${head}.${encode({ ...claims, exp: claims.exp + 99_999 })}.${signature}`,
      `${encode({ alg: "none", typ: "at+jwt" })}.${body}.`,
      `${encode({ alg: "HS256", typ: "at+jwt" })}.${body}.${signature}`,
      `${head}.${body}`,
      `${head}.${body}.${signature}.x`,
      `${head}.${body}.AAAA`,
      String(idToken),
    ];
    for (const forged of forgeries) expect((await callMcp(forged)).status, forged).toBe(401);
    const elsewhere = await startTestService();
    try {
      const owner = await openOwnerBrowser(await elsewhere.service.signInUrl());
      const stranger = await registerClient(elsewhere.url);
      const started = await stranger.start();
      const tokens = await stranger.redeem(started, await owner.decide(started.url, "approve"));
      expect((await callMcp(tokens.access_token)).status).toBe(401);
    } finally {
      await elsewhere.close();
    }
    ahead = 61 * MINUTE;
    const late = await callMcp(token);
    expect(late.status).toBe(401);
    expect(late.headers["www-authenticate"]).toContain('error="invalid_token"');
  });

  test("without openid is told which scope is missing", async () => {
    const { access_token: token } = await getTokens(client, "profile");
    const reply = await callMcp(token);
    expect(reply.status).toBe(403);
    expect(reply.headers["www-authenticate"]).toMatch(/error="insufficient_scope".*scope="openid"/);
  });

  const write = (token: string) =>
    call(`${service.url}/api/mcp`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: {
          name: "svc.execute",
          arguments: { integration_id: "notes", action_id: "create_page", input: { title: "By OAuth" }, confirm: true },
        },
      }),
    });

  test("runs nothing that only its model confirms, also when its owner lets the app ask", async () => {
    const { access_token: token } = await getTokens(client, "openid", { approvals: "device" });
    expect((await write(token)).json.result.structuredContent).toMatchObject({ approval: { status: "pending" } });
    expect(await service.effects()).toEqual([]);
  });

  test("of an app whose calls the owner approves: a confirmation of its own runs nothing", async () => {
    const { access_token: token } = await getTokens();
    expect((await write(token)).json.result.structuredContent).toMatchObject({
      status: "blocked",
      error_code: "policy_blocked",
      approval: { status: "pending", url: expect.stringContaining("/inbox/apr_") },
    });
    expect(await service.effects()).toEqual([]);
  });

  test("of an app that lost its access after it asked: the owner's yes runs nothing", async () => {
    const { access_token: token } = await getTokens();
    const { id } = (await write(token)).json.result.structuredContent.approval;
    const browser = openBrowser();
    await browser.open(await service.service.signInUrl());
    const csrf = readCsrf(await browser.open(`${service.url}/devices`));
    const clientId = encodeURIComponent(client.client.client_id);
    await browser.submit(`${service.url}/oauth/apps/${clientId}/end`, { csrf });
    const { page } = await decideHeld(service, id, "approve");
    expect(page).toContain("By OAuth");
    await expect
      .poll(async () => (await browser.open(`${service.url}/inbox/${id}`)).text)
      .toContain("The key or app that asked has lost its access.");
    expect(await service.effects()).toEqual([]);
  });

  test("outlives a restart, with the clients and refresh tokens", async () => {
    const port = Number(new URL(service.url).port);
    const tokens = await getTokens();
    const { dataDir } = service;
    await service.service.close();
    const next = await startTestService({ dataDir, port });
    try {
      expect((await callMcp(tokens.access_token)).status).toBe(200);
      expect((await client.refresh(String(tokens.refresh_token))).access_token).toBeTypeOf("string");
    } finally {
      await next.close();
    }
  });
});
