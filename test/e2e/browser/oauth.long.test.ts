import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { verifies } from "../../contract/verifies.ts";
import { call } from "../../service/http-calls.ts";
import { type OAuthClient, registerClient } from "../../service/oauth/oauth-client.ts";
import { findBarriers, LOOKS, launchChromium, measureOverflow, openWindow, signIn } from "./chromium.ts";

let browser: Browser;
let service: TestService;
/** The app, waiting on loopback for the browser to come back. */
let app: Server;
let client: OAuthClient;
let page: Page;

beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());
beforeEach(async () => {
  service = await startTestService();
  app = createServer((_request, answer) => answer.end("<title>Back in the app</title>"));
  app.listen(0, "127.0.0.1");
  await once(app, "listening");
  const { port } = app.address() as AddressInfo;
  client = await registerClient(service.url, { redirect_uris: [`http://127.0.0.1:${port}/callback`] });
  page = await openWindow(browser, { colorScheme: "light", width: 390 });
});
afterEach(async () => {
  await page.context().close();
  app.closeAllConnections();
  app.close();
  await service.close();
});

const press = (name: string) => page.getByRole("button", { name, exact: true }).click();

/** Waits for the app's own page and returns the address it was opened with. */
async function arrive(): Promise<string> {
  await page.waitForURL(/\/callback\?/);
  expect(await page.title()).toBe("Back in the app");
  return page.url();
}

/** Opens an authorization request as a browser that is not signed in, and signs in by the one-time link. */
async function openRequest(url: string): Promise<void> {
  await page.goto(url);
  expect(await page.locator("h1").textContent()).toBe("Sign in first");
  await signIn(page, await service.service.signInUrl());
  expect(await page.locator("h1").textContent()).toBe("Give Test app access?");
}

test("an app gets a token for the MCP endpoint after the owner pressed Approve", async () => {
  verifies("auth.oauth-code-flow", "auth.oauth-on-mcp", "auth.oauth-refresh");
  const started = await client.start();
  await openRequest(started.url);
  await press("Approve");
  const tokens = await client.redeem(started, await arrive());
  const refreshed = await client.refresh(String(tokens.refresh_token));
  for (const { access_token } of [tokens, refreshed]) {
    const { status, json } = await callWithToken(access_token);
    expect(status).toBe(200);
    expect(json.result.structuredContent).toMatchObject({ credential_id: `oauth_${client.client.client_id}` });
  }
  // Signed in still, but a new request is a new decision, also while the library remembers the browser.
  const again = await client.start();
  await page.goto(again.url);
  expect(await page.locator("h1").textContent()).toBe("Give Test app access?");
  await press("Approve");
  expect(await client.redeem(again, await arrive())).toHaveProperty("access_token");
});

test("the app learns that the owner pressed Decline", async () => {
  verifies("decision.oauth-owner-approves");
  const started = await client.start();
  await openRequest(started.url);
  await press("Decline");
  const callback = new URL(await arrive());
  expect(callback.searchParams.get("error")).toBe("access_denied");
  await expect(client.redeem(started, callback.href)).rejects.toMatchObject({ error: "access_denied" });
});

test("the way back leads only to the app that asked", async () => {
  const { url } = await client.start();
  await openRequest(url);
  const policy = (await page.reload())?.headers()["content-security-policy"] ?? "";
  const origin = new URL(String((client.client.redirect_uris as string[])[0])).origin;
  expect(/form-action ([^;]+);/.exec(policy)?.[1]).toBe(`'self' ${origin}`);
});

test.each(LOOKS)("the approval page can be read and used: $colorScheme, $width wide", async (look) => {
  const window = await openWindow(browser, look);
  try {
    await signIn(window, await service.service.signInUrl());
    await window.goto((await client.start({ scope: "openid email profile" })).url);
    expect(await findBarriers(window)).toEqual([]);
    expect(await measureOverflow(window)).toBe(0);
    expect(await window.locator("dd").allTextContents()).toContain("openid, email, profile");
  } finally {
    await window.context().close();
  }
});

function callWithToken(token: string) {
  return call(`${service.url}/api/mcp`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "svc.whoami" } }),
  });
}
