import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { prepareOpenApi } from "../../../../src/apps/openapi/prepare-openapi.ts";
import { openSourceAdmin, type SourceAdmin } from "../../../../src/service/added/open-source-admin.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { readStored } from "../../../service/find-store.ts";
import { type Browser, openBrowser, readCsrf } from "../../../service/http/pages/browser.ts";
import { execute } from "../../../service/http-calls.ts";
import { KEY, OWN_CLIENT, startProvider } from "./start-provider.ts";

/** The owner signs in to APIs of OpenAPI documents, at a real provider. */

let shop: Awaited<ReturnType<typeof startProvider>>;
let service: TestService;
let admin: SourceAdmin;
let folder: string;
let browser: Browser;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-openapi-sign-in-"));
  service = await startTestService();
  shop = await startProvider(`${service.url}/signed-in`);
  admin = await openSourceAdmin({ dataDir: service.dataDir });
  browser = openBrowser();
  await browser.open(await service.service.signInUrl());
}, 60_000);

afterAll(async () => {
  await admin?.close();
  await service?.close();
  await shop?.close();
  await rm(folder, { recursive: true, force: true });
});

const SCOPES = { "items:read": "See items", "items:write": "Change items", "items:admin": "Do anything" };
const paths = {
  "/items": {
    get: { operationId: "list", security: [{ shop: ["items:read"] }, { key: [] }] },
    post: { operationId: "make", security: [{ shop: ["items:write"] }, { key: [] }] },
    delete: { operationId: "clear", security: [{ shop: ["items:admin"] }, { key: [] }] },
  },
  "/refuse": { get: { operationId: "refuse", security: [{ shop: [] }] } },
};

/** Adds an app whose document has this sign-in and, as another way, a key. */
async function add(slug: string, shop_: object, more: { document?: object; signIn?: object } = {}) {
  const file = join(folder, `${slug}.json`);
  const securitySchemes = { shop: shop_, key: { type: "apiKey", in: "header", name: "X-Key" } };
  const servers = [{ url: `${shop.url}/api` }];
  const info = { title: "Shelf", version: "1" };
  const document = { openapi: "3.1.0", info, servers, components: { securitySchemes }, paths, ...more.document };
  await writeFile(file, JSON.stringify(document));
  const prepared = await prepareOpenApi({
    ...{ slug, document: file, name: undefined, baseUrl: undefined, isPrivate: true, takesToken: false },
    ...(more.signIn !== undefined && { signIn: { scopes: [], ...more.signIn } }),
  });
  await admin.add(prepared.source);
  await vi.waitFor(async () => expect((await browser.open(`${service.url}/connect/${slug}`)).status).toBe(200), 30_000);
  return prepared;
}

/** Sends the form of a connection as a browser would, with what is changed in it. */
async function connect(slug: string, change: Record<string, string> = {}) {
  const url = `${service.url}/connect/${slug}`;
  const page = await browser.open(url);
  return browser.submit(url, { csrf: readCsrf(page), label: slug, ...change });
}

/** Goes on with the owner's client where it is asked for: it is kept for the provider. */
async function nameClient(page: Awaited<ReturnType<typeof connect>>) {
  const [, state] = /name="state" value="([^"]+)"/.exec(page.text) ?? [];
  if (state === undefined || !page.text.includes("client-id")) return page;
  return browser.submit(`${service.url}/sign-in/client`, { csrf: readCsrf(page), state, ...OWN_CLIENT });
}

function findPage({ text }: { readonly text: string }): URL {
  const [, href = ""] = /href="([^"]+)" rel="noreferrer"/.exec(text) ?? [];
  return new URL(href.replaceAll("&amp;", "&"));
}

const call = (tool: string) => execute(service, tool, { arguments: {}, confirmed: true });
const flows = (all: object) => ({ type: "oauth2", flows: all });
/** The first is read against the address of the API, as the standard has it. */
const ENDS = { authorizationUrl: "/auth", tokenUrl: "../token" };
const oidc = () => ({ type: "openIdConnect", openIdConnectUrl: `${shop.url}/.well-known/openid-configuration` });

