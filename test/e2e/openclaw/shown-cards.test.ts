import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { loadShownText } from "../../../src/plugin/runtimes/openclaw/ask/shown-text.ts";
import { drawCorpus, expectShown } from "./card-corpus.ts";
import { HOST_CODE, loadFromHost } from "./host/find-openclaw.ts";
import { readHtml } from "./host/telegram.ts";

/** What the host's own code shows of a card: its masks, and the message that its Telegram channel sends. */

/** A function of a file that the host bundles under a name of its own making. */
async function loadBundled(file: string, name: string): Promise<(text: string) => string> {
  const found = readdirSync(HOST_CODE).find((path) => path.startsWith(`${file}-`) && path.endsWith(".mjs"));
  const functions = Object.values(await loadFromHost(found ?? ""));
  return functions.find((one) => one.name === name) as (text: string) => string;
}

const shows = await loadShownText(async (subpath) => loadFromHost(`plugin-sdk/${subpath}.js`));
const sanitize = await loadBundled("exec-approval-text-sanitize", "sanitizeExecApprovalWarningText");
const sanitizeTitle = await loadBundled("exec-approval-text-sanitize", "sanitizeExecApprovalDisplayText");
const { buildPluginApprovalPendingReplyPayload: buildReply } = await loadFromHost(
  "plugin-sdk/approval-reply-runtime.js",
);
const { markdownToTelegramHtml: toHtml } = await loadFromHost("extensions/telegram/api.js");

test("500 texts and more: the host changes nothing, and every argument is read, or the card says NOT COMPLETE", () => {
  const cards = drawCorpus(shows);
  expect(cards.length).toBeGreaterThan(500);
  for (const drawn of cards) {
    const { card } = drawn;
    expect(sanitize(card.description)).toBe(card.description);
    expect(sanitizeTitle(card.title)).toBe(card.title);
    expect(card.description).not.toMatch(/[<>]|&\w+;/);
    const reply = buildReply?.({ request: { id: "plugin:1", request: card, expiresAtMs: 1 }, nowMs: 0 });
    const html = String(toHtml?.((reply as { text: string }).text));
    expect(html).not.toMatch(/<a /);
    expectShown(readHtml(html), drawn);
  }
  expect(cards.filter(({ isComplete }) => isComplete).length).toBeGreaterThan(100);
});
