import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { findBarriers, judgeLooks, launchChromium, openWindow, signIn } from "./chromium.ts";

let browser: Browser;
let service: TestService;
let site: string;
let page: Page;

beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());
beforeEach(async () => {
  service = await startTestService({ integrations: [] });
  site = service.url.replace("127.0.0.1", "localhost");
  page = await openPhone();
});
afterEach(async () => {
  await page.context().close();
  await service.close();
});

const openPhone = () => openWindow(browser, { colorScheme: "light", width: 390 });
const signInHere = async () => signIn(page, (await service.service.signInUrl()).replace("127.0.0.1", "localhost"));

/** Gives a window a device that makes passkeys, and a person who always lets it. */
async function addAuthenticator(window: Page) {
  const debug = await window.context().newCDPSession(window);
  await debug.send("WebAuthn.enable");
  const options = {
    protocol: "ctap2",
    transport: "internal",
    hasResidentKey: true,
    hasUserVerification: true,
  } as const;
  const { authenticatorId } = await debug.send("WebAuthn.addVirtualAuthenticator", {
    options: { ...options, isUserVerified: true, automaticPresenceSimulation: true },
  });
  return {
    list: async () => (await debug.send("WebAuthn.getCredentials", { authenticatorId })).credentials,
    refuse: () => debug.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: false }),
  };
}

const press = (name: string, window = page) => window.getByRole("button", { name, exact: true }).click();

test("a passkey is added, signs in on a phone after a sign-out, and another browser without it does not get in", async () => {
  const device = await addAuthenticator(page);
  await signInHere();
  await page.goto(`${site}/sessions`);
  await page.getByLabel("Name of the new passkey").fill("Phone");
  await press("Add a passkey");
  await page.getByText("The passkey is there.").waitFor();
  await page.getByText("Phone", { exact: true }).waitFor();
  expect(await device.list()).toMatchObject([{ isResidentCredential: true, rpId: "localhost", userName: "Owner" }]);
  expect(await judgeLooks(page)).toEqual([]);
  await page.setViewportSize({ width: 390, height: 844 });

  await press("Sign out");
  await page.getByRole("heading", { name: "Signed out" }).waitFor();
  await page.goto(`${site}/inbox`);
  await press("Sign in with a passkey");
  await page.getByRole("heading", { name: "Inbox", level: 1 }).waitFor();
  await page.goto(`${site}/sessions`);
  await page.getByText("with the passkey Phone").waitFor();

  const other = await openPhone();
  const empty = await addAuthenticator(other);
  await other.goto(`${site}/sign-in`);
  expect(await findBarriers(other)).toEqual([]);
  await press("Sign in with a passkey", other);
  await other.getByText("No passkey was given.").waitFor();
  expect(await empty.list()).toEqual([]);
  await other.goto(`${site}/inbox`);
  await other.getByRole("heading", { name: "Sign in first" }).waitFor();
  await other.context().close();
});

test("a device that does not check its person adds and opens nothing; one that has a passkey makes no second", async () => {
  const device = await addAuthenticator(page);
  await signInHere();
  await page.goto(`${site}/sessions`);
  await page.getByLabel("Name of the new passkey").fill("x".repeat(60));
  await press("Add a passkey");
  await page.getByText("The passkey is there.").waitFor();
  await press("Add a passkey");
  await page.getByText("This device has a passkey of yours already.").waitFor();
  await page.getByText("Remove", { exact: true }).click();
  expect(await judgeLooks(page)).toEqual([]);
  await press("Sign out");
  await device.refuse();
  await press("Sign in with a passkey");
  await page.getByText("No passkey was given.").waitFor();
  await page.goto(`${site}/inbox`);
  await page.getByRole("heading", { name: "Sign in first" }).waitFor();
});
