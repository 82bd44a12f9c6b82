import { afterAll, beforeAll, expect, test } from "vitest";
import { isOfPrograms } from "../../../src/service/http/app.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { readTable } from "../../docs/read-page.ts";
import { call, type Reply } from "../http-calls.ts";
import { createLab } from "../lab-integration.ts";
import { openOwnerBrowser, registerClient } from "../oauth/oauth-client.ts";
import { listRoutes } from "./kit/list-routes.ts";
import { invite, openBrowser, readCsrf } from "./pages/browser.ts";

/** Who may do what: every route of the service stands in one row of this table. */
const ROUTES = {
  "anybody reads": [
    "GET /health",
    "GET /openapi.json",
    "GET /api/mcp/server-card",
    "OPTIONS /api/mcp/server-card",
    "GET /.well-known/mcp/server-card.json",
    "OPTIONS /.well-known/mcp/server-card.json",
    "GET /.well-known/oauth-protected-resource",
    "GET /.well-known/oauth-protected-resource/api/mcp",
    "GET /.well-known/oauth-authorization-server",
    "GET /.well-known/openid-configuration",
    "GET /oauth/jwks",
    "GET /oauth/client.json",
    "GET /oauth/client/:id{[0-9a-f]{16}}",
    "GET /oauth/authorize",
    "GET /oauth/authorize/:uid",
    "GET /oauth/approve/:uid/:decision",
    "GET /api/plugin/pair/sessions/:token",
    "GET /api/installer/bootstrap-sessions/:token",
    "GET /sign-in",
  ],
  "anybody starts": [
    "POST /api/plugin/identity",
    "POST /api/plugin/pair/start",
    "POST /api/plugin/pair/sessions/:token/exchange",
    "POST /api/installer/bootstrap-sessions",
    "POST /oauth/token",
    "POST /oauth/register",
    "POST /oauth/revoke",
    "POST /sign-in",
    "POST /sign-in/passkey/start",
    "POST /sign-in/passkey",
  ],
  "a key reads": [
    "GET /api/tools",
    "GET /api/tools/search",
    "GET /api/tools/:name",
    "POST /api/tools/:name/preview",
    "GET /api/executions",
    "GET /api/executions/:id",
    "GET /api/approvals",
    "GET /api/approvals/:id",
    "GET /api/integrations",
    "GET /api/actions",
    "GET /api/actions/:integration/:action",
    "GET /api/search",
    "GET /api/flows/templates",
    "GET /api/flows",
    "GET /api/flows/:id",
  ],
  "a key acts": [
    "POST /api/tools/:name/execute",
    "POST /api/executions",
    "POST /api/executions/:id/undo",
    "POST /api/approvals/:id/cancel",
    "POST /api/flows/start",
    "POST /api/flows/:id/approve",
    "POST /api/flows/:id/resume",
    "POST /api/flows/:id/cancel",
  ],
  "an upload token acts": ["POST /api/files/ingest"],
  "a signed sender acts": ["POST /api/hooks/:id"],
  "the metrics token reads": ["GET /metrics"],
  "an MCP client reads": ["GET /api/mcp"],
  "an MCP client acts": ["POST /api/mcp"],
  "an approver reads": [
    "GET /",
    "GET /inbox",
    "GET /inbox/decided",
    "GET /inbox/together",
    "GET /inbox/:id",
    "GET /inbox/:id/files/:index",
    "GET /inbox/:id/files/:index/picture",
    "GET /flows/:id",
    "GET /log",
    "GET /log/:id",
    "GET /sessions",
  ],
  "an approver acts": [
    "POST /inbox/approve",
    "POST /inbox/:id",
    "POST /log/:id/stop",
    "POST /flows/:id/approve",
    "POST /flows/:id/decline",
    "POST /sessions/:id/end",
    "POST /sessions/end",
    "POST /passkeys/start",
    "POST /passkeys",
    "POST /passkeys/:id/remove",
    "POST /open-link",
    "POST /sign-out",
  ],
  "the owner reads": [
    "GET /log/:id/undo",
    "GET /pair/:token",
    "GET /install/:token",
    "GET /devices",
    "GET /devices/:id/limits",
    "GET /rules",
    "GET /connections",
    "GET /connections/:id",
    "GET /connections/:id/reconnect",
    "GET /connect/:id",
    "GET /signed-in",
    "GET /signed-in/:id",
    "GET /apps/:slug/review",
    "GET /flows",
    "GET /flows/templates",
    "GET /flows/templates/:key",
    "GET /triggers",
    "GET /triggers/new",
    "GET /triggers/:id",
    "GET /people",
    "GET /people/:id",
  ],
  "the owner reads what they began": ["GET /oauth/approve/:uid"],
  "the owner acts": [
    "POST /log/:id/undo",
    "POST /first-steps/hide",
    "POST /pair/:token",
    "POST /install/:token",
    "POST /oauth/approve/:uid",
    "POST /devices/:id/limits",
    "POST /devices/:id/revoke",
    "POST /oauth/apps/:id/end",
    "POST /connections/:id/rename",
    "POST /connections/:id/default",
    "POST /connections/:id/disconnect",
    "POST /connections/:id/reconnect",
    "POST /connect/:id",
    "POST /sign-in/client",
    "POST /sign-in/code",
    "POST /apps/:slug/add",
    "POST /apps/:slug/accept",
    "POST /apps/:slug/dismiss",
    "POST /flows/templates/:key",
    "POST /flows/:id/resume",
    "POST /flows/:id/cancel",
    "POST /triggers/new",
    "POST /triggers/:id/run",
    "POST /triggers/:id/pause",
    "POST /triggers/:id/resume",
    "POST /triggers/:id/delete",
    "POST /rules",
    "POST /rules/:id/remove",
    "POST /people",
    "POST /people/:id",
    "POST /people/:id/link",
    "POST /people/:id/remove",
  ],
} as const satisfies Record<string, readonly string[]>;
type Kind = keyof typeof ROUTES;

