import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadShownText } from "../../../src/plugin/runtimes/openclaw/ask/shown-text.ts";
import { launchChromium, openWindow } from "../browser/chromium.ts";
import { expectShown, packCorpus } from "./card-corpus.ts";
import { loadFromHost } from "./host/find-openclaw.ts";
import { useHost } from "./host/use-host.ts";

/** The host's own page in a browser: what a person sees of a card, and what a click on it does. */

/** A bound for what hangs: the first turn of a gateway takes a minute on a very busy machine. */
const PATIENCE_MS = 240_000;
const host = useHost();
let browser: Browser;
let page: Page;

beforeAll(async () => {
  browser = await launchChromium();
  page = await openWindow(browser, { colorScheme: "light", width: 1280 });
  page.setDefaultTimeout(PATIENCE_MS);
  const { gateway, state } = host();
  await page.goto(`${gateway.url}/chat?session=agent:main:main#token=${state.token}`);
});
afterAll(() => browser?.close());

function plan(path: string): void {
  host().model.playTurn({ tool: "drive_create_folder", args: { path } }, `That was ${path}.`);
}

test(
  "the whole card is on the page, and a click lets the call through once",
  async () => {
    plan("Quotes/2026");
    await page.locator("textarea:visible").fill("Make a folder for the quotes.");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Allow once" }).waitFor();
    const card = await page.locator("body").innerText();
    expect(card).toContain("Create a folder: `Quotes/2026`");
    expect(card).toMatch(/^drive \(Local drive\): drive_create_folder, writes$/m);
    expect(card).toMatch(/^path: Quotes\/2026$/m);
    expect(card).toMatch(/^Why: .+\nCheck: Which folder is created\?\nAlways: .+ until \/svc rules revoke\.$/m);
    await page.getByRole("button", { name: "Allow once" }).click();
    // Until the page says that the turn is over, another message would be taken for a part of it.
    const turn = page.locator("*", { hasText: "That was Quotes/2026." }).filter({ hasText: /Done in \d/ });
    await turn.last().waitFor();
    expect(await host().service.effects()).toMatchObject([{ toolName: "drive_create_folder", status: "succeeded" }]);
  },
  2 * PATIENCE_MS,
);

test(
  "a click on Deny keeps everything as it was",
  async () => {
    const { model, operator, service } = host();
    const before = await service.effects();
    const from = model.requests.length;
    plan("Quotes/2027");
    const turn = await operator.chat("Make another one.", { sessionKey: "main" });
    await page.getByRole("button", { name: "Deny" }).click();
    await turn.done;
    // The host may have started another run of the model meanwhile, whose request is the last one.
    const results = model.requests.slice(from).flatMap((request) => request.results);
    expect(results.filter((result) => /declined|denied/i.test(result))).not.toEqual([]);
    expect(await service.effects()).toEqual(before);
  },
  2 * PATIENCE_MS,
);

/**
 * In the page: declines each card as it comes, until it has read `count` of those numbered so and none waits; returns
 * their texts by it.
 */
const READ_CARDS = `(async (from, count) => {
  const texts = {};
  const patience = Date.now() + ${PATIENCE_MS};
  for (let card; (card !== null || Object.keys(texts).length < count) && Date.now() < patience; ) {
    await new Promise((resolve) => requestAnimationFrame(resolve));
    card = document.querySelector(".exec-approval-card--inline");
    const number = /#n(\\d+)#/.exec(card?.textContent ?? "")?.[1];
    if (number >= from) texts[number] ??= card.querySelector("pre").innerText;
    // A click while the page still sends the answer before counts for nothing.
    [...(card?.querySelectorAll("button") ?? [])].find((button) => button.textContent.includes("Deny"))?.click();
  }
  return texts;
})`;

/** The page shows cards one after another, and takes the longer for each the more wait. */
const AT_A_TIME = 20;

test(
  "every argument of a card is on the page, or it says NOT COMPLETE, whatever its texts",
  async () => {
    const { operator } = host();
    const cards = packCorpus(await loadShownText(async (subpath) => loadFromHost(`plugin-sdk/${subpath}.js`)));
    expect(cards.flatMap(({ args }) => Object.keys(args)).length - cards.length).toBeGreaterThan(1_000);
    const where = { pluginId: "svc", toolName: "mail_send_message", sessionKey: "agent:main:main", agentId: "main" };
    for (let from = 0; from < cards.length; from += AT_A_TIME) {
      const some = cards.slice(from, from + AT_A_TIME);
      const asking = some.map(({ card: { description, severity, allowedDecisions } }, index) => {
        const card = { title: `#n${from + index}#`, description, severity, allowedDecisions };
        return operator.request("plugin.approval.request", { ...card, ...where, timeoutMs: 600_000, twoPhase: true });
      });
      await Promise.all(asking);
      const texts: Record<string, string> = await page.evaluate(`${READ_CARDS}(${from}, ${some.length})`);
      for (const [index, drawn] of some.entries()) expectShown(`\n${texts[from + index]}`, drawn);
    }
  },
  3 * PATIENCE_MS,
);

/** The longest title that names what a call is about. */
const TITLE = `Send a message: \`${"W".repeat(24)}\``;

test(
  "a title that names what a call is about stands whole in the Inbox",
  async () => {
    const { operator } = host();
    const where = { pluginId: "svc", toolName: "mail_send_message", sessionKey: "agent:main:main", agentId: "main" };
    const card = { title: TITLE, description: "x", severity: "warning", timeoutMs: 600_000, twoPhase: true };
    const { id } = await operator.request("plugin.approval.request", { ...card, ...where });
    await page.getByRole("button", { name: /inbox item/ }).click();
    const rows = ".sidebar-approval-row__command";
    await page.locator(rows, { hasText: TITLE }).first().waitFor();
    const cut = await page.evaluate(
      `[...document.querySelectorAll("${rows}")].map((row) => row.scrollWidth - row.clientWidth)`,
    );
    await operator.request("plugin.approval.resolve", { id, decision: "deny" });
    expect(Math.max(...(cut as number[]))).toBe(0);
  },
  PATIENCE_MS,
);
