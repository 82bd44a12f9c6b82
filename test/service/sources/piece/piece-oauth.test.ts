import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { readStored } from "../../find-store.ts";
import { startTokenServer, type TokenServer } from "../../grants/kit/start-token-server.ts";
import { type Browser, openBrowser, readCsrf } from "../../pages/browser.ts";
import { openPieces } from "./open-piece.ts";

const FIXTURE = fileURLToPath(new URL("../../../fixtures/pieces/letter", import.meta.url));

let opened: Awaited<ReturnType<typeof openPieces>>;
let provider: TokenServer;
let browser: Browser;
let notes: readonly string[];

beforeAll(async () => {
  opened = await openPieces([FIXTURE], []);
  provider = await startTokenServer();
  const origin = (url: string) => new URL(url).origin;
  const hosts = { "api.letter.test": origin(opened.api.url), "main.letter.test": origin(provider.url) };
  const prepared = await opened.prepare("letter", { hosts, isPrivate: true });
  notes = prepared.notes;
  await opened.desk.add(prepared.source);
  await vi.waitUntil(async () => (await opened.listTools("letter")).length > 0, { timeout: 30_000, interval: 100 });
  browser = openBrowser();
  await browser.open(await opened.service.service.signInUrl());
}, 180_000);

beforeEach(() => {
  opened.api.seen.length = 0;
  provider.seen.length = 0;
});

afterAll(async () => {
  await opened?.close();
  await provider?.close();
});

const comeBack = (query: Record<string, string>) =>
  `${opened.service.url}/signed-in?${new URLSearchParams(query).toString()}`;

/** The page that a browser is led to. */
function findPage({ text }: { readonly text: string }): URL {
  const [, href = ""] = /href="([^"]+)" rel="noreferrer"/.exec(text) ?? [];
  return new URL(href.replaceAll("&amp;", "&"));
}

async function connect({ "sign-in": signIn, ...fields }: Record<string, string>, path = "/connect/letter") {
  const url = `${opened.service.url}${path}`;
  const csrf = readCsrf(await browser.open(url));
  const typed = Object.entries({ office: "main", ...fields }).map(([name, value]) => [`set.${name}`, value] as const);
  const button = signIn === undefined ? {} : { "sign-in": signIn };
  return browser.submit(url, { csrf, label: "Letters", ...button, ...Object.fromEntries(typed) });
}

const CLIENT = { client_id: "letter-client", client_secret: "letter's secret" };
const listStates = async () => (await opened.service.service.connections.list("letter")).map(({ state }) => state);

test("its owner is told where his secrets go, and asked for his own app's", async () => {
  expect(notes).toContainEqual(
    expect.stringContaining("Client secret and refresh token are sent to office.letter.test;"),
  );
  const source = await opened.desk.find("letter");
  expect(source?.content.settingsForm.map(({ name, kind, optional }) => [name, kind, optional ?? false])).toEqual([
    ["client_id", "text", true],
    ["client_secret", "secret", true],
    ["refresh_token", "secret", true],
    ["access_token", "secret", true],
    ["office", "text", false],
  ]);
});

test("what is missing is named at its field, and a refresh token nobody knows is refused", async () => {
  expect((await connect(CLIENT)).text).toMatch(/id="set-refresh_token-problem">Letter needs a refresh token/);
  expect((await connect({ refresh_token: "x" })).text).toMatch(
    /id="set-client_id-problem">Letter needs the client id of your app/,
  );
  const unknown = await connect({ ...CLIENT, refresh_token: "refresh-of-nobody" });
  expect(unknown.text).toMatch(/id="set-refresh_token-problem">Letter: The sign-in has ended/);
  expect(unknown.text).not.toContain("refresh-of-nobody");
  expect((await connect({ ...CLIENT, refresh_token: "x", office: "a b" })).text).toContain("cannot make an address");
});

