import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { judgeLooks, launchChromium, openWindow, signIn } from "../browser/chromium.ts";
import { useHost } from "./host/use-host.ts";

/** Where the service holds calls for its owner, an agent in the real host waits for the inbox, and shows no card. */

const host = useHost({ approvals: "owner" });
let browser: Browser;
let page: Page;

beforeAll(async () => {
  browser = await launchChromium();
  page = await openWindow(browser, { colorScheme: "dark", width: 390 });
  await signIn(page, await host().service.service.signInUrl());
});
afterAll(() => browser?.close());

const effects = (text: string) => host().service.probe.calls.filter(({ args }) => args.text === text);

/** One turn with a write of this text, during which the owner opens its page; what the call gave the model. */
async function play(text: string, decide: () => Promise<unknown>): Promise<string> {
  const { model, operator } = host();
  model.playTurn({ tool: "probe_write_text", args: { text } }, "Done.");
  const turn = await operator.chat("Go on.", { sessionKey: text });
  await page.getByRole("link", { name: "Inbox", exact: true }).click();
  const row = page.getByRole("listitem").filter({ hasText: text });
  await row.getByText("Review").click();
  await decide();
  await turn.done;
  return model.requests.at(-1)?.results?.[0] ?? "";
}

test("an approval on a phone runs the call once, and nobody is asked in the chat", async () => {
  const result = await play("from the inbox", async () => {
    expect(await judgeLooks(page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole("button", { name: "Approve", exact: true }).click();
    await page.getByText("Approved. The call runs now.").waitFor();
  });
  expect(result).toContain("succeeded");
  expect(effects("from the inbox")).toHaveLength(1);
  expect(host().operator.events.filter(({ event }) => event === "plugin.approval.requested")).toEqual([]);
});

test("a no reaches the model with its reason", async () => {
  const result = await play("not today", async () => {
    await page.getByLabel("Reason for the agent").fill("Not on a Sunday.");
    await page.getByRole("button", { name: "Decline" }).click();
    await page.getByText("Reason: Not on a Sunday.").waitFor();
  });
  expect(result).toContain("Not on a Sunday.");
  expect(effects("not today")).toEqual([]);
});
