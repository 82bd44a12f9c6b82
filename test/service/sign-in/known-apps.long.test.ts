import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type KnownApp, knownApps } from "../../../src/apps/known/known-apps.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { startHttpMcpServer } from "../../apps/mcp/http-server.ts";
import { runSvc } from "../../e2e/run-svc.ts";
import { waitForTool } from "../added/wait-for-tool.ts";
import { execute } from "../http-calls.ts";
import { type Owner, openOwner } from "./owner.ts";
import { startProtectedMcp } from "./start-protected-mcp.ts";
import { startProvider } from "./start-provider.ts";

/**
 * Every known app from `svc add NAME` on, against a local server that behaves like it: the real command line, a running
 * service, and the owner at its pages.
 */

let service: TestService;
let owner: Owner;
let home: string;
let documents: Server;
let documentsUrl: string;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "svc-known-"));
  documents = createServer(({ url = "" }, response) => {
    const found = DOCUMENTS[url.slice(1)];
    response.writeHead(found === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(found));
  }).listen(0, "127.0.0.1");
  await once(documents, "listening");
  const address = documents.address();
  documentsUrl = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
  service = await startTestService();
  owner = await openOwner(service);
});

afterAll(async () => {
  await service?.close();
  documents?.close();
  await rm(home, { recursive: true, force: true });
});

/** Documents of the structure that the real ones have. */
const DOCUMENTS: Readonly<Record<string, unknown>> = {
  "google-calendar": writeDiscovery("calendar", ["calendar", "calendar.readonly"]),
  "google-drive": writeDiscovery("drive", ["drive", "drive.readonly"]),
  gmail: writeDiscovery("gmail", ["gmail.modify", "gmail.readonly"]),
  "outlook-mail": writeGraph("/users/{user-id}/messages"),
  "outlook-calendar": writeGraph("/users/{user-id}/events"),
  onedrive: writeGraph("/drives/{drive-id}/items"),
  telegram: {
    openapi: "3.0.0",
    info: { title: "Telegram Bot API", version: "1.0.0" },
    servers: [{ url: "https://api.telegram.org/bot{token}", variables: { token: { default: "1234:AAbbcc" } } }],
    paths: { "/getMe": { post: { operationId: "getMe", responses: {} } } },
  },
};

function writeDiscovery(name: string, scopes: readonly string[]) {
  const urls = scopes.map((scope) => `https://www.googleapis.com/auth/${scope}`);
  const described = Object.fromEntries(urls.map((url) => [url, { description: `Use ${url}` }]));
  const method = { id: `${name}.items.list`, path: "items/{itemId}", httpMethod: "GET", scopes: urls };
  const itemId = { type: "string", location: "path", required: true };
  return {
    kind: "discovery#restDescription",
    title: name,
    version: "v3",
    rootUrl: "https://www.googleapis.com/",
    servicePath: `${name}/v3/`,
    auth: { oauth2: { scopes: described } },
    resources: { items: { methods: { list: { ...method, parameters: { itemId } } } } },
  };
}

/** The documents of Microsoft Graph name no sign-in. */
function writeGraph(path: string) {
  const [, name = ""] = /\{([^}]+)\}/.exec(path) ?? [];
  const parameters = [{ name, in: "path", required: true, schema: { type: "string" } }];
  const list = { operationId: "user_List", parameters, responses: { "2XX": { description: "Success" } } };
  return {
    openapi: "3.0.1",
    info: { title: "Graph", version: "v1.0" },
    servers: [{ url: "https://graph.microsoft.com/v1.0/" }],
    paths: { [path]: { get: list } },
  };
}

async function add(slug: string, url: string, ...flags: string[]) {
  const args = ["--json", "add", slug, "--url", url, "--data", service.dataDir, "--yes", ...flags];
  const run = await runSvc(args, home, { env: { SVC_HEADER_AUTHORIZATION: "Bearer long-lived-token" } });
  expect(run.code, run.stderr).toBe(0);
  return JSON.parse(run.stdout) as { connectUrl?: string; connected: boolean; actions: number };
}

/** A page of the service, once it is there: a running service knows an added app within seconds. */
async function waitForPage(url: string) {
  await expect.poll(async () => (await owner.browser.open(url)).status, { timeout: 30_000 }).toBe(200);
  return owner.browser.open(url);
}

const where = (wanted: (app: KnownApp) => boolean) => knownApps.filter(wanted).map(({ slug }) => slug);
const CLIENT = { "client-id": "mine", "client-secret": "secret-of-the-owner" };

