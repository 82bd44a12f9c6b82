import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { builtInIntegrations } from "../../../src/apps/built-in.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { createVault } from "../../service/connections/vault-integration.ts";
import { execute } from "../../service/http-calls.ts";
import { launchChromium, openWindow, signIn } from "./chromium.ts";

let browser: Browser;
let service: TestService;
let folder: string;
let page: Page;

beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-browser-"));
  service = await startTestService({ integrations: [...builtInIntegrations, createVault().integration] });
  page = await openWindow(browser, { colorScheme: "dark", width: 1280 });
  await signIn(page, await service.service.signInUrl());
});
afterEach(async () => {
  await page.context().close();
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

test("a folder is connected as a second drive, after a mistake was shown at its field", async () => {
  await page.getByRole("link", { name: "Connections", exact: true }).click();
  await page.getByRole("link", { name: "Connect another Drive" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Family drive");
  await page.getByRole("textbox", { name: "Folder", exact: true }).fill(join(folder, "nothing"));
  await page.getByLabel("Read only").check();
  await page.getByRole("button", { name: "Connect Drive" }).click();
  await page.getByRole("alert").getByRole("link", { name: "Folder", exact: true }).click();
  expect(await page.evaluate("document.activeElement.id")).toBe("set-folder");
  expect(await page.getByRole("textbox", { name: "Folder", exact: true }).getAttribute("aria-invalid")).toBe("true");
  expect(await page.getByLabel("Read only").isChecked()).toBe(true);
  await page.getByRole("textbox", { name: "Folder", exact: true }).fill(folder);
  // Offered, because the default is still the folder of the first start.
  await page.getByLabel("Use this one when an agent").uncheck();
  await page.keyboard.press("Enter");
  await page.getByText("Connected. Agents can use it").waitFor();
  await page.getByRole("link", { name: "Family drive" }).click();
  await page.getByText("Limited").waitFor();
  await page.getByRole("button", { name: "Make default" }).click();
  await page.getByText("This is the default now").waitFor();
  const [, family] = await service.service.connections.list("drive");
  expect(family).toMatchObject({ label: "Family drive", isDefault: true, scopes: ["drive.read"] });
});

test("an app that refuses its access is reconnected from the home page", async () => {
  const settings = { address: "https://vault.example", token: "stale" };
  await service.service.connections.add({ integration: "vault", label: "Team vault", settings });
  expect((await execute(service, "vault_look")).status).toBe(401);
  await page.reload();
  await page.getByRole("link", { name: "Reconnect" }).click();
  await page.getByLabel("Access token").fill("fresh");
  await page.getByRole("button", { name: "Reconnect" }).click();
  await page.getByText("Reconnected. Calls that were refused can be repeated.").waitFor();
  expect((await execute(service, "vault_look")).status).toBe(200);
});
