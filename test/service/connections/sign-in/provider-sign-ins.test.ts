import { createHash } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { startMockApi } from "../../../apps/openapi/mock-api.ts";
import { readStored } from "../../find-store.ts";
import { type Browser, openBrowser, readCsrf } from "../../http/pages/browser.ts";
import { execute } from "../../http-calls.ts";
import { createLetterIntegration } from "./kit/letter-integration.ts";
import { startTokenServer, type TokenServer } from "./kit/start-token-server.ts";

/** An owner signs in on the page of a provider, for an integration that knows that page. */

const CLIENT = { "client-id": "letter-client", "client-secret": "letter's secret" };

let api: Awaited<ReturnType<typeof startMockApi>>;
let provider: TokenServer;
let service: TestService;
let browser: Browser;

beforeAll(async () => {
  api = await startMockApi();
  provider = await startTokenServer();
  service = await startTestService({
    integrations: [createLetterIntegration({ apiUrl: api.url, tokenUrl: provider.url })],
  });
  browser = openBrowser();
  await browser.open(await service.service.signInUrl());
});

beforeEach(() => {
  api.seen.length = 0;
  provider.seen.length = 0;
});

afterAll(async () => {
  await service?.close();
  await provider?.close();
  await api?.close();
});

const comeBack = (query: Record<string, string>) => `${service.url}/signed-in?${new URLSearchParams(query).toString()}`;

/** The page that a browser is led to. */
function findPage({ text }: { readonly text: string }): URL {
  const [, href = ""] = /href="([^"]+)" rel="noreferrer"/.exec(text) ?? [];
  return new URL(href.replaceAll("&amp;", "&"));
}

const readState = (page: { readonly text: string }) => findPage(page).searchParams.get("state") ?? "";

/** Sends the form of a connection, and the client that the owner registered when it is asked for. */
async function connect(fields: Record<string, string> = { box: "main" }, path = "/connect/letter") {
  const url = `${service.url}${path}`;
  const csrf = readCsrf(await browser.open(url));
  const typed = Object.entries(fields).map(([name, value]) => [`set.${name}`, value] as const);
  const page = await browser.submit(url, { csrf, label: "Letters", ...Object.fromEntries(typed) });
  const [, state] = /name="state" value="([^"]+)"/.exec(page.text) ?? [];
  if (state === undefined) return page;
  expect(page.text).toContain(`<code>${service.url}/signed-in</code>`);
  return browser.submit(`${service.url}/sign-in/client`, { csrf, state, ...CLIENT });
}

const listConnections = () => service.service.connections.list("letter");
const list = (connectionId: string | undefined) =>
  execute(service, "letter_list", { arguments: {}, ...(connectionId !== undefined && { connectionId }) });

test("the owner signs in on the provider's page, proves himself by PKCE, and comes back connected", async () => {
  const begun = await connect();
  expect(begun.status).toBe(200);
  const url = findPage(begun);
  expect(`${url.origin}${url.pathname}`).toBe("https://letter.test/authorize");
  expect(Object.fromEntries(url.searchParams)).toEqual({
    view: "small",
    scope: "letters.read",
    response_type: "code",
    client_id: "letter-client",
    redirect_uri: `${service.url}/signed-in`,
    state: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge_method: "S256",
  });
  expect(await readStored(service.dataDir)).not.toContain("letter's secret");
  const state = readState(begun);
  provider.codes.add("code-1");
  expect((await openBrowser().open(comeBack({ state, code: "code-1" }))).status).toBe(401);
  const back = await browser.open(comeBack({ state, code: "code-1" }));
  expect([back.status, back.headers.location]).toEqual([303, "/connections?notice=connected"]);
  const [{ params, authorization } = { params: {}, authorization: "" }] = provider.seen;
  expect(params).toEqual({
    grant_type: "authorization_code",
    code: "code-1",
    redirect_uri: `${service.url}/signed-in`,
    code_verifier: expect.any(String),
  });
  expect(authorization).toMatch(/^Basic /);
  const verifier = "code_verifier" in params ? String(params.code_verifier) : "";
  expect(createHash("sha256").update(verifier).digest("base64url")).toBe(url.searchParams.get("code_challenge"));

  // What came back is used, and renewed when the app refuses it.
  const [connection] = await listConnections();
  api.answer({ body: "[]" }, { status: 401 }, { body: "[]" });
  expect([(await list(connection?.id)).status, (await list(connection?.id)).status]).toEqual([200, 200]);
  expect(api.seen.map(({ headers }) => headers.authorization)).toEqual([
    "Bearer access-1",
    "Bearer access-1",
    "Bearer access-2",
  ]);
  expect(provider.seen).toHaveLength(2);
  expect(await readStored(service.dataDir)).not.toMatch(/letter's secret|refresh-\d|access-\d/);
  const again = await browser.open(comeBack({ state, code: "code-1" }));
  expect([again.status, again.text.includes("was not begun in this browser")]).toEqual([409, true]);
});

test("a sign-in of another browser, a refusal and a wrong code connect nothing", async () => {
  const before = await listConnections();
  const begin = async () => readState(await connect());
  const other = openBrowser();
  await other.open(await service.service.signInUrl());
  provider.codes.add("code-2");
  expect((await other.open(comeBack({ state: await begin(), code: "code-2" }))).status).toBe(409);
  const denied = { error: "access_denied", error_description: "\u001b[31mNot today.<b>" };
  const refused = await browser.open(comeBack({ state: await begin(), ...denied }));
  expect([
    refused.status,
    refused.text.includes("Letter: The sign-in has ended or was withdrawn: [31mNot today.&lt;b&gt;"),
  ]).toEqual([400, true]);
  const wrong = await browser.open(comeBack({ state: await begin(), code: "code-of-nobody" }));
  expect(wrong.text).toContain("The sign-in has ended or was withdrawn");
  expect(wrong.text).not.toContain("code-of-nobody");
  expect((await connect({})).text).toMatch(/id="set-box-problem">Letter needs the name of a box/);
  expect(await listConnections()).toEqual(before);
});

test("a connection is signed in again and stays the same", async () => {
  const [connection] = await listConnections();
  const path = `/connections/${connection?.id}/reconnect`;
  const state = readState(await connect({ box: "main" }, path));
  provider.codes.add("code-3");
  const back = await browser.open(comeBack({ state, code: "code-3" }));
  expect(back.headers.location).toBe(`/connections/${connection?.id}?notice=reconnected`);
  api.answer({ body: "[]" });
  expect((await list(connection?.id)).status).toBe(200);
  expect(api.seen.at(-1)?.headers.authorization).toBe(`Bearer access-${provider.refreshToken().slice(8)}`);
});