test("from svc add linear to the first call the owner takes three steps: command, sign-in, allow", async () => {
  const provider = await startProvider();
  const mcp = await startProtectedMcp(provider);
  const steps: string[] = [];

  steps.push("command");
  const { connectUrl = "" } = await add("linear", mcp.url, "--private");
  expect(connectUrl).toBe(`${service.url}/connect/linear`);
  await waitForPage(connectUrl);

  steps.push("sign in");
  const review = await owner.signIn(new URL(connectUrl).pathname);
  expect(review).toBe("/apps/linear/review");

  steps.push("allow");
  const [, digest = ""] = /name="digest" value="([^"]+)"/.exec((await waitForPage(service.url + review)).text) ?? [];
  await owner.submit("/apps/linear/accept", { digest });

  expect((await execute(service, "linear_look")).json).toMatchObject({ ok: true, result: { notes: [] } });
  expect(steps).toEqual(["command", "sign in", "allow"]);
  await mcp.close();
  await provider.close();
});

test.each(where(({ slug, kind, signIn }) => kind === "mcp" && slug !== "linear" && /page|app/.test(signIn)))(
  "%s: added, signed in, allowed, called; reads run at once and writes ask",
  async (slug) => {
    const app = knownApps.find((one) => one.slug === slug);
    const isOwn = app?.signIn === "own app";
    const client = {
      client_id: CLIENT["client-id"],
      client_secret: CLIENT["client-secret"],
      redirect_uris: [`${service.url}/signed-in`],
      grant_types: ["authorization_code", "refresh_token"],
    };
    const { scope = ["read"] } = app?.options ?? {};
    const provider = await startProvider({ registers: !isOwn, ...(isOwn && { clients: [client] }), scopes: scope });
    // A token with the scopes that the app names opens its reads.
    const inspect = async (token: string) => {
      const claims = await provider.inspect(token);
      if (claims !== undefined && scope.every((one) => claims.scopes.has(one))) claims.scope = "read";
      return claims;
    };
    const mcp = await startProtectedMcp({ ...provider, inspect });
    const { connectUrl = "", actions } = await add(slug, mcp.url, "--private");
    expect(actions).toBe(0);
    await waitForPage(connectUrl);
    const review = await owner.signIn(`/connect/${slug}`, {}, CLIENT);
    expect(review, slug).toBe(`/apps/${slug}/review`);
    const [, digest = ""] = /name="digest" value="([^"]+)"/.exec((await waitForPage(service.url + review)).text) ?? [];
    await owner.submit(`/apps/${slug}/accept`, { digest });
    expect((await execute(service, `${slug}_look`)).json, slug).toMatchObject({ ok: true });
    expect((await execute(service, `${slug}_note`, { arguments: { text: "x" } })).status).toBe(412);
    expect(mcp.notes).toEqual([]);
    await mcp.close();
    await provider.close();
  },
);

test.each(where(({ signIn }) => signIn === "header"))(
  "%s: its token goes to it alone, and nowhere else",
  async (slug) => {
    const mcp = await startHttpMcpServer();
    const { connected, actions } = await add(slug, mcp.url);
    expect([connected, actions]).toEqual([true, 2]);
    await waitForTool(service, `${slug}_look`);
    expect((await execute(service, `${slug}_look`, { confirmed: true })).json).toMatchObject({ ok: true });
    expect(mcp.seen.every(({ headers }) => headers.authorization === "Bearer long-lived-token")).toBe(true);
    await mcp.close();
  },
);

test.each(where(({ kind, signIn }) => kind === "openapi" && signIn === "own app"))(
  "%s: its owner is told what to click, with the address to register",
  async (slug) => {
    const { connectUrl = "", connected, actions } = await add(slug, `${documentsUrl}/${slug}`);
    expect([connected, actions]).toEqual([false, 1]);
    const form = await waitForPage(connectUrl);
    const scope = knownApps.find((one) => one.slug === slug)?.options.scope ?? [];
    for (const one of scope) expect(form.text).toMatch(new RegExp(`value="${one.replaceAll(".", "\\.")}" checked`));
    const step = await owner.submit(`/connect/${slug}`, { label: "", "set.scopes": scope.join(" ") });
    expect(step.text).toContain(`<pre class="copy" tabindex="0"><code>${service.url}/signed-in</code></pre>`);
    const isGoogle = slug.startsWith("g");
    expect(step.text).toContain(isGoogle ? "Google does not know this service yet" : "Microsoft does not know");
    expect(step.text).toContain(isGoogle ? "Authorized redirect URIs" : "Certificates &amp; secrets");
  },
);

test("telegram: the form asks for the token alone, which stays out of the address until it is used", async () => {
  const { connectUrl = "", connected } = await add("telegram", `${documentsUrl}/telegram`);
  expect(connected).toBe(false);
  const { text } = await waitForPage(connectUrl);
  expect(text.match(/name="set\.[^"]+"[^>]*>/g)).toEqual([expect.stringMatching(/name="set\.token" type="password"/)]);
  expect(text).not.toContain("1234:AAbbcc");
});
