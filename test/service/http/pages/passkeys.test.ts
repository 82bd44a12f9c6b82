import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { findFreePort } from "../../free-port.ts";
import { call } from "../../http-calls.ts";
import { createAuthenticator, type Lies, type PasskeyOptions } from "../kit/authenticator.ts";
import { type Browser, invite, openBrowser, readCsrf } from "./browser.ts";

const MINUTE = 60_000;

let service: TestService;
let now: number;
let site: string;
let owner: Browser;
/** Messages for the operator. */
const logged: string[] = [];
let laptop: ReturnType<typeof createAuthenticator>;

async function start(): Promise<void> {
  now = Date.parse("2026-03-04T10:00:00Z");
  service = await startTestService({
    integrations: [],
    now: () => now,
    log: ({ message }) => void logged.push(message),
  });
  site = service.url.replace("127.0.0.1", "localhost");
  owner = await signInByLink(await service.service.signInUrl());
  laptop = createAuthenticator(site);
}

async function signInByLink(link: string): Promise<Browser> {
  const browser = openBrowser();
  await browser.open(link.replace("127.0.0.1", "localhost"));
  return browser;
}

const JSON_ONLY = { accept: "application/json" };
const at = (path: string) => `${site}${path}`;
const page = async (who: Browser) => (await who.open(at("/sessions"))).text;
const submit = async (who: Browser, path: string, fields: Record<string, string> = {}, headers = {}) =>
  who.submit(at(path), { csrf: readCsrf(await who.open(at("/sessions"))), ...fields }, headers);

async function beginAdding(who: Browser): Promise<PasskeyOptions> {
  return (await submit(who, "/passkeys/start", {}, JSON_ONLY)).json;
}

async function add(who: Browser, passkey: typeof laptop, name = "Laptop", lies: Lies = {}) {
  return submit(who, "/passkeys", { name, answer: passkey.create(await beginAdding(who), lies) });
}

const beginSignIn = async (who: Browser): Promise<PasskeyOptions> =>
  (await who.submit(at("/sign-in/passkey/start"), {}, JSON_ONLY)).json;
const send = (who: Browser, answer: string) => who.submit(at("/sign-in/passkey"), { answer });

async function use(passkey: typeof laptop, who = openBrowser(), lies: Lies = {}) {
  const reply = await send(who, passkey.get(await beginSignIn(who), lies));
  return { reply, who };
}

const isIn = async (who: Browser) => (await who.open(at("/inbox"))).status === 200;
const listIds = (text: string) => [...text.matchAll(/\/passkeys\/(pky_\w+)\/remove/g)].map(([, id = ""]) => id);

