import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { answerEndlessly, answerJson, type HostileWorld, openWorld, redirectTo } from "./hostile-world.ts";
import { openSignIns, refusal } from "./open-sign-ins.ts";

/** What an endpoint for tokens can answer, at the sign-in and when a token is renewed. */

const APP = "good-app.example";
const LOGIN = "good.example";
const AT = `https://${LOGIN}`;

let world: HostileWorld;
let signIns: Awaited<ReturnType<typeof openSignIns>>;
let allowed: string[];

beforeEach(async () => {
  allowed = [APP, LOGIN];
  world = await openWorld();
  signIns = await openSignIns();
  world.addServer(APP, LOGIN);
  world.addProvider(LOGIN);
});
afterEach(async () => {
  expect(world.listStrays(allowed)).toEqual([]);
  expect(world.listLeaks()).toEqual([]);
  await signIns.close();
  await world.close();
});

/** Signs in, with these members in the answer. */
async function signIn(more: object = {}, signInId?: string) {
  world.on(`${LOGIN}/token`, world.tokens(LOGIN, more));
  return comeBack(signInId);
}

async function comeBack(signInId?: string) {
  const page = await signIns.findPage(APP, {}, signInId);
  const state = page.searchParams.get("state") ?? "";
  const end = await signIns.finish({ code: world.give("code", LOGIN), state, iss: AT });
  return "problem" in end ? end.problem : end.signInId;
}

const provide = async (id: string) => (await signIns.provide(APP, id)).settings.token;
const hour = 3_600_000;

/** An ID token of this provider for us, unless it says otherwise. */
function idToken(claims: object = {}): string {
  const seconds = Math.floor(Date.now() / 1000);
  const own = { iss: AT, aud: `client-of-${LOGIN}`, sub: "ada", iat: seconds, exp: seconds + 60, ...claims };
  return [{ alg: "RS256" }, own, {}].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
}

const UNREADABLE = "The sign-in provider of App gave an answer that cannot be read: ";
test.each<[string, Parameters<HostileWorld["on"]>[1], unknown]>([
  [
    "refuses with status 200",
    { error: "bad_verification_code" },
    "App: The sign-in has ended or was withdrawn: (bad_verification_code)",
  ],
  [
    "refuses with an error that is no text",
    (response) => answerJson(response, { error: { code: 190, message: "Old\u001b[31m code" } }, 400),
    "App: The sign-in has ended or was withdrawn: Old [31m code (invalid_grant)",
  ],
  ["leads elsewhere", redirectTo("https://evil.example/token"), `${UNREADABLE}it redirects to another address`],
  ["leads inside", redirectTo("https://10.0.0.7/token"), `${UNREADABLE}it redirects to another address`],
  ["never ends", answerEndlessly, `${UNREADABLE}more than 262144 bytes`],
  ["is a page", (response) => response.end("<html>"), expect.stringContaining(UNREADABLE)],
  ["is a list", [], expect.stringContaining(UNREADABLE)],
  ["is nothing", (response) => response.writeHead(204).end(), expect.stringContaining(UNREADABLE)],
  ["breaks off", (response) => response.destroy(), "The sign-in provider of App gave no answer: good.example"],
  ["is down", (response) => answerJson(response, {}, 503), "The sign-in provider of App answered 503."],
])("a sign-in whose answer %s ends with these words", async (_what, route, problem) => {
  world.on(`${LOGIN}/token`, route);
  expect(await comeBack()).toEqual(problem);
  expect(await signIns.store.selectFrom("sign_ins").selectAll().execute()).toEqual([]);
});

