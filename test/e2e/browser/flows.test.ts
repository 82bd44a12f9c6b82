import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { findBarriers, launchChromium, measureOverflow, openWindow, signIn } from "./chromium.ts";
import { startUsedService, type UsedService } from "./dashboard-service.ts";
import { tabTo } from "./keyboard.ts";

let browser: Browser;
let service: UsedService;
let page: Page;

beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());
beforeEach(async () => {
  service = await startUsedService();
  page = await openWindow(browser, { colorScheme: "dark", width: 390 });
  await signIn(page, await service.service.signInUrl());
});
afterEach(async () => {
  await page.context().close();
  await service.close();
});

const listTasks = () => readdir(join(service.dataDir, "notes", "Tasks")).catch(() => []);

test("a flow is reviewed and approved with the keyboard alone, on a phone", async () => {
  await tabTo(page, "Skip to content");
  await page.keyboard.press("Enter");
  await tabTo(page, "Review");
  await page.keyboard.press("Enter");
  await page.getByText("Approve to create 2 task pages").waitFor();
  await page.getByText("Ada Brunner <ada@example.org>").first().waitFor();
  expect(await listTasks()).toEqual([]);
  await tabTo(page, "Approve");
  await page.keyboard.press("Enter");
  await page.getByText(/^Approved\. The flow (?:goes on|is done)\.$/).waitFor();
  await expect.poll(listTasks, { timeout: 30_000 }).toHaveLength(2);
});

test("a failed flow is resumed, and another declined", async () => {
  await page.getByRole("link", { name: "Look at it" }).click();
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByText(/^Resumed\. The flow /).waitFor();
  await page.goto(`${service.url}/flows/${service.flows.waiting}`);
  await page.getByLabel("Reason").fill("Not now");
  await page.getByRole("button", { name: "Decline" }).click();
  await page.getByText("Declined by Owner. Reason: Not now").waitFor();
  await page.goto(`${service.url}/`);
  expect(await page.getByText("Approve to create").count()).toBe(0);
  expect(await listTasks()).toEqual([]);
});

test("a flow is started by its form, corrected after a mistake, and run again", async () => {
  await page.goto(`${service.url}/flows`);
  await page.getByRole("link", { name: "Start a flow" }).click();
  await page.getByRole("link", { name: "Leave a reminder in the notes", exact: true }).click();
  await page.getByLabel("Reminder").fill("Water the plants");
  await page.getByRole("button", { name: "Start" }).click();
  await page.getByText("The flow was not started.").waitFor();
  await page.getByRole("alert").getByRole("link", { name: "Seconds to wait" }).click();
  await page.getByLabel("Seconds to wait").fill("3600");
  expect(await page.getByLabel("Reminder").inputValue()).toBe("Water the plants");
  expect([...(await findBarriers(page)), await measureOverflow(page)]).toEqual([0]);
  await page.getByRole("button", { name: "Start" }).click();
  await page.getByText("Started. The flow waits for your approval.").waitFor();
  await page.getByRole("button", { name: "Decline" }).click();
  await page.getByText("Declined by Owner. No reason was given.").waitFor();
  await page.getByRole("link", { name: "Run again" }).click();
  expect(await page.getByLabel("Seconds to wait").inputValue()).toBe("3600");
});
