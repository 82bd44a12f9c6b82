import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { execute, type Reply } from "../../service/http-calls.ts";
import { createLab } from "../../service/lab-integration.ts";
import { launchChromium, signIn } from "./chromium.ts";

const IN_TOKYO = { locale: "en-GB", timezoneId: "Asia/Tokyo" } as const;
const UTC = "2026-03-04 20:15:00 UTC";
const LOCAL = /^5 Mar 2026, 05:15:00 (?:GMT\+9|JST)$/;

let browser: Browser;
let service: TestService;
let now: number;

beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());
beforeEach(async () => {
  now = Date.parse("2026-03-04T20:15:00Z");
  service = await startTestService({ integrations: [createLab().integration], now: () => now, approvals: "owner" });
  await service.service.connections.add({ integration: "lab", label: "Lab", settings: {} });
  await execute(service, "lab_look");
  now += 3 * 60_000;
});
afterEach(() => service.close());

async function open(path: string, options: BrowserContextOptions = IN_TOKYO): Promise<Page> {
  const page = await (await browser.newContext(options)).newPage();
  await signIn(page, await service.service.signInUrl());
  await page.goto(`${service.url}${path}`);
  // Without scripts a page of the session is found by its links.
  if (options.javaScriptEnabled === false) await page.goto(await findInSession(page, path));
  return page;
}

async function findInSession(page: Page, path: string): Promise<string> {
  const cookies = await page.context().cookies();
  const prefix = cookies.find(({ name }) => name === "svc_session")?.path ?? "";
  return `${service.url}${prefix}${path}`;
}

test("a list has the browser's time behind each distance, shown when it is pressed", async () => {
  const page = await open("/log");
  const time = page.locator("main time");
  expect(await time.textContent()).toBe("3 minutes ago");
  expect(await time.getAttribute("title")).toMatch(LOCAL);
  await time.click();
  expect(await time.textContent()).toMatch(LOCAL);
  await time.click();
  expect(await time.textContent()).toBe("3 minutes ago");
  await page.context().close();
});

test("an exact time is the browser's, with UTC behind it", async () => {
  const page = await open("/log");
  await page.locator("main a[href*='/log/exe_']").click();
  const time = page.locator("dt:has-text('Started') + dd time");
  expect(await time.textContent()).toMatch(LOCAL);
  expect(await time.getAttribute("title")).toBe(UTC);
  await page.context().close();
});

test("without scripts times are UTC, and say so", async () => {
  const page = await open("/log", { ...IN_TOKYO, javaScriptEnabled: false });
  const time = page.locator("main time");
  expect([await time.textContent(), await time.getAttribute("title")]).toEqual(["3 minutes ago", UTC]);
  await page.locator("main a[href*='/log/exe_']").click();
  expect(await page.locator("dt:has-text('Started') + dd time").textContent()).toBe(UTC);
  await page.context().close();
});

test("times that come later are the browser's too, and what has not changed is left as it is", async () => {
  const hold = (title: string): Promise<Reply> =>
    execute(service, "lab_put", { arguments: { title }, confirmed: true });
  await hold("First");
  const page = await open("/inbox");
  await page.clock.install();
  await page.reload();
  const titles = () => page.evaluate("[...document.querySelectorAll('#requests time')].map((time) => time.title)");
  expect(await titles()).toEqual([expect.stringMatching(/^5 Mar 2026, 05:18:00/)]);
  await page.evaluate("document.querySelector('#requests li').isKept = true");
  now += 1000;
  await hold("Second");
  await page.clock.runFor(10_000);
  await page.getByText("1 new request").waitFor();
  expect(await titles()).toEqual([
    expect.stringMatching(/^5 Mar 2026, 05:18:01/),
    expect.stringMatching(/^5 Mar 2026, 05:18:00/),
  ]);
  expect(
    await page.evaluate("[...document.querySelectorAll('#requests li')].map((row) => row.isKept === true)"),
  ).toEqual([false, true]);
  await page.context().close();
});

test("days of the filter are the browser's, and UTC's without scripts", async () => {
  const page = await open("/log?from=2026-03-05&to=2026-03-05");
  expect(await page.locator("main time").count()).toBe(0);
  await page.locator("label[for=from]").waitFor();
  expect(await page.locator("label[for=from]").textContent()).toBe("From (Asia/Tokyo)");
  await page.getByRole("button", { name: "Filter" }).click();
  await page.locator("main time").waitFor();
  expect(new URL(page.url()).searchParams.get("zone")).toBe("Asia/Tokyo");
  await page.context().close();
  const plain = await open("/log?from=2026-03-04", { javaScriptEnabled: false });
  expect(await plain.locator("label[for=from]").textContent()).toBe("From (UTC)");
  expect(await plain.locator("main time").count()).toBe(1);
  await plain.context().close();
});
