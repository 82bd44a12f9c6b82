import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type PairStartReply, pairStartReplySchema } from "../../../../src/shared/wire/registration.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { verifies } from "../../../contract/verifies.ts";
import { findFreePort } from "../../free-port.ts";
import { call, execute, post } from "../../http-calls.ts";
import { createLab } from "../../lab-integration.ts";
import { type Browser, openBrowser, readCsrf } from "./browser.ts";

const MINUTE = 60_000;

let service: TestService;
let now: number;
let session: PairStartReply;
let browser: Browser;

beforeEach(async () => {
  now = Date.parse("2026-03-04T10:00:00Z");
  service = await startTestService({ integrations: [createLab().integration], now: () => now });
  await service.service.connections.add({ integration: "lab", label: "My lab", settings: {} });
  const device = { deviceLabel: 'Ana\'s <b>"laptop"</b>', client: "cli" };
  session = pairStartReplySchema.parse((await post(`${service.url}/api/plugin/pair/start`, device)).json);
  browser = openBrowser();
});
afterEach(() => service.close());

const signIn = async (who: Browser = browser) => who.open(await service.service.signInUrl());
const statusOf = async () =>
  (await call(`${service.url}/api/plugin/pair/sessions/${session.sessionToken}`)).json.status;

describe("signing in", () => {
  test("a link works once", async () => {
    const url = await service.service.signInUrl();
    const first = await browser.open(url);
    expect([first.status, first.headers.location]).toEqual([303, "/"]);
    const cookie = String(first.headers["set-cookie"]);
    expect(cookie).toMatch(/svc_session=[\w-]{43}; .*HttpOnly/i);
    expect(cookie).toMatch(/SameSite=Lax/i);
    const second = await openBrowser().open(url);
    expect([second.status, second.headers["set-cookie"]]).toEqual([410, undefined]);
    expect(second.text).toContain("svc login-link");
    expect(second.text).toContain("Add <code>--data FOLDER</code>");
  });

  test("of ten browsers with one link exactly one gets in", async () => {
    const url = await service.service.signInUrl();
    const replies = await Promise.all(Array.from({ length: 10 }, () => openBrowser().open(url)));
    expect(replies.filter((reply) => reply.status === 303)).toHaveLength(1);
  });

  test("a link lives ten minutes, a session seven days", async () => {
    const url = await service.service.signInUrl();
    now += 10 * MINUTE;
    expect((await browser.open(url)).status).toBe(410);
    await signIn();
    now += 7 * 24 * 60 * MINUTE - 1;
    expect((await browser.open(`${service.url}/`)).status).toBe(200);
    now += 1;
    expect((await browser.open(`${service.url}/`)).status).toBe(401);
  });

  test.each([
    ["HEAD", {}],
    ["GET", { "user-agent": "TelegramBot (like TwitterBot)" }],
    ["GET", { "sec-purpose": "prefetch;prerender" }],
  ])("a %s preview with %j does not spend the link", async (method, headers) => {
    const url = await service.service.signInUrl();
    const preview = await call(url, { method, headers: { ...headers } });
    expect([preview.status, preview.headers["set-cookie"], preview.headers.location]).toEqual([
      200,
      undefined,
      undefined,
    ]);
    expect((await browser.open(url)).status).toBe(303);
  });

  test("a link that was used leads a signed-in browser on", async () => {
    const url = await service.service.signInUrl();
    await browser.open(url);
    const again = await browser.open(url);
    expect([again.status, again.headers.location]).toEqual([303, "/"]);
  });

  test("the cookie goes to a path that only this browser knows, and counts nowhere else", async () => {
    const signedIn = await signIn();
    const path = browser.sessionPath();
    expect(path).toMatch(/^\/s\/[\w-]{43}$/);
    expect(String(signedIn.headers["set-cookie"])).toContain(`; Path=${path};`);
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const statuses = ["/devices", `/s/${"x".repeat(43)}/devices`, `${path}/devices`].map(
      async (at) => (await call(`${service.url}${at}`, { headers: { cookie } })).status,
    );
    expect(await Promise.all(statuses)).toEqual([401, 401, 200]);
    expect((await call(`${service.url}${path}/devices`)).status).toBe(401);
  });

  test("leads back to the approval page the human came for", async () => {
    const before = await browser.open(session.pairUrl);
    expect(before.status).toBe(401);
    expect(before.text).toContain("svc login-link");
    expect((await signIn()).headers.location).toBe(new URL(session.pairUrl).pathname);
    expect((await browser.open(session.pairUrl)).status).toBe(200);
  });

  test.each([
    "//evil.example",
    "https://evil.example",
    "/\\evil.example",
    "/pair/../../x",
    "javascript:alert(1)",
    "/sign-out",
  ])("never leads to %s", async (next) => {
    const url = `${await service.service.signInUrl()}&next=${encodeURIComponent(next)}`;
    expect((await browser.open(url)).headers.location).toBe("/");
  });

  test("a public https service uses a __Host- cookie with Secure", async () => {
    const port = await findFreePort();
    const secure = await startTestService({ integrations: [], publicUrl: "https://svc.example.org", port });
    try {
      const { host, pathname, search } = new URL(await secure.service.signInUrl());
      expect(host).toBe("svc.example.org");
      const { headers } = await call(`http://127.0.0.1:${port}${pathname}`, {
        method: "POST",
        headers: { host, "content-type": "application/x-www-form-urlencoded" },
        body: search.slice(1),
      });
      expect(headers.location).toBe("/");
      expect(String(headers["set-cookie"])).toMatch(/__Host-svc_session=[\w-]{43}; .*Path=\/;.*Secure/i);
      // Without a session path before it, an address of another host would be one.
      for (const next of ["//evil.example", "https://evil.example/", "/\\evil.example", "/inbox/../..//evil.example"]) {
        const link = new URL(await secure.service.signInUrl());
        const sent = await call(`http://127.0.0.1:${port}${link.pathname}`, {
          method: "POST",
          headers: { host, "content-type": "application/x-www-form-urlencoded" },
          body: `${link.search.slice(1)}&next=${encodeURIComponent(next)}`,
        });
        expect([next, sent.headers.location]).toEqual([next, "/"]);
      }
    } finally {
      await secure.close();
    }
  });
});

