import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { SvcClient } from "../../../src/plugin/client/client.ts";
import { bootstrapInstaller, type InstallConfig } from "../../../src/plugin/pairing/bootstrap.ts";
import { openCredentialStore } from "../../../src/plugin/pairing/credentials.ts";
import { pairDevice } from "../../../src/plugin/pairing/pair.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { verifies } from "../../contract/verifies.ts";
import { launchChromium, openWindow, signIn } from "./chromium.ts";
import { tabTo } from "./keyboard.ts";

let browser: Browser;
let service: TestService;
let client: SvcClient;
let folder: string;
let page: Page;

beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());
beforeEach(async () => {
  service = await startTestService();
  client = new SvcClient({ baseUrl: service.url });
  folder = await mkdtemp(join(tmpdir(), "svc-browser-"));
  page = await openWindow(browser, { colorScheme: "light", width: 390 });
});
afterEach(async () => {
  await page.context().close();
  await client.close();
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

const shownCode = async () => (await page.locator(".code strong").textContent())?.trim();

test("a device is paired with the keyboard alone: sign in, compare the code, approve", async () => {
  verifies("pair.approval-needs-human", "pair.start.display-code");
  let code: string | undefined;
  const opened = Promise.withResolvers<string>();
  const paired = pairDevice({
    client,
    credentials: openCredentialStore(folder),
    deviceLabel: "Kitchen laptop",
    onProgress: (step) => {
      if (step.kind !== "started") return;
      code = step.displayCode;
      opened.resolve(step.pairUrl);
    },
  });
  await page.goto(await opened.promise);
  expect(await page.locator("h1").textContent()).toBe("Sign in first");
  await signIn(page, await service.service.signInUrl());
  expect(page.url().replace(/\/s\/[\w-]{43}/, "")).toBe(await opened.promise);
  expect(await shownCode()).toBe(code);
  await tabTo(page, "Approve device");
  await page.keyboard.press("Enter");
  // Whoever asked may have its key before the page is there.
  await page.getByRole("heading", { name: /^Device (approved|paired)$/ }).waitFor();
  const { apiKey } = await paired;
  expect(JSON.parse(await readFile(join(folder, "credentials.json"), "utf8"))).toBeDefined();
  const own = new SvcClient({ baseUrl: service.url, apiKey });
  expect((await own.listTools()).tools.length).toBeGreaterThan(0);
  await own.close();
  await page.goto(`${service.url}/devices`);
  await page.getByText("Kitchen laptop", { exact: true }).waitFor();
});

test("an installation is approved, and its key revoked, with the keyboard alone", async () => {
  verifies("bootstrap.approval", "bootstrap.poll");
  const opened = Promise.withResolvers<string>();
  const installed = Promise.withResolvers<InstallConfig>();
  const done = bootstrapInstaller({
    client,
    request: { client_label: "Claude Code" },
    install: async (config) => installed.resolve(config),
    onProgress: (step) => {
      if (step.kind === "started") opened.resolve(step.approvalUrl);
    },
  });
  await page.goto(await opened.promise);
  await signIn(page, await service.service.signInUrl());
  await tabTo(page, "Approve installation");
  await page.keyboard.press("Space");
  await page.getByRole("heading", { name: /^Installation (approved|complete)$/ }).waitFor();
  await done;
  const { headers } = await installed.promise;
  const own = new SvcClient({ baseUrl: service.url, apiKey: headers["x-svc-api-key"] ?? "" });
  await own.listTools();
  await page.goto(`${service.url}/devices`);
  await page.getByLabel("Revoke Claude Code").focus();
  await page.keyboard.press("Enter");
  await tabTo(page, "Revoke Claude Code");
  await page.keyboard.press("Enter");
  await page.getByText("The device was revoked.").waitFor();
  await expect(own.listTools()).rejects.toMatchObject({ code: "unauthorized" });
  await own.close();
});

test("declining gives nothing away", async () => {
  const opened = Promise.withResolvers<string>();
  const paired = pairDevice({
    client,
    credentials: openCredentialStore(folder),
    onProgress: (step) => {
      if (step.kind === "started") opened.resolve(step.pairUrl);
    },
  });
  const refused = expect(paired).rejects.toMatchObject({ code: "pairing_failed" });
  await signIn(page, await service.service.signInUrl());
  await page.goto(await opened.promise);
  await page.getByRole("button", { name: "Decline" }).click();
  await page.getByRole("heading", { name: "Device declined" }).waitFor();
  await refused;
});

test("signing out ends the session of this browser", async () => {
  await signIn(page, await service.service.signInUrl());
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Signed out" }).waitFor();
  await page.goto(`${service.url}/`);
  await page.getByRole("heading", { name: "Sign in first" }).waitFor();
});