const CHARACTERS = `${UNREADABLE}its token is too long, or has characters that no request can carry`;
test.each<[string, object, string]>([
  ["a giant token", { access_token: "a".repeat(200_000) }, CHARACTERS],
  ["a token that ends a header", { access_token: "a\r\nx-evil: 1" }, CHARACTERS],
  ["a token that ends a field of a mail login", { access_token: "a\u0001auth=Bearer b" }, CHARACTERS],
  ["a giant refresh token", { refresh_token: "r".repeat(200_000) }, CHARACTERS],
  ["an empty token", { access_token: "" }, expect.stringContaining(UNREADABLE)],
  [
    "a token for whoever has a key",
    { token_type: "DPoP" },
    `${UNREADABLE}its token is of the type "dpop", which is not supported`,
  ],
  ["a token with a MAC", { token_type: "mac" }, expect.stringContaining(UNREADABLE)],
  [
    "an ID token for another client",
    { id_token: idToken({ aud: "client-of-evil.example" }) },
    expect.stringContaining('JWT "aud"'),
  ],
  [
    "an ID token of another provider",
    { id_token: idToken({ iss: "https://evil.example" }) },
    expect.stringContaining('JWT "iss"'),
  ],
  ["an old ID token", { id_token: idToken({ iat: 1, exp: 2 }) }, expect.stringContaining('JWT "exp"')],
  ["an ID token that is none", { id_token: "x.y" }, expect.stringContaining(UNREADABLE)],
])("%s is refused", async (_what, more, problem) => {
  expect(await signIn(more)).toEqual(problem);
});

test.each<[string, object]>([
  ["a type of its own", { token_type: "bot" }],
  ["no type", { token_type: undefined }],
  ["a lifetime as text", { expires_in: "3600" }],
  ["a lifetime below zero", { expires_in: -5 }],
  ["a lifetime without an end", { expires_in: 1e99 }],
  ["scopes that are a list", { scope: ["read"] }],
  [
    "an ID token by a clock ten minutes behind",
    { id_token: idToken({ iat: Date.now() / 1000 - 660, exp: Date.now() / 1000 - 600 }) },
  ],
  [
    "an ID token by a clock ten minutes ahead",
    { id_token: idToken({ iat: Date.now() / 1000 + 600, exp: Date.now() / 1000 + 660 }) },
  ],
])("an answer with %s is understood", async (_what, more) => {
  const id = await signIn(more);
  expect(await provide(id)).toMatch(/^access~good\.example~\d+$/);
});

test("an answer in form fields is understood", async () => {
  world.on(`${LOGIN}/token`, (response) => response.end("access_token=a%2Bb&scope=read&token_type=bearer"));
  expect(await provide(await comeBack())).toBe("a+b");
});

test("an error that repeats what we sent does not show it", async () => {
  world.on(`${LOGIN}/token`, (response, { body, form }) =>
    answerJson(response, { error: "invalid_grant", error_description: `No: ${form.code_verifier} ${body}` }, 400),
  );
  expect(await comeBack()).not.toMatch(/[\w-]{43}|secret~/);
});

test("a renewal that comes with another account ends the sign-in and says so; its tokens are not used", async () => {
  const id = await signIn({ id_token: idToken() });
  world.on(`${LOGIN}/token`, world.tokens(LOGIN, { id_token: idToken({ sub: "eve" }) }));
  signIns.clock.now += hour;
  const ended = "401 needs_reauth: App: The provider answered with another account.";
  expect(await refusal(signIns.provide(APP, id))).toBe(ended);
  expect(await refusal(signIns.provide(APP, id))).toBe(ended);
  expect(world.asked(LOGIN, "/token")).toHaveLength(2);
  const facts = await signIns.accessTokens.describe({ signInId: id });
  expect(facts?.ended).toBe("App: The provider answered with another account.");
});

test("a reconnect as another account is refused by name, and what it got is given back", async () => {
  const id = await signIn({ id_token: idToken({ email: "ada@good.example" }) });
  const end = await signIn({ id_token: idToken({ sub: "eve", email: "eve@good.example" }) }, id);
  expect(end).toMatch(/^You signed in to App as eve@good\.example, and this connection belongs to ada@good\.example\./);
  expect(world.asked(LOGIN, "/revoke").map(({ form }) => form.token)).toEqual([expect.stringMatching(/^refresh~/)]);
  expect(await provide(id)).toMatch(/^access~/);
});

