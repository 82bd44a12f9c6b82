import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { createLab } from "../../service/lab-integration.ts";
import { sendModern } from "../../service/mcp/mcp-calls.ts";
import { judgeLooks, launchChromium, openWindow, signIn } from "./chromium.ts";

/** The page that a client shows beside a call which waits for its owner, in a frame as MCP Apps describes it. */

const APPS = { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } } };
/** What a host allows a page that names no other place. */
const POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'";

let browser: Browser;
let service: TestService;
let lab: ReturnType<typeof createLab>;
let page: Page;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());
beforeEach(async () => {
  lab = createLab();
  service = await startTestService({ integrations: [lab.integration], approvals: "owner" });
  await service.service.connections.add({ integration: "lab", label: "My lab", settings: {} });
  page = await openWindow(browser, { colorScheme: "light", width: 1280 });
});
afterEach(async () => {
  await page.context().close();
  await service.close();
});

interface Sent {
  readonly method?: string;
  readonly params?: { readonly url?: string; readonly height?: number };
}

/** Shows the page for a result as a host does; `sent` gives all it has sent to the host. */
async function showPage(result: unknown) {
  const { json } = await sendModern(service, "resources/read", { uri: "ui://svc/approval" });
  const { text, mimeType, _meta } = json.result.contents[0];
  expect([mimeType, _meta]).toEqual(["text/html;profile=mcp-app", { ui: { prefersBorder: false } }]);
  const html = text.replace("<head>", `<head><meta http-equiv="Content-Security-Policy" content="${POLICY}">`);
  await page.setContent('<iframe id="app" sandbox="allow-scripts" width="700" height="500"></iframe>');
  await page.evaluate(`(${HOST})(${JSON.stringify({ html, result })})`);
  await page.waitForFunction("sent.some(({ method }) => method === 'ui/notifications/initialized')");
  await page.waitForFunction("sent.filter(({ method }) => method === 'ui/notifications/size-changed').length > 0");
  return () => page.evaluate<Sent[]>("sent");
}

/** A host: it takes the handshake, hands over the result, and writes down what the page asks for. */
const HOST = `({ html, result }) => {
  globalThis.sent = [];
  const frame = document.querySelector("#app");
  addEventListener("message", ({ source, data }) => {
    if (source !== frame.contentWindow) return;
    sent.push(data);
    const answer = (message) => source.postMessage({ jsonrpc: "2.0", ...message }, "*");
    const hostContext = { theme: "dark", styles: { variables: { "--color-text-primary": "rgb(250, 250, 250)" } } };
    if (data.method === "ui/initialize") answer({ id: data.id, result: { protocolVersion: "2026-01-26", hostContext } });
    else if (data.method === "ui/notifications/initialized") answer({ method: "ui/notifications/tool-result", params: result });
    else if (data.id !== undefined) answer({ id: data.id, result: {} });
  });
  frame.srcdoc = html;
}`;

const call = (input: object, action = "put") =>
  sendModern(service, "tools/call", {
    name: "svc.execute",
    arguments: { integration_id: "lab", action_id: action, input },
    capabilities: APPS,
  });

test("shows the whole call as text, and opens the inbox, where the owner decides", async () => {
  const title = "<button onclick=send()>Approve</button>";
  const { json } = await call({ title });
  const read = await showPage(json.result);
  const frame = page.frameLocator("#app");
  await expect.poll(() => frame.locator("main").isVisible()).toBe(true);
  expect(await frame.locator("#card").textContent()).toContain(`Arguments │ title: ${title}`);
  expect(await frame.locator("button").count()).toBe(1);
  await frame.getByRole("button", { name: "Open the inbox to decide" }).click();
  await expect.poll(async () => (await read()).at(-1)?.method).toBe("ui/open-link");
  const url = (await read()).at(-1)?.params?.url ?? "";
  expect(url).toBe(json.result.structuredContent.approval.url);
  expect(lab.ran).toEqual([]);
  // Nothing but this: no tool is called and nothing is said to the model.
  const methods = new Set((await read()).map(({ method }) => method));
  expect([...methods].sort()).toEqual([
    "ui/initialize",
    "ui/notifications/initialized",
    "ui/notifications/size-changed",
    "ui/open-link",
  ]);
  const inbox = await page.context().newPage();
  await signIn(inbox, await service.service.signInUrl());
  await inbox.goto(url);
  await inbox
    .getByRole("button", { name: /^Approve/ })
    .first()
    .click();
  await expect.poll(() => lab.ran).toEqual(["put"]);
});

test("is empty for a call that does not wait, and for an address that is no page", async () => {
  const read = await showPage((await call({ text: "hello" }, "look")).json.result);
  expect(await page.frameLocator("#app").locator("main").isVisible()).toBe(false);
  expect((await read()).at(-1)?.params).toMatchObject({ height: 0 });
  const forged = { _meta: { "svc/waiting-call": { url: "javascript:alert(1)", card: ["x"] } } };
  await showPage(forged);
  expect(await page.frameLocator("#app").locator("main").isVisible()).toBe(false);
});

test("can be read in light and dark and on a phone, with a keyboard and a screen reader", async () => {
  const { json } = await call({ title: "Minutes" });
  const { text } = (await sendModern(service, "resources/read", { uri: "ui://svc/approval" })).json.result.contents[0];
  await page.setContent(text);
  await page.evaluate(`show(${JSON.stringify(json.result._meta["svc/waiting-call"])})`);
  expect(await judgeLooks(page)).toEqual([]);
});
