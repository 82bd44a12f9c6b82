import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import { type Browser, chromium, type Page } from "playwright-core";
import { findChromium } from "../../suites/suites.ts";

/** No sandbox, as tests run as root in containers; nothing that talks to anywhere by itself. */
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** A bound for what hangs, not for what is slow. */
const PATIENCE_MS = 120_000;

/** Starts the Chromium of this machine. */
export async function launchChromium(flags: readonly string[] = []): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error("There is no Chromium on this machine.");
  return chromium.launch({ executablePath, args: [...FLAGS, ...flags] });
}

/** The windows every page is looked at in: a desk, and the smallest phone. */
export const LOOKS = (["light", "dark"] as const).flatMap((colorScheme) =>
  [1280, 320].map((width) => ({ colorScheme, width })),
);

/** One way to look at a page. */
export type Look = (typeof LOOKS)[number];

/** Opens a window with a look, which takes certificates of tests; pages in it share cookies. */
export async function openWindow(browser: Browser, { colorScheme, width }: Look): Promise<Page> {
  const context = await browser.newContext({
    colorScheme,
    ignoreHTTPSErrors: true,
    viewport: { width, height: width < 600 ? 844 : 800 },
    locale: "en-GB",
    timezoneId: "UTC",
  });
  context.setDefaultTimeout(PATIENCE_MS);
  return context.newPage();
}

/** Opens a one-time sign-in link and presses its button. */
export async function signIn(page: Page, signInUrl: string): Promise<void> {
  await page.goto(signInUrl);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.waitForURL((url) => !url.pathname.startsWith("/sign-in"));
}

let axeSource: Promise<string> | undefined;

/** Serious and critical findings of axe on a page, as short lines. */
export async function findBarriers(page: Page): Promise<string[]> {
  axeSource ??= readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  const source = await axeSource;
  // Evaluated over the debugger, which the page's policy against scripts does not concern.
  const results: AxeResults = await page.evaluate(`${source};axe.run(document)`);
  return results.violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 160)).join(" | ")}`);
}

/** Pixels by which a page is wider than its window. */
export function measureOverflow(page: Page): Promise<number> {
  return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
}

/** What is wrong with the page that is open, in each look, as short lines. */
export async function judgeLooks(page: Page): Promise<string[]> {
  const found: string[] = [];
  for (const { colorScheme, width } of LOOKS) {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme });
    const overflow = await measureOverflow(page);
    const barriers = [...(await findBarriers(page)), ...(overflow > 0 ? [`${overflow} pixels too wide`] : [])];
    found.push(...barriers.map((text) => `${colorScheme} ${width}: ${text}`));
  }
  return found;
}