describe("a browser without scripts", () => {
  const openLink = async (link: string) => {
    const csrf = readCsrf(await browser.open(`${service.url}/`));
    return (await browser.submit(`${service.url}/open-link`, { csrf, link })).headers.location;
  };

  test("is told to paste the link, and opens it at home", async () => {
    const stranger = await openBrowser().open(session.pairUrl);
    expect(stranger.text).toContain(`<code>${session.pairUrl}</code>`);
    await signIn();
    const path = new URL(session.pairUrl).pathname;
    for (const link of [
      session.pairUrl,
      ` ${session.pairUrl}\n`,
      path,
      `${service.url}${browser.sessionPath()}${path}`,
    ]) {
      expect(await openLink(link)).toBe(path);
    }
    expect(await openLink(`${service.url}/signed-in?state=s&code=c`)).toBe("/signed-in?state=s&code=c");
  });

  test.each([
    "",
    "//evil.example",
    "https://evil.example/pair/aaaaaaaaaaaaaaaaaaaaaaaa",
    "/devices",
    "/\\evil.example",
    "javascript:alert(1)",
  ])("does not open %j", async (link) => {
    await signIn();
    expect(await openLink(link)).toBe("/?notice=link");
    expect((await browser.open(`${service.url}/?notice=link`)).text).toContain("leads to no page of this service");
  });
});