test("openIdConnect: one choice in words, picked scopes, a call with the token, one renewal when it is refused", async () => {
  const { source, notes } = await add("oidc", oidc());
  const host = new URL(shop.url).host;
  expect(notes).toContain(`${shop.url} says where you sign in and where tokens come from; calls go to ${shop.url}.`);
  expect(source.content.settingsForm).toMatchObject([
    {
      kind: "choice",
      label: "How do you sign in?",
      options: [{ label: `Sign in at ${host}` }, { label: "Key in the header X-Key (for 3 of 4 actions)" }],
    },
    {
      kind: "scopes",
      options: [
        { value: "items:read", preselected: true },
        { value: "items:write", preselected: true },
        { value: "items:admin" },
      ],
    },
    { kind: "secret", label: "Key", group: "Key in the header X-Key" },
  ]);
  const begun = await connect("oidc", { "set.scopes": "items:read" });
  expect(begun.text).not.toContain("is then sent to");
  const page = findPage(begun);
  expect(page.searchParams.get("scope")?.split(" ")).toContain("items:read");
  expect(page.searchParams.get("scope")).not.toContain("items:write");
  const back = await browser.open(await shop.signIn(page));
  expect([back.status, back.headers.location]).toEqual([303, "/connections?notice=connected"]);
  expect((await call("oidc_list")).json.result).toMatchObject({
    kind: "AccessToken",
    scope: expect.stringContaining("items:read"),
  });
  await shop.revoke();
  const before = shop.seen.at(-1)?.authorization;
  expect((await call("oidc_list")).status).toBe(200);
  expect(shop.seen.at(-1)?.authorization).not.toBe(before);
  expect(await readStored(service.dataDir)).not.toContain(before?.replace("Bearer ", ""));
});

test("authorization code with addresses of the document, relative ones too, and the owner's own client", async () => {
  const { source, notes } = await add("code", flows({ authorizationCode: { ...ENDS, scopes: SCOPES } }));
  expect(notes).toContain(`You sign in at ${shop.url}; tokens come from ${shop.url}; calls go to ${shop.url}.`);
  expect(source.content.settingsForm.find(({ kind }) => kind === "scopes")?.options).toEqual([
    { value: "items:read", label: "See items", preselected: true },
    { value: "items:write", label: "Change items", preselected: true },
    { value: "items:admin", label: "Do anything" },
  ]);
  const form = await browser.open(`${service.url}/connect/code`);
  expect([...form.text.matchAll(/value="(items:\w+)"( checked)?/g)].map(([, name, on]) => [name, on])).toEqual([
    ["items:read", " checked"],
    ["items:write", " checked"],
    ["items:admin", undefined],
  ]);
  const page = findPage(await nameClient(await connect("code", { "set.scopes": "items:read" })));
  expect([page.origin + page.pathname, page.searchParams.get("scope")]).toEqual([`${shop.url}/auth`, "items:read"]);
  expect((await browser.open(await shop.signIn(page))).headers.location).toBe("/connections?notice=connected");
  expect((await call("code_list")).json.result).toEqual({ kind: "AccessToken", scope: "items:read" });
  const token = shop.seen.at(-1)?.authorization?.replace("Bearer ", "") ?? "";
  const refused = await call("code_refuse");
  expect(refused.json.error.message).toBe("Shelf answered 400: No to [hidden]");
  expect(token).toMatch(/^[\w-]{20,}$/);
  expect(await readStored(service.dataDir)).not.toContain(token);
});

test("the page says which host gets the token, also where the owner names it", async () => {
  const servers = [{ url: "https://{tenant}.example.com/api", variables: { tenant: { default: "your-tenant" } } }];
  const ends = { authorizationUrl: `${shop.url}/auth`, tokenUrl: `${shop.url}/token`, scopes: SCOPES };
  await add("tenant", flows({ authorizationCode: ends }), { document: { servers } });
  const page = await nameClient(await connect("tenant", { "set.tenant": "acme" }));
  expect(page.text).toContain("is then sent to acme.example.com: go on only if that host may act for you.");
});

/** Signs in again to the connection of an app. */
async function reconnect(slug: string, fields: Record<string, string>) {
  const [connection] = await service.service.connections.list(slug);
  const url = `${service.url}/connections/${connection?.id}/reconnect`;
  const page = findPage(await browser.submit(url, { csrf: readCsrf(await browser.open(url)), label: slug, ...fields }));
  const back = await browser.open(await shop.signIn(page));
  expect(back.headers.location).toBe(`/connections/${connection?.id}?notice=reconnected`);
  return page;
}

/** The page of the connection. */
async function readNotice(slug: string): Promise<string> {
  const [connection] = await service.service.connections.list(slug);
  return (await browser.open(`${service.url}/connections/${connection?.id}`)).text;
}

const stateOf = async (slug: string) => (await service.service.connections.list(slug))[0]?.state;

test("a right that the API asks for later is asked for at the next sign-in, beside those that were picked", async () => {
  const refused = await call("code_clear");
  expect([refused.status, refused.json.error.code]).toEqual([403, "needs_scope_upgrade"]);
  expect(refused.json.error.message).toBe("Shelf asks for more rights: items:admin.");
  expect(await stateOf("code")).toBe("reauth_required");
  expect(await readNotice("code")).toContain("The app asks for more rights: items:admin.");
  const page = await reconnect("code", { "set.scopes": "items:read" });
  expect(page.searchParams.get("scope")).toBe("items:read items:admin");
  expect((await call("code_clear")).status).toBe(200);
});

