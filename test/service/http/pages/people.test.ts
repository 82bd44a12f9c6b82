import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { describeBrowser } from "../../../../src/service/auth/describe-browser.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { call, execute } from "../../http-calls.ts";
import { createLab } from "../../lab-integration.ts";
import { type Browser, invite, openBrowser, readCsrf, readInvitation } from "./browser.ts";

const HOUR = 60 * 60_000;
const PHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 Version/18.5 Safari/604.1";

let service: TestService;
let now: number;
let owner: Browser;

beforeEach(async () => {
  now = Date.parse("2026-03-04T10:00:00Z");
  const { integration } = createLab();
  service = await startTestService({ integrations: [integration], approvals: "owner", now: () => now });
  await service.service.connections.add({ integration: "lab", label: "First", settings: {} });
  owner = await signIn(await service.service.signInUrl());
});
afterEach(() => service.close());

async function signIn(link: string, headers: Record<string, string> = {}): Promise<Browser> {
  const browser = openBrowser();
  await browser.open(link, headers);
  return browser;
}

const at = (path: string) => `${service.url}${path}`;
const open = (who: Browser, path: string) => who.open(at(path));
/** Sends a form with the CSRF token of a page. */
const submit = async (who: Browser, path: string, fields: Record<string, string> = {}) =>
  who.submit(at(path), { csrf: readCsrf(await open(who, "/sessions")), ...fields });

const idOf = async (name: string) =>
  new RegExp(`/people/(per_\\w+)">${name}<`).exec((await open(owner, "/people")).text)?.[1] ?? "";

/** Invites somebody; their id and link. */
async function add(name: string, role?: string) {
  const link = await invite(owner, service.url, name, role);
  return { id: await idOf(name), link };
}

const put = async (title: string) =>
  (await execute(service, "lab_put", { arguments: { title } })).json.error.approval.id as string;

async function decide(who: Browser, id: string, decision = "approve") {
  const fingerprint = /name="fingerprint" value="([^"]+)"/.exec((await open(who, `/inbox/${id}`)).text)?.[1] ?? "";
  return submit(who, `/inbox/${id}`, { fingerprint, decision });
}

describe("an invitation", () => {
  test("signs in one browser, which decides under its name and sees no more than the inbox and the log", async () => {
    const { link } = await add("Ada <b>Lovelace</b>");
    expect((await call(link)).text).toContain("Sign in as Ada &lt;b&gt;Lovelace&lt;/b&gt;?");
    const ada = await signIn(link);
    expect((await openBrowser().open(link)).status).toBe(410);

    const home = (await open(ada, "/")).text;
    expect(home).toContain('href="/inbox"');
    for (const path of ["/devices", "/connections", "/rules", "/flows", "/people"]) {
      expect(home, path).not.toContain(`href="${path}"`);
      const refused = await open(ada, path);
      expect([path, refused.status]).toEqual([path, 403]);
      expect(refused.text).toContain("Only an owner of this service may do this.");
    }
    const id = await put("Milk");
    expect((await open(ada, "/")).text).toContain(`/inbox/${id}`);
    expect((await decide(ada, id, "always")).status).toBe(403);
    expect((await decide(ada, id)).headers.location).toContain("notice=approved");
    expect((await open(owner, `/inbox/${id}`)).text).toContain("by Ada &lt;b&gt;Lovelace&lt;/b&gt;");
  });

  test("works for a day, and a new one takes its place", async () => {
    const { id, link } = await add("Ada");
    now += 24 * HOUR - 1;
    expect((await call(link)).status).toBe(200);
    now += 1;
    expect((await openBrowser().open(link)).status).toBe(410);
    const [second = "", third = ""] = [
      readInvitation(await submit(owner, `/people/${id}/link`)),
      readInvitation(await submit(owner, `/people/${id}/link`)),
    ];
    expect((await openBrowser().open(second)).status).toBe(410);
    expect((await openBrowser().open(third)).status).toBe(303);
    expect(third).not.toBe(second);
  });

  test.each([
    [400, "no name", { name: " \u202e ", role: "approver" }, "needs a name"],
    [409, "the name of somebody else", { name: "oWNER", role: "approver" }, "is there already"],
    [400, "no role", { name: "Ada", role: "king" }, "must be owner or approver"],
  ])("needs a name and a role: %i, %s", async (status, _what, fields, message) => {
    const refused = await submit(owner, "/people", fields);
    expect([refused.status, readInvitation(refused)]).toEqual([status, ""]);
    expect(refused.text).toContain(message);
  });
});