/** How a request is refused before its handler sees it. */
const REFUSALS = {
  "no key": [401, /The API key is missing|This API key has expired/],
  "no signature": [401, /no signature of its trigger's secret/],
  "no token": [401, /upload token|Metrics need the token/],
  stranger: [401, /Sign in first/],
  "no browser": [403, /You are not signed in/],
  role: [403, /Only an owner of this service/],
  CSRF: [403, /did not come from this page/],
  origin: [403, /other web sites are refused/],
} as const;
type Answer = keyof typeof REFUSALS | "in";

/** The answers to: nobody, a key, an access token, an MCP session without either, an approver, an owner. */
const ANSWERS: Readonly<Record<Kind, readonly Answer[]>> = {
  "anybody reads": ["in", "in", "in", "in", "in", "in"],
  "anybody starts": ["in", "in", "in", "in", "in", "in"],
  "a key reads": ["no key", "in", "no key", "no key", "no key", "no key"],
  "a key acts": ["no key", "in", "no key", "no key", "no key", "no key"],
  "an upload token acts": ["no token", "no token", "no token", "no token", "no token", "no token"],
  "a signed sender acts": [
    "no signature",
    "no signature",
    "no signature",
    "no signature",
    "no signature",
    "no signature",
  ],
  "the metrics token reads": ["no token", "no token", "no token", "no token", "no token", "no token"],
  "an MCP client reads": ["no key", "in", "in", "no key", "no key", "no key"],
  "an MCP client acts": ["no key", "in", "in", "no key", "no key", "no key"],
  "an approver reads": ["stranger", "stranger", "stranger", "stranger", "in", "in"],
  "an approver acts": ["no browser", "no browser", "no browser", "no browser", "in", "in"],
  "the owner reads": ["stranger", "stranger", "stranger", "stranger", "role", "in"],
  // The page is the same for everybody who did not begin the request: there is nothing to decide.
  "the owner reads what they began": ["in", "in", "in", "in", "role", "in"],
  "the owner acts": ["no browser", "no browser", "no browser", "no browser", "role", "in"],
};

/** What a request carries. */
interface Identity {
  readonly headers?: Readonly<Record<string, string>>;
  /** Session path of a browser. */
  readonly prefix?: string;
  readonly csrf?: string;
}

const DAY = 24 * 60 * 60_000;
let service: TestService;
let accessToken: string;
let expiredKey: string;
beforeAll(async () => {
  let behind = 2 * DAY;
  service = await startTestService({
    integrations: [createLab().integration],
    metricsToken: "m".repeat(40),
    now: () => Date.now() - behind,
  });
  expiredKey = await service.createKey("Old device", { expiresInDays: 1 });
  behind = 0;
  const client = await registerClient(service.url);
  const { decide } = await openOwnerBrowser(await service.service.signInUrl());
  const started = await client.start();
  accessToken = (await client.redeem(started, await decide(started.url, "approve"))).access_token;
});
afterAll(() => service.close());

async function signIn(link: string): Promise<Identity & { csrf: string; headers: { cookie: string } }> {
  const browser = openBrowser();
  await browser.open(link);
  const csrf = readCsrf(await browser.open(`${service.url}/sessions`));
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  return { prefix: browser.sessionPath(), headers: { cookie }, csrf };
}

const openOwner = async () => signIn(await service.service.signInUrl());

let invited = 0;
async function openApprover(): Promise<Identity> {
  const owner = openBrowser();
  await owner.open(await service.service.signInUrl());
  invited += 1;
  return signIn(await invite(owner, service.url, `Approver ${invited}`));
}

/** Sends a request to a route, with nothing behind its ids, and names what becomes of it. */
async function send(route: string, { headers, prefix = "", csrf }: Identity): Promise<string> {
  const [method = "", path = ""] = route.split(" ");
  const isForm = !path.startsWith("/api/");
  const body = isForm ? new URLSearchParams(csrf === undefined ? {} : { csrf }).toString() : "{}";
  const type = isForm ? "application/x-www-form-urlencoded" : "application/json";
  const reply = await call(`${service.url}${prefix}${path.replaceAll(/:\w+/g, "x")}`, {
    method,
    headers: { accept: "text/html", ...headers, ...(method === "POST" && { "content-type": type }) },
    ...(method === "POST" && { body }),
  });
  return nameAnswer(reply);
}

function nameAnswer({ status, text }: Reply): string {
  const refusal = Object.entries(REFUSALS).find(([, [code, words]]) => status === code && words.test(text));
  if (refusal !== undefined) return refusal[0];
  return status === 401 || status === 403 || status >= 500 ? `${status}: ${text.slice(0, 200)}` : "in";
}

/** What becomes of every route, beside what the table says. */
async function compare(identify: () => Promise<Identity>, expected: (kind: Kind, route: string) => string) {
  const [said, found]: [Record<string, string>, Record<string, string>] = [{}, {}];
  const identity = await identify();
  for (const [kind, routes] of Object.entries(ROUTES)) {
    for (const route of routes) {
      said[route] = expected(kind as Kind, route);
      found[route] = await send(route, route === "POST /sign-out" ? await identify() : identity);
    }
  }
  return { said, found };
}

const isPost = (route: string) => route.startsWith("POST ");

test("the table has every route of the service, once", () => {
  const served = listRoutes().map(({ method, path }) => `${method} ${path}`);
  expect(Object.values(ROUTES).flat().sort()).toEqual(served.sort());
});

test("every route is in the app that requests for its address are sent to", () => {
  const lost = listRoutes().filter(({ path, isOfPrograms: isThere }) => isOfPrograms(path) !== isThere);
  expect(lost).toEqual([]);
});

const withKey = (apiKey: string): Identity => ({ headers: { "x-svc-api-key": apiKey } });

/** With their column of the answers. What a limited key may use is another matter, which each route answers for itself. */
const WHO: readonly [who: string, column: number, identify: () => Promise<Identity>][] = [
  ["nobody", 0, async () => ({})],
  ["a key that is none", 0, async () => withKey(`${service.apiKey.slice(0, -1)}!`)],
  ["a key that has expired", 0, async () => withKey(expiredKey)],
  ["a key", 1, async () => withKey(service.apiKey)],
  ["a key in the other header", 1, async () => ({ headers: { authorization: `Bearer ${service.apiKey}` } })],
  ["a limited key", 1, async () => withKey(await service.createKey("Reader", { levels: ["read"] }))],
  ["an access token", 2, async () => ({ headers: { authorization: `Bearer ${accessToken}` } })],
  ["an MCP session without a key", 3, async () => ({ headers: { "mcp-session-id": "x" } })],
  ["an approver", 4, openApprover],
  ["an owner", 5, openOwner],
];

test.each(WHO)("%s", async (_who, column, identify) => {
  const { said, found } = await compare(identify, (kind) => ANSWERS[kind][column] ?? "");
  expect(found).toEqual(said);
});

test("an owner whose forms lack the CSRF token may only look", async () => {
  const withoutCsrf = async () => {
    const { csrf: _, ...rest } = await openOwner();
    return rest;
  };
  const isForm = (kind: Kind) => kind === "an approver acts" || kind === "the owner acts";
  const { said, found } = await compare(withoutCsrf, (kind) => (isForm(kind) ? "CSRF" : (ANSWERS[kind][5] ?? "")));
  expect(found).toEqual(said);
});

test("another web site changes nothing, whatever the browser sends along", async () => {
  const fromElsewhere = async () => {
    const owner = await openOwner();
    const site = { origin: "https://evil.example", "sec-fetch-site": "cross-site" };
    return { ...owner, headers: { ...owner.headers, ...site, "x-svc-api-key": service.apiKey } };
  };
  const answer = (kind: Kind) => (kind.startsWith("the owner") || kind.startsWith("an approver") ? 5 : 1);
  const { said, found } = await compare(fromElsewhere, (kind, route) =>
    isPost(route) ? "origin" : (ANSWERS[kind][answer(kind)] ?? ""),
  );
  expect(found).toEqual(said);
});

test("docs/self-hosting.md names the pages of an approver", () => {
  const [, named = ""] =
    readTable("docs/self-hosting.md", "Users and access").find(([who]) => who === "an approver") ?? [];
  const pages = ROUTES["an approver reads"].map((route) => `/${route.split("/")[1]}`);
  expect([...named.matchAll(/(?<=^| )\/\w*/g)].map(([path]) => path).sort()).toEqual([...new Set(pages)].sort());
});