describe("a passkey", () => {
  beforeEach(start);
  afterEach(() => service.close());

  test("is added by a signed-in person and signs in another browser as them, where they wanted to go", async () => {
    expect((await openBrowser().open(at("/sign-in"))).text).not.toContain("data-passkey");
    const step = async () =>
      / *<h3>Sign in without a link <span[^>]*>([^<]*)/.exec((await owner.open(at("/"))).text)?.[1];
    expect(await step()).toBe("To do");
    expect((await add(owner, laptop)).headers.location).toBe("/sessions?notice=added");
    expect(await page(owner)).toMatch(/Laptop<\/strong>.*added .*never used/);
    expect(await step()).toBe("Done");
    const phone = openBrowser();
    expect((await phone.open(at("/inbox"))).text).toContain('data-passkey="use"');
    const { reply } = await use(laptop, phone);
    expect([reply.status, reply.headers.location]).toEqual([303, "/inbox"]);
    expect(await isIn(phone)).toBe(true);
    expect(logged.slice(-2)).toEqual([
      expect.stringMatching(/^"Owner" \(per_\w+\) added a passkey "Laptop"$/),
      expect.stringMatching(/^"Owner" \(per_\w+\) signed in with the passkey "Laptop" from 127\.0\.0\.1$/),
    ]);
    now += 5 * MINUTE;
    expect(await page(phone)).toMatch(/signed in .* with the passkey Laptop from 127\.0\.0\.1 · last seen/);
    expect(await page(phone)).toMatch(/Laptop<\/strong>.*last used .*5 minutes ago/);
  });

  test("is asked for without saying whose, with the check of the person, and made so that a browser finds it", async () => {
    expect(await beginSignIn(openBrowser())).toMatchObject({ rpId: "localhost", userVerification: "required" });
    expect(await beginSignIn(openBrowser())).not.toHaveProperty("allowCredentials");
    await add(owner, laptop);
    expect(await beginAdding(owner)).toMatchObject({
      rp: { id: "localhost" },
      attestation: "none",
      authenticatorSelection: { residentKey: "required", userVerification: "required" },
      excludeCredentials: [{ type: "public-key" }],
    });
  });

  test("keeps the role of its person, of now", async () => {
    const ada = await signInByLink(await invite(owner, site, "Ada"));
    const phone = createAuthenticator(site);
    await add(ada, phone);
    const { who } = await use(phone);
    expect([await isIn(who), (await who.open(at("/devices"))).status]).toEqual([true, 403]);
  });

  test("of one person is not another's: an approver removes their own only, an owner everybody's", async () => {
    await add(owner, laptop);
    const ada = await signInByLink(await invite(owner, site, "Ada"));
    const phone = createAuthenticator(site);
    await add(ada, phone, "Phone");
    const [own = ""] = listIds(await page(owner));
    const [adas = ""] = listIds(await page(ada));
    expect((await submit(ada, `/passkeys/${own}/remove`)).status).toBe(404);
    expect(
      (await use(phone, openBrowser(), { userHandle: Buffer.from("per_x").toString("base64url") })).reply.status,
    ).toBe(401);
    const [id = ""] = /(?<=\/people\/)per_\w+(?=">Ada)/.exec((await owner.open(at("/people"))).text) ?? [];
    expect((await owner.open(at(`/people/${id}`))).text).toContain("Phone");
    expect((await submit(owner, `/passkeys/${adas}/remove`)).headers.location).toBe(`/people/${id}?notice=none-left`);
    expect((await use(phone)).reply.status).toBe(401);
  });

  test("goes with its person", async () => {
    const ada = await signInByLink(await invite(owner, site, "Ada"));
    await add(ada, laptop);
    const { who } = await use(laptop);
    const [id = ""] = /(?<=\/people\/)per_\w+(?=">Ada)/.exec((await owner.open(at("/people"))).text) ?? [];
    await submit(owner, `/people/${id}/remove`);
    expect([await isIn(who), (await use(laptop)).reply.status]).toEqual([false, 401]);
    expect((await openBrowser().open(at("/sign-in"))).text).not.toContain("data-passkey");
    expect((await add(owner, laptop)).status).toBe(303);
  });

  test("that is removed signs out the browsers it signed in, but for the one that removes it, and a link is always left", async () => {
    await add(owner, laptop);
    const [here, there] = [(await use(laptop)).who, (await use(laptop)).who];
    const [id = ""] = listIds(await page(here));
    expect(await page(here)).toContain("It is the only one: after that, a sign-in needs a link");
    const removed = await submit(here, `/passkeys/${id}/remove`);
    expect(removed.headers.location).toBe("/sessions?notice=none-left");
    expect((await here.open(at("/sessions?notice=none-left"))).text).toContain("svc login-link");
    expect([await isIn(here), await isIn(there), await isIn(owner)]).toEqual([true, false, true]);
    expect((await use(laptop)).reply.status).toBe(401);
    expect(await isIn(await signInByLink(await service.service.signInUrl()))).toBe(true);
  });

  test("has a name that cannot hide, and each person at most twenty", async () => {
    await add(owner, laptop, ` <b>\u202e${"x".repeat(80)}`);
    expect(await page(owner)).toContain(`<strong>&lt;b&gt; ${"x".repeat(56)}</strong>`);
    for (let count = 1; count < 20; count += 1) {
      expect((await add(owner, createAuthenticator(site), "")).status).toBe(303);
    }
    expect(await page(owner)).toContain("<strong>Unknown browser</strong>");
    expect((await add(owner, createAuthenticator(site))).status).toBe(409);
  });
});

describe("a sign-in is refused", () => {
  beforeAll(async () => {
    await start();
    await add(owner, laptop);
  });
  afterAll(() => service.close());
  afterEach(async () => {
    // It was not refused for another reason.
    expect((await use(laptop)).reply.status).toBe(303);
  });

  test.each<[string, Lies]>([
    ["of the page of another origin", { origin: "http://localhost:1" }],
    ["of a page over https", { origin: "https://localhost" }],
    ["for another host name", { rpId: "evil.example" }],
    ["without a check of the person", { flags: 1 }],
    ["without a touch", { flags: 4 }],
    ["with the answer of another question", { type: "webauthn.create" }],
    ["with a challenge that is none of ours", { challenge: Buffer.from("99999999999999.a.b").toString("base64url") }],
    ["with a challenge that is empty", { challenge: "" }],
  ])("%s", async (_what, lies) => {
    const { reply, who } = await use(laptop, openBrowser(), lies);
    expect([reply.status, await isIn(who)]).toEqual([401, false]);
    expect(reply.text).toContain("svc login-link");
  });

  test("whose counter has not grown, as that of a copy", async () => {
    const copy = createAuthenticator(site);
    await add(owner, copy, "Copied");
    expect((await use(copy, openBrowser(), { counter: 7 })).reply.status).toBe(303);
    for (const counter of [7, 6, 0]) {
      expect((await use(copy, openBrowser(), { counter })).reply.status, String(counter)).toBe(401);
    }
    expect((await use(copy, openBrowser(), { counter: 8 })).reply.status).toBe(303);
  });

  test("that is sent a second time", async () => {
    const who = openBrowser();
    const answer = laptop.get(await beginSignIn(who));
    const cookies = new Map(who.cookies);
    expect((await send(who, answer)).status).toBe(303);
    for (const [name, value] of cookies) who.cookies.set(name, value);
    expect((await send(who, answer)).status).toBe(401);
  });

  test("whose challenge was spent, also with a counter that grows", async () => {
    const who = openBrowser();
    const options = await beginSignIn(who);
    const cookies = new Map(who.cookies);
    const replies = await Promise.all([1, 2, 3].map(() => send(who, laptop.get(options))));
    expect(replies.filter(({ status }) => status === 303)).toHaveLength(1);
    for (const [name, value] of cookies) who.cookies.set(name, value);
    expect((await send(who, laptop.get(options))).status).toBe(401);
  });

  test("in another browser than the one that asked", async () => {
    const answer = laptop.get(await beginSignIn(openBrowser()));
    const other = openBrowser();
    await beginSignIn(other);
    expect([(await send(other, answer)).status, (await send(openBrowser(), answer)).status]).toEqual([401, 401]);
  });

  test("after five minutes", async () => {
    const who = openBrowser();
    const answer = laptop.get(await beginSignIn(who));
    now += 5 * MINUTE;
    expect((await send(who, answer)).status).toBe(401);
  });

  test("by the challenge of an addition", async () => {
    const who = openBrowser();
    await beginSignIn(who);
    const { challenge } = await beginAdding(owner);
    const second = await signInByLink(await service.service.signInUrl());
    const sessions = [...(await page(second)).matchAll(/\/sessions\/(ses_\w+)\/end/g)].map(([, id = ""]) => id);
    expect(sessions.length).toBeGreaterThan(0);
    for (const id of sessions) {
      who.cookies.set("svc_passkey", id);
      expect((await send(who, laptop.get({ challenge, rpId: "localhost" }))).status).toBe(401);
    }
    expect((await send(who, laptop.get({ challenge, rpId: "localhost" }))).status).toBe(401);
  });

  test.each(["", "{}", "[]", "null", `{"id":"${"x".repeat(9000)}"}`])(
    "with an answer that is none: %.20s",
    async (answer) => {
      const who = openBrowser();
      await beginSignIn(who);
      expect((await send(who, answer)).status).toBe(401);
    },
  );
});

describe("a passkey is not added", () => {
  beforeAll(start);
  afterAll(() => service.close());
  beforeEach(() => {
    laptop = createAuthenticator(site);
  });

  test.each<[string, Lies]>([
    ["of the page of another origin", { origin: "http://localhost:1" }],
    ["for another host name", { rpId: "evil.example" }],
    ["without a check of the person", { flags: 1 }],
    ["with a statement of its maker, which names addresses", { format: "packed" }],
    ["with the answer of another question", { type: "webauthn.get" }],
  ])("%s", async (_what, lies) => {
    expect((await add(owner, laptop, "Laptop", lies)).status).toBe(400);
    expect(listIds(await page(owner))).toEqual([]);
  });

  test("by the challenge of another signed-in browser, a second time, or after five minutes", async () => {
    const ada = await signInByLink(await invite(owner, site, "Ada"));
    const options = await beginAdding(owner);
    const answer = laptop.create(options);
    expect((await submit(ada, "/passkeys", { answer })).status).toBe(400);
    expect((await submit(owner, "/passkeys", { answer })).status).toBe(303);
    expect((await submit(owner, "/passkeys", { answer: createAuthenticator(site).create(options) })).status).toBe(400);
    const late = createAuthenticator(site).create(await beginAdding(owner));
    now += 5 * MINUTE;
    expect((await submit(owner, "/passkeys", { answer: late })).status).toBe(400);
    expect([listIds(await page(owner)).length, listIds(await page(ada)).length]).toEqual([1, 0]);
  });

  test("when somebody has it already", async () => {
    const ada = await signInByLink(await invite(owner, site, "Eve"));
    await add(owner, laptop);
    expect((await add(ada, laptop)).status).toBe(400);
  });
});

describe("where browsers have no passkeys", () => {
  beforeAll(start);
  afterAll(() => service.close());

  test("the page says why, and what to do", async () => {
    const browser = openBrowser();
    await browser.open(await service.service.signInUrl());
    const { text } = await browser.open(`${service.url}/sessions`);
    const { host, port } = new URL(service.url);
    expect(text).toContain(`Browsers offer no passkeys at ${host}: open http://localhost:${port} in its place`);
    expect(text).not.toContain("data-passkey");
    expect((await browser.submit(`${service.url}/sign-in/passkey/start`, {}, JSON_ONLY)).status).toBe(409);
  });

  test.each([
    ["http://svc.example.org", 409, undefined],
    ["https://192.0.2.1", 409, undefined],
    ["https://svc.example.org", 200, "svc.example.org"],
    ["https://svc.example.org:8443", 200, "svc.example.org"],
  ])("a service at %s answers %i", async (publicUrl, status, rpId) => {
    const port = await findFreePort();
    const other = await startTestService({ integrations: [], publicUrl, port });
    try {
      const headers = { ...JSON_ONLY, host: new URL(publicUrl).host };
      const reply = await call(`http://127.0.0.1:${port}/sign-in/passkey/start`, { method: "POST", headers });
      expect([reply.status, reply.json.rpId]).toEqual([status, rpId]);
      if (status === 200) expect(String(reply.headers["set-cookie"])).toMatch(/^__Host-svc_passkey=.*Secure.*Strict/i);
    } finally {
      await other.close();
    }
  });
});

describe("signed-in browsers", () => {
  beforeAll(start);
  afterAll(() => service.close());

  test("all other browsers of a person are signed out at once, and nobody else's", async () => {
    await add(owner, laptop);
    const [second, third] = [(await use(laptop)).who, await signInByLink(await service.service.signInUrl())];
    const ada = await signInByLink(await invite(owner, site, "Ada"));
    expect(await page(ada)).not.toContain("Sign out all others");
    expect(await page(second)).toContain("Sign out all others");
    expect((await submit(second, "/sessions/end")).headers.location).toBe("/sessions?notice=others");
    expect([await isIn(second), await isIn(owner), await isIn(third), await isIn(ada)]).toEqual([
      true,
      false,
      false,
      true,
    ]);
  });
});