test("a token that the piece refuses is renewed once more, then refused in its words", async () => {
  opened.api.answer({ status: 401, body: "Bad token." }, { status: 401, body: "Bad token." });
  const answer = await connect({ ...CLIENT, refresh_token: "refresh-0" });
  expect(answer.text).toMatch(/-problem">Letter: It was refused: Failed to GET: Bad token\./);
  expect(opened.api.seen.map(({ headers }) => headers.authorization)).toEqual(["Bearer access-1", "Bearer access-2"]);
  expect(await listStates()).toEqual([]);
});

test("the piece gets the access token and what came with it, and neither refresh token nor client secret", async () => {
  expect((await connect({ ...CLIENT, refresh_token: "refresh-0" })).headers.location).toBe(
    "/connections?notice=connected",
  );
  expect(provider.seen).toEqual([]);
  // Before the piece is asked: what it answers is in the log.
  expect(await readStored(opened.service.dataDir)).not.toMatch(/letter's secret|refresh-\d|access-\d/);
  // Answers show no token; that it is the right one is what the API sees in the next test.
  expect((await opened.call("letter_tell")).body.result).toEqual({
    type: "OAUTH2",
    access_token: "[hidden]",
    props: { office: "main" },
    data: { token_type: "Bearer", team: "blue" },
  });
  expect((await opened.call("letter_leak")).body.error.message).toBe("Letter: *** of blue");
});

test("a refused token is renewed once and the call repeated, a write too; the client proves itself in the header", async () => {
  opened.api.answer({ status: 401 }, { body: "[]" });
  expect((await opened.call("letter_list")).status).toBe(200);
  opened.api.answer({ status: 401 }, { body: "{}" });
  expect((await opened.write("letter_post")).status).toBe(200);
  expect(opened.api.seen.map(({ method, headers }) => `${method} ${headers.authorization}`)).toEqual([
    "GET Bearer access-2",
    "GET Bearer access-3",
    "POST Bearer access-3",
    "POST Bearer access-4",
  ]);
  expect(provider.seen).toEqual([
    { params: { grant_type: "refresh_token", refresh_token: "refresh-2" }, authorization: expect.any(String) },
    { params: { grant_type: "refresh_token", refresh_token: "refresh-3" }, authorization: expect.any(String) },
  ]);
});

test("a token that is refused again asks the owner to sign in", async () => {
  opened.api.answer({ status: 401 }, { status: 401 });
  expect((await opened.call("letter_list")).body.error).toMatchObject({ code: "needs_reauth" });
  expect(opened.api.seen).toHaveLength(2);
  expect(await listStates()).toEqual(["reauth_required"]);
  const [connection] = await opened.service.service.connections.list("letter");
  await opened.service.service.connections.update(connection?.id ?? "", { state: "healthy" });
});

test("an access token that was pasted is used as it is", async () => {
  opened.api.answer({ body: "{}" });
  expect((await connect({ access_token: "pasted-token" })).headers.location).toBe("/connections?notice=connected");
  expect(opened.api.seen[0]?.headers.authorization).toBe("Bearer pasted-token");
  expect(provider.seen).toEqual([]);
});

test("the owner signs in on the provider's page, which is asked for what the piece needs, and comes back connected", async () => {
  const begun = await connect({ ...CLIENT, "sign-in": "yes" });
  expect(begun.status).toBe(200);
  const url = findPage(begun);
  expect(`${url.origin}${url.pathname}`).toBe("https://main.letter.test/authorize");
  expect(Object.fromEntries(url.searchParams)).toEqual({
    tone: "kind",
    scope: "letters.read letters.post",
    prompt: "consent",
    access_type: "offline",
    response_type: "code",
    client_id: "letter-client",
    redirect_uri: `${opened.service.url}/signed-in`,
    state: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge_method: "S256",
  });
  expect(await readStored(opened.service.dataDir)).not.toContain("letter's secret");

  const state = url.searchParams.get("state") ?? "";
  provider.codes.add("code-1");
  const stranger = openBrowser();
  expect((await stranger.open(comeBack({ state, code: "code-1" }))).status).toBe(401);
  const back = await browser.open(comeBack({ state, code: "code-1" }));
  expect([back.status, back.headers.location]).toEqual([303, "/connections?notice=connected"]);
  const [{ params, authorization } = { params: {}, authorization: "" }] = provider.seen;
  expect(params).toEqual({
    grant_type: "authorization_code",
    code: "code-1",
    redirect_uri: `${opened.service.url}/signed-in`,
    code_verifier: expect.any(String),
  });
  expect(authorization).toMatch(/^Basic /);
  const verifier = "code_verifier" in params ? String(params.code_verifier) : "";
  expect(createHash("sha256").update(verifier).digest("base64url")).toBe(url.searchParams.get("code_challenge"));

  // What came back is used, and renewed later.
  const [connection] = (await opened.service.service.connections.list("letter")).slice(-1);
  const call = () => opened.call("letter_list", {}, { connectionId: connection?.id });
  opened.api.answer({ body: "[]" }, { status: 401 }, { body: "[]" });
  expect([(await call()).status, (await call()).status]).toEqual([200, 200]);
  expect(provider.seen).toHaveLength(2);
  const again = await browser.open(comeBack({ state, code: "code-1" }));
  expect([again.status, again.text.includes("was not begun in this browser")]).toEqual([409, true]);
});

test("a sign-in of another browser, a refusal and a wrong code connect nothing", async () => {
  const count = (await listStates()).length;
  const begin = async () => findPage(await connect({ ...CLIENT, "sign-in": "yes" })).searchParams.get("state") ?? "";
  const other = openBrowser();
  await other.open(await opened.service.service.signInUrl());
  provider.codes.add("code-2");
  expect((await other.open(comeBack({ state: await begin(), code: "code-2" }))).status).toBe(409);
  const denied = { error: "access_denied", error_description: "\u001b[31mNot today.<b>" };
  const refused = await browser.open(comeBack({ state: await begin(), ...denied }));
  expect([refused.status, refused.text.includes("The provider refused: [31mNot today.&lt;b&gt;")]).toEqual([400, true]);
  const wrong = await browser.open(comeBack({ state: await begin(), code: "code-of-nobody" }));
  expect(wrong.text).toContain("The sign-in has ended or was withdrawn");
  expect(wrong.text).not.toContain("code-of-nobody");
  expect((await connect({ "sign-in": "yes" })).text).toMatch(/id="set-client_id-problem">Letter needs the client id/);
  expect(await listStates()).toHaveLength(count);
});

test("a connection is signed in again and stays the same", async () => {
  const [connection] = await opened.service.service.connections.list("letter");
  const path = `/connections/${connection?.id}/reconnect`;
  const state = findPage(await connect({ "sign-in": "yes", client_id: "letter-client" }, path)).searchParams.get(
    "state",
  );
  provider.codes.add("code-3");
  const back = await browser.open(comeBack({ state: state ?? "", code: "code-3" }));
  expect(back.headers.location).toBe(`/connections/${connection?.id}?notice=reconnected`);
  opened.api.answer({ body: "[]" });
  const answer = await opened.call("letter_list", {}, { connectionId: connection?.id });
  expect(answer.status).toBe(200);
  expect(opened.api.seen.at(-1)?.headers.authorization).toBe(`Bearer access-${provider.refreshToken().slice(8)}`);
});

test("with its connection the tokens are gone, too", async () => {
  const csrf = readCsrf(await browser.open(`${opened.service.url}/connections`));
  for (const { id } of await opened.service.service.connections.list("letter")) {
    await browser.submit(`${opened.service.url}/connections/${id}/disconnect`, { csrf });
  }
  const answer = await connect({ ...CLIENT, refresh_token: "refresh-0" });
  expect(answer.text).toContain("The sign-in has ended");
});
