import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { type Machine, openMachine } from "../../pairing/sign-in-at.ts";
import { runSvc, startSvc } from "../run-svc.ts";
import { findBarriers, launchChromium, measureOverflow, openWindow } from "./chromium.ts";

/** `svc login` with a real browser, from the printed link to a called tool. */

let browser: Browser;
let service: TestService;
let machine: Machine;
let page: Page;

beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());
beforeEach(async () => {
  service = await startTestService();
  machine = await openMachine();
  page = await openWindow(browser, { colorScheme: "light", width: 390 });
});
afterEach(async () => {
  await page.context().close();
  await machine.close();
  await service.close();
});

const press = (name: string) => page.getByRole("button", { name, exact: true }).click();

/** Starts `svc login` and opens its link as a person does who has to sign in first. */
async function openLink() {
  const running = startSvc(["login", "--base-url", service.url, "--label", "desk"], machine.folder);
  const [, link = ""] = await running.waitFor(/approve: (\S+)/);
  await page.goto(link);
  expect(await page.locator("h1").textContent()).toBe("Sign in first");
  await page.goto(await service.service.signInUrl());
  expect(await page.locator("h1").textContent()).toBe("Give svc on desk access?");
  return running;
}

test("Approve brings the browser back to the program, which can call tools then", async () => {
  const running = await openLink();
  await press("Approve");
  await page.waitForURL(/^http:\/\/127\.0\.0\.1:\d+\/callback\?/);
  expect(await page.locator("h1").textContent()).toBe("Signed in");
  expect(await findBarriers(page)).toEqual([]);
  expect(await measureOverflow(page)).toBe(0);
  const done = await running.done;
  expect([done.code, done.stderr]).toEqual([0, ""]);
  const called = await runSvc(["call", "notes_create_page", "--args", '{"title":"A"}'], machine.folder, {
    input: "a\n",
  });
  expect(called.stdout).toContain("Done.");
  expect(await service.effects()).toHaveLength(1);
  await page.goto(`${service.url}/devices`);
  expect(await page.locator("main").textContent()).toContain("svc on desk");
});

test("Decline is said in the browser and at the terminal", async () => {
  const running = await openLink();
  await press("Decline");
  await page.waitForURL(/^http:\/\/127\.0\.0\.1:\d+\/callback\?/);
  expect(await page.locator("h1").textContent()).toBe("Not signed in");
  const done = await running.done;
  expect([done.code, done.stderr]).toEqual([1, expect.stringContaining("declined in the browser")]);
});