test("scopes that the app asked for are asked for at every later sign-in", async () => {
  const scopeOf = async (id: string) =>
    (await signIns.findPage(APP, { scopes: ["read"] }, id)).searchParams.get("scope");
  const first = await signIn();
  await signIns.accessTokens.askForScopes({ signInId: first }, ["write"]);
  const second = await signIn({}, first);
  await signIns.accessTokens.askForScopes({ signInId: second }, ["delete"]);
  expect(await scopeOf(second)).toBe("read write delete");
});

test("a client that its provider forgot is registered again, and one of the same id elsewhere stays", async () => {
  allowed.push("twin-app.example", "twin.example");
  world.addServer("twin-app.example", "twin.example");
  world.addProvider("twin.example");
  world.on("twin.example/register", (response) => answerJson(response, { client_id: `client-of-${LOGIN}` }, 201));
  await signIns.findPage("twin-app.example");
  const id = await signIn();
  world.on(`${LOGIN}/token`, (response) => answerJson(response, { error: "invalid_client" }, 401));
  signIns.clock.now += hour;
  expect(await refusal(signIns.provide(APP, id))).toMatch(
    /^401 needs_reauth: App: The sign-in provider refused the client/,
  );
  expect(await signIns.store.selectFrom("provider_clients").selectAll().execute()).toHaveLength(1);
  await signIn({}, id);
  expect(world.asked(LOGIN, "/register")).toHaveLength(2);
});

test("a sign-in that is removed while its token is renewed is withdrawn with the newest token", async () => {
  const id = await signIn();
  const held = Promise.withResolvers<void>();
  world.on(`${LOGIN}/token`, async (response) => {
    await held.promise;
    answerJson(response, world.tokens(LOGIN));
  });
  signIns.clock.now += hour;
  const renewal = provide(id);
  await expect.poll(() => world.asked(LOGIN, "/token").length).toBe(2);
  const removal = signIns.accessTokens.forget({ signInId: id }, []);
  held.resolve();
  const [, newest] = /~(\d+)$/.exec(String(await renewal)) ?? [];
  await removal;
  expect(world.asked(LOGIN, "/revoke")[0]?.form.token).toBe(`refresh~${LOGIN}~${Number(newest) + 1}`);
  expect(await signIns.store.selectFrom("sign_ins").selectAll().execute()).toEqual([]);
});

test("1,000 calls that wait for a provider which is down are told so; one request at a time, and they go on when it is back", async () => {
  const id = await signIn();
  signIns.clock.now += hour;
  let inFlight = 0;
  let most = 0;
  const held = Promise.withResolvers<void>();
  const busy = async () => {
    inFlight += 1;
    most = Math.max(most, inFlight);
    await held.promise;
    inFlight -= 1;
  };
  world.on(`${LOGIN}/token`, async (response) => {
    await busy();
    answerJson(response, {}, 503);
  });
  const callAll = () => Promise.all(Array.from({ length: 1_000 }, () => refusal(signIns.provide(APP, id))));
  const down = callAll();
  await expect.poll(() => inFlight).toBe(1);
  await nextTurn();
  held.resolve();
  const said = "503 provider_unavailable: The sign-in provider of App answered 503.";
  expect(new Set(await down)).toEqual(new Set([said]));
  expect(most).toBe(1);
  const before = world.asked(LOGIN, "/token").length;
  world.on(`${LOGIN}/token`, world.tokens(LOGIN));
  expect(new Set(await callAll())).toEqual(new Set([expect.stringMatching(/^not refused: .*access~/)]));
  expect(world.asked(LOGIN, "/token").length).toBe(before + 1);
});

test.each([-600_000, 600_000])("a clock that is put %i ms off loses no sign-in", async (by) => {
  const id = await signIn();
  signIns.clock.now += by;
  expect(await provide(id)).toMatch(/^access~/);
  world.on(`${LOGIN}/token`, (response) => answerJson(response, world.tokens(LOGIN)));
  signIns.clock.now += hour;
  const { settings, renew } = await signIns.provide(APP, id);
  // Refused by the app, whose clock is another one.
  expect((await renew())?.token).not.toBe(settings.token);
});