describe("the approval page", () => {
  test("shows code, device, client, age and rights, escaped", async () => {
    verifies("pair.start.device-label", "pair.start.display-code");
    await signIn();
    now += 3 * MINUTE;
    const { text } = await browser.open(session.pairUrl);
    expect(text).toContain(`<strong>${session.displayCode}</strong>`);
    expect(text).toContain("Ana&#39;s &lt;b&gt;&quot;laptop&quot;&lt;/b&gt;");
    expect(text).not.toContain("<b>");
    expect(text).toContain("Command line");
    expect(text).toContain("3 minutes ago");
    expect(text).toContain("in 12 minutes");
    expect(text).toContain("connected apps (Lab)");
  });

  test("approves by a form of its own", async () => {
    verifies("pair.approval-needs-human");
    await signIn();
    const csrf = readCsrf(await browser.open(session.pairUrl));
    const done = await browser.submit(session.pairUrl, { csrf, decision: "approve" }, { origin: service.url });
    expect([done.status, done.headers.location]).toEqual([303, new URL(session.pairUrl).pathname]);
    expect(await statusOf()).toBe("approved");
    const after = await browser.open(session.pairUrl);
    expect(after.text).toContain("Device approved");
    expect(after.text).not.toContain('name="decision"');
  });

  test("declines, and the first decision stands", async () => {
    await signIn();
    const csrf = readCsrf(await browser.open(session.pairUrl));
    await browser.submit(session.pairUrl, { csrf, decision: "decline" });
    await browser.submit(session.pairUrl, { csrf, decision: "approve" });
    expect(await statusOf()).toBe("denied");
    expect((await browser.open(session.pairUrl)).text).toContain("Device declined");
  });

  test("refuses every other way to press the button", async () => {
    await signIn();
    const csrf = readCsrf(await browser.open(session.pairUrl));
    const approve = { csrf, decision: "approve" };
    const stranger = openBrowser();
    const other = openBrowser();
    await signIn(other);
    const attempts = [
      browser.submit(session.pairUrl, { decision: "approve" }),
      browser.submit(session.pairUrl, { csrf: `${csrf.slice(0, -1)}_`, decision: "approve" }),
      browser.submit(session.pairUrl, approve, { origin: "https://evil.example" }),
      browser.submit(session.pairUrl, approve, { origin: "null" }),
      browser.submit(session.pairUrl, approve, { "sec-fetch-site": "cross-site" }),
      stranger.submit(session.pairUrl, approve),
      stranger.submit(session.pairUrl, approve, { "x-svc-api-key": service.apiKey }),
      stranger.submit(session.pairUrl, approve, { authorization: `Bearer ${service.apiKey}` }),
      other.submit(session.pairUrl, approve),
    ];
    for (const { status, text } of await Promise.all(attempts)) {
      expect(status).toBe(403);
      expect(text).toContain("<!doctype html>");
    }
    expect((await browser.submit(session.pairUrl, { csrf, decision: "maybe" })).status).toBe(400);
    expect((await browser.open(`${session.pairUrl}?decision=approve&csrf=${csrf}`)).status).toBe(200);
    expect(await statusOf()).toBe("awaiting_approval");
  });

  test("an API key opens no page", async () => {
    const [connection] = await service.service.connections.list();
    const paths = ["/", "/devices", "/connections", "/connect/lab", "/log", `/pair/${session.sessionToken}`];
    for (const path of [...paths, `/connections/${connection?.id}`, `/connections/${connection?.id}/reconnect`]) {
      expect((await call(`${service.url}${path}`, { key: service.apiKey })).status).toBe(401);
    }
  });

  test("says so when the request is over or unknown", async () => {
    await signIn();
    const csrf = readCsrf(await browser.open(session.pairUrl));
    now += 15 * MINUTE;
    const expired = await browser.open(session.pairUrl);
    expect([expired.status, expired.text.includes("expired")]).toEqual([410, true]);
    await browser.submit(session.pairUrl, { csrf, decision: "approve" });
    expect(await statusOf()).toBe("expired");
    const unknown = await browser.open(`${service.url}/pair/${"x".repeat(43)}`);
    expect([unknown.status, unknown.text.includes("unknown")]).toEqual([404, true]);
  });
});

describe("the home page", () => {
  test("shows connections, devices and what happened last, escaped", async () => {
    const apiKey = await service.createKey("Old <phone>");
    await execute({ url: service.url, apiKey }, "lab_look");
    now += 2 * 60 * MINUTE;
    await signIn();
    const { text } = await browser.open(`${service.url}/`);
    expect(text).not.toContain("Waiting for you");
    expect(text).toContain("Old &lt;phone&gt;");
    expect(text).toMatch(/last used <time [^>]*>2 hours ago/);
    expect(text).toContain("My lab");
    expect(text).toMatch(/<a href="\/log\/exe_\w+">Look<\/a>/);
  });

  test("names what waits for the owner", async () => {
    const [connection] = await service.service.connections.list();
    await service.service.connections.update(connection?.id ?? "", { state: "reauth_required" });
    await signIn();
    const { text } = await browser.open(`${service.url}/`);
    expect(text).not.toContain("Nothing waits for you.");
    expect(text).toContain("“My lab” must be reconnected");
    expect(text).toContain(`/connections/${connection?.id}/reconnect`);
  });
});

