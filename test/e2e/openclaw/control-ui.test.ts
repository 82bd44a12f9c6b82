import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchChromium, openWindow } from "../browser/chromium.ts";
import { useHost } from "./host/use-host.ts";

/** The host's own page in a browser: what a person sees of a card, and what a click on it does. */

const PATIENCE_MS = 60_000;
const host = useHost();
let browser: Browser;
let page: Page;

beforeAll(async () => {
  browser = await launchChromium();
  page = await openWindow(browser, { colorScheme: "light", width: 1280 });
  page.setDefaultTimeout(PATIENCE_MS);
  const { gateway, state } = host();
  await page.goto(`${gateway.url}/chat?session=main#token=${state.token}`);
});
afterAll(() => browser?.close());

/** Waits for the answer, and until the page says that the turn is over: before that it queues what is typed. */
async function waitForEnd(path: string): Promise<void> {
  const turn = page.locator("*", { hasText: `That was ${path}.` }).filter({ hasText: /Done in \d+ / });
  await turn.last().waitFor();
}

async function ask(path: string): Promise<void> {
  const { model } = host();
  model.playTurn({ tool: "drive_create_folder", args: { path } }, `That was ${path}.`);
  await page.locator("textarea:visible").fill("Make a folder for the quotes.");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Allow once" }).waitFor();
}

test(
  "the whole card is on the page, and a click lets the call through once",
  async () => {
    await ask("Quotes/2026");
    const card = await page.locator("body").innerText();
    expect(card).toContain("Create a folder (Local drive)");
    expect(card).toMatch(/^drive \(Local drive\): drive_create_folder, writes$/m);
    expect(card).toMatch(/^path: Quotes\/2026$/m);
    expect(card).toMatch(/^Why: .+\nCheck: Which folder is created\?\nAlways: .+ until \/svc rules revoke\.$/m);
    await page.getByRole("button", { name: "Allow once" }).click();
    await waitForEnd("Quotes/2026");
    expect(await host().service.effects()).toMatchObject([{ toolName: "drive_create_folder", status: "succeeded" }]);
  },
  2 * PATIENCE_MS,
);

test(
  "a click on Deny keeps everything as it was",
  async () => {
    const before = await host().service.effects();
    const { requests } = host().model;
    const from = requests.length;
    await ask("Quotes/2027");
    await page.getByRole("button", { name: "Deny" }).click();
    await waitForEnd("Quotes/2027");
    // The host may have started another run of the model meanwhile, whose request is the last one.
    const results = requests.slice(from).flatMap((request) => request.results);
    expect(results.filter((result) => /declined|denied/i.test(result))).not.toEqual([]);
    expect(await host().service.effects()).toEqual(before);
  },
  2 * PATIENCE_MS,
);