test("a sign-in that was withdrawn at the provider asks for another one, whatever call finds it out", async () => {
  // A check has just found it good, as one action alone was refused.
  shop.refusal = 401;
  expect((await call("code_refuse")).json.error.code).toBe("forbidden");
  shop.refusal = 400;
  await shop.revoke(true);
  const ended = await call("code_clear");
  expect([ended.status, ended.json.error.code]).toEqual([401, "needs_reauth"]);
  expect(await stateOf("code")).toBe("reauth_required");
  expect(await readNotice("code")).toMatch(/sign-in has ended or was withdrawn: .*invalid_grant/);
  await reconnect("code", { "set.scopes": "items:read" });
  expect([await stateOf("code"), (await call("code_clear")).status]).toEqual(["healthy", 200]);
});

test("client credentials: nobody signs in on a page, and a refused token is got anew", async () => {
  const { notes, source } = await add("robot", flows({ clientCredentials: { ...ENDS, scopes: SCOPES } }));
  expect(notes).toContain(`For a client id and secret, tokens come from ${shop.url}; calls go to ${shop.url}.`);
  expect(source.content.settingsForm[0]?.options?.[0]?.label).toBe(
    `Client id and secret of an app at ${new URL(shop.url).host}`,
  );
  const done = await nameClient(await connect("robot", { "set.scopes": "items:write" }));
  expect(done.headers.location).toBe("/connections?notice=connected");
  expect((await call("robot_list")).json.result).toEqual({ kind: "ClientCredentials", scope: "items:write" });
  await shop.revoke();
  expect((await call("robot_list")).status).toBe(200);
});

test("on another device: the page shows the code", async () => {
  const device = { deviceAuthorizationUrl: `${shop.url}/device/auth`, tokenUrl: `${shop.url}/token`, scopes: {} };
  const { source } = await add("tv", flows({ "x-deviceAuthorization": device }));
  expect(source.content.settingsForm[0]?.options?.[0]?.label).toMatch(/ on another device, with a code$/);
  const page = await nameClient(await connect("tv"));
  expect(page.text).toMatch(/[A-Z]{4}-[A-Z]{4}/);
});

test("another way that the owner chooses: its key is needed, and nobody signs in", async () => {
  await add("keyed", oidc());
  const refused = await connect("keyed", { "set.sign_in_with": "key" });
  expect([refused.status, refused.text.includes('id="set-key-problem"')]).toEqual([400, true]);
  const done = await connect("keyed", { "set.sign_in_with": "key", "set.key": KEY });
  expect(done.headers.location).toBe("/connections?notice=connected");
  expect((await call("keyed_list")).status).toBe(200);
  expect(shop.seen.at(-1)).toEqual({ path: "/api/items", authorization: undefined, key: KEY });
});

test("a sign-in and a key that are needed together: the key first, then both are sent", async () => {
  const both = { "/items": { get: { operationId: "list", security: [{ shop: ["items:read"], key: [] }] } } };
  const { source } = await add("both", oidc(), { document: { paths: both } });
  expect(source.content.settingsForm.map(({ name, optional }) => [name, optional])).toEqual([
    ["scopes", true],
    ["key", undefined],
  ]);
  expect((await connect("both")).text).toContain('id="set-key-problem"');
  const back = await browser.open(await shop.signIn(findPage(await connect("both", { "set.key": KEY }))));
  expect(back.headers.location).toBe("/connections?notice=connected");
  expect((await call("both_list")).json).toMatchObject({ result: { kind: "AccessToken" } });
  expect(shop.seen.at(-1)).toMatchObject({ authorization: expect.stringMatching(/^Bearer /), key: KEY });
});

test.each([
  ["none", {}, {}],
  [
    "a wrong one",
    flows({
      authorizationCode: { authorizationUrl: "https://gone.example.org/a", tokenUrl: "https://gone.example.org/t" },
    }),
    paths,
  ],
])("the owner names the sign-in of a document that has %s", async (what, shop_, used) => {
  const slug = what === "none" ? "named" : "renamed";
  const open = { "/items": { get: { operationId: "list" } } };
  const signIn = { authUrl: `${shop.url}/auth`, tokenUrl: `${shop.url}/token`, scopes: ["items:admin"] };
  const document = what === "none" ? { paths: open, components: {} } : { paths: used };
  const { notes } = await add(slug, shop_, { signIn, document });
  expect(notes.join()).not.toContain("gone.example.org");
  const page = findPage(await nameClient(await connect(slug, { "set.scopes": "items:admin" })));
  expect(page.searchParams.get("scope")).toBe("items:admin");
  await browser.open(await shop.signIn(page));
  expect((await call(`${slug}_list`)).json.result).toMatchObject({ scope: "items:admin" });
});