describe("roles", () => {
  test("a change counts at once, in both directions", async () => {
    const { id, link } = await add("Ada");
    const ada = await signIn(link);
    expect((await open(ada, "/people")).status).toBe(403);
    await submit(owner, `/people/${id}`, { name: "Ada", role: "owner" });
    expect((await open(ada, "/people")).status).toBe(200);
    const first = await idOf("Owner");
    await submit(ada, `/people/${first}`, { name: "Ben", role: "approver" });
    const kept = await submit(owner, "/people", { name: "Eve", role: "owner" });
    expect([kept.status, (await open(owner, "/devices")).status, (await open(owner, "/inbox")).status]).toEqual([
      403, 403, 200,
    ]);
    const id2 = await put("Milk");
    await decide(owner, id2);
    expect((await open(ada, `/inbox/${id2}`)).text).toContain("by Ben");
  });

  test("an owner who has signed in is always left", async () => {
    const first = await idOf("Owner");
    const { id, link } = await add("Ada", "owner");
    const demote = () => submit(owner, `/people/${first}`, { name: "Owner", role: "approver" });
    const remove = () => submit(owner, `/people/${first}/remove`);
    expect((await demote()).text).toContain("Owner is the only owner who has signed in.");
    expect((await remove()).text).toContain("Make somebody else an owner first.");
    const ada = await signIn(link);
    const replies = await Promise.all([remove(), submit(ada, `/people/${id}/remove`)]);
    expect(replies.map(({ status }) => status).sort()).not.toEqual([303, 303]);
    const left = await Promise.all([owner, ada].map(async (who) => (await open(who, "/people")).status));
    expect(left.sort()).toEqual([200, 401]);
    expect((await (await signIn(await service.service.signInUrl())).open(at("/people"))).status).toBe(200);
  });
});

test("whoever is removed is signed out everywhere, has a dead link, and stays in the log", async () => {
  const { id, link } = await add("Ada");
  const ada = await signIn(link);
  const phone = await signIn(readInvitation(await submit(owner, `/people/${id}/link`)), { "user-agent": PHONE });
  const unused = readInvitation(await submit(owner, `/people/${id}/link`));
  const approval = await put("Milk");
  await decide(ada, approval);
  const csrf = readCsrf(await open(ada, "/sessions"));
  expect((await submit(owner, `/people/${id}/remove`)).headers.location).toBe("/people?notice=removed");
  expect([(await open(ada, "/inbox")).status, (await open(phone, "/inbox")).status]).toEqual([401, 401]);
  expect((await ada.submit(at(`/inbox/${approval}`), { csrf, decision: "approve" })).status).toBe(403);
  expect((await openBrowser().open(unused)).status).toBe(410);
  expect((await open(owner, "/people")).text).not.toContain("Ada");
  expect((await open(owner, `/inbox/${approval}`)).text).toContain("by Ada");
  expect((await submit(owner, `/people/${id}/link`)).status).toBe(404);
  await add("Ada");
});

describe("signed-in browsers", () => {
  const listIds = (text: string) => [...text.matchAll(/\/sessions\/(ses_\w+)\/end/g)].map(([, id = ""]) => id);

  test("a person sees and ends their own, an owner everybody's", async () => {
    const { id, link } = await add("Ada");
    const ada = await signIn(link);
    now += HOUR;
    const phone = await signIn(readInvitation(await submit(owner, `/people/${id}/link`)), { "user-agent": PHONE });
    const seen = (await open(ada, "/sessions")).text;
    expect(seen).toContain("Safari on iPhone");
    const [phoneId = "", ...others] = listIds(seen);
    expect(others).toEqual([]);
    const [ownersId = ""] = listIds((await open(phone, "/sessions")).text);
    expect(ownersId).not.toBe(phoneId);

    const second = await signIn(await service.service.signInUrl());
    const [firstId = ""] = listIds((await open(second, "/sessions")).text);
    expect((await submit(ada, `/sessions/${firstId}/end`)).status).toBe(404);
    expect((await open(owner, "/inbox")).status).toBe(200);
    expect((await submit(ada, `/sessions/${phoneId}/end`)).headers.location).toBe("/sessions?notice=ended");
    expect((await open(phone, "/inbox")).status).toBe(401);

    expect(listIds((await open(owner, `/people/${id}`)).text)).toEqual([ownersId]);
    const ended = await submit(owner, `/sessions/${ownersId}/end`);
    expect(ended.headers.location).toBe(`/people/${id}?notice=ended`);
    expect((await open(ada, "/inbox")).status).toBe(401);
  });

  test("when one was last seen is told to the minute", async () => {
    const { id, link } = await add("Ada");
    const ada = await signIn(link);
    now += 30 * 60_000;
    await open(ada, "/inbox");
    now += 2 * 60_000;
    expect((await open(owner, `/people/${id}`)).text).toContain('last seen <time datetime="2026-03-04T10:30:00.000Z"');
  });

  test.each([
    ["Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Linux"],
    [
      "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0",
      "Edge on Windows",
    ],
    ["Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Chrome/140.0.0.0 Mobile Safari/537.36", "Chrome on Android"],
    [PHONE, "Safari on iPhone"],
    ["Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 HeadlessChrome/140.0.0.0 Safari/537.36", "Chrome on Linux"],
    ["Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/605.1.15 Version/18.0 Safari/605.1.15", "A WebKit browser on Linux"],
    [`curl/8.5\u202e${"x".repeat(100)}`, `curl/8.5 ${"x".repeat(51)}`],
    [undefined, "Unknown browser"],
  ])("%s", (userAgent, label) => {
    expect(describeBrowser(userAgent)).toBe(label);
  });
});