describe("the devices page", () => {
  test("lists every key, and revokes one at once", async () => {
    verifies("decision.key-revocable");
    const apiKey = await service.createKey("Old <phone>");
    await call(`${service.url}/api/tools`, { key: apiKey });
    now += 2 * 60 * MINUTE;
    await signIn();
    const page = await browser.open(`${service.url}/devices`);
    expect(page.text).toContain("Old &lt;phone&gt;");
    expect(page.text).toContain(apiKey.slice(-4));
    expect(page.text).not.toContain(apiKey.slice(-12));
    const id = /<strong>Old &lt;phone&gt;<\/strong>[\s\S]*?\/devices\/(key_\w+)\/revoke/.exec(page.text)?.[1];
    const path = `${service.url}/devices/${id}/revoke`;
    expect((await browser.submit(path, {})).status).toBe(403);
    expect((await call(`${service.url}/api/tools`, { key: apiKey })).status).toBe(200);
    const done = await browser.submit(path, { csrf: readCsrf(page) });
    expect([done.status, done.headers.location]).toEqual([303, "/devices?notice=revoked"]);
    expect((await call(`${service.url}/api/tools`, { key: apiKey })).status).toBe(401);
    expect((await browser.open(`${service.url}/devices`)).text).not.toContain("Old &lt;phone&gt;");
    expect((await browser.submit(path, { csrf: readCsrf(page) })).status).toBe(404);
  });

  test("signs out", async () => {
    await signIn();
    const stolen = new Map(browser.cookies);
    const csrf = readCsrf(await browser.open(`${service.url}/`));
    expect((await browser.submit(`${service.url}/sign-out`, { csrf })).status).toBe(200);
    expect(browser.cookies.has("svc_session")).toBe(false);
    for (const [name, value] of stolen) browser.cookies.set(name, value);
    expect((await browser.open(`${service.url}/`)).status).toBe(401);
  });
});

test("every page carries the full set of headers and loads nothing", async () => {
  await signIn();
  const pages = [
    await browser.open(`${service.url}/`),
    await browser.open(`${service.url}/devices`),
    await browser.open(`${service.url}/connections`),
    await browser.open(`${service.url}/connect/lab`),
    await browser.open(`${service.url}/log`),
    await browser.open(session.pairUrl),
    await browser.open(`${service.url}/pair/unknown`),
    await browser.open(`${service.url}/nope`),
    await openBrowser().open(session.pairUrl),
    await openBrowser().open(`${service.url}/sign-in?token=x`),
    await browser.submit(session.pairUrl, {}),
  ];
  for (const { headers, text } of pages) {
    const csp = String(headers["content-security-policy"]);
    expect(csp).toContain("default-src 'none'");
    expect(csp).toContain("frame-ancestors 'none'");
    expect(csp).toContain("form-action 'self'");
    const style = /<style>([\s\S]*)<\/style>/.exec(text)?.[1] ?? "";
    expect(csp).toContain(`'sha256-${createHash("sha256").update(style).digest("base64")}'`);
    expect(headers).toMatchObject({
      "x-frame-options": "DENY",
      "x-content-type-options": "nosniff",
      "referrer-policy": "same-origin",
      "cache-control": "no-store",
    });
    expect(text).not.toMatch(/<script[^>]|<link|<img|src=|url\(|@import|style="/);
    expect(text).toMatch(/<html lang="en"[\s\S]*<h1/);
    const sources = [...text.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, script = ""]) => {
      return `'sha256-${createHash("sha256").update(script).digest("base64")}'`;
    });
    expect(/script-src ([^;]*)/.exec(csp)?.[1] ?? "").toBe(sources.join(" "));
  }
});
