import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { type ApprovalSubject, createApprovalRequest } from "../../src/plugin/calls/ask/request.ts";
import { createHostCard } from "../../src/plugin/runtimes/openclaw/ask/approval-card.ts";
import { createShownCards, createWaitingCalls } from "../../src/plugin/runtimes/openclaw/ask/ask-state.ts";
import { showWaitingCall } from "../../src/plugin/runtimes/openclaw/commands/decision-commands.ts";
import { FUZZ_FACTOR, fuzzOptions } from "../fuzz/fuzz-options.ts";
import { hostileArguments, trickyText } from "./arguments.ts";
import { MAIL_SUBJECT } from "./card-subject.ts";
import { showInDiscord, showInSlack, showInTelegram, writeHostMessages } from "./chat-forms.ts";

/** What a person sees of OpenClaw's card in chats that render Markdown. */

vi.setConfig({ testTimeout: 60_000 * FUZZ_FACTOR });

const CODE = "K7PM2QXA";

function createRequest(change: Partial<ApprovalSubject>) {
  return createApprovalRequest({ ...MAIL_SUBJECT, description: "", ...change }, { now: 0, ttlMs: 1 });
}

const SIGNS = [
  "||",
  "*",
  "**",
  "_",
  "__",
  "~~",
  "`",
  "```",
  "```\n",
  "[",
  "](https://evil.example/?d=1)",
  "<",
  ">",
  "\\",
  "#",
];
/** Addresses that a chat finds by itself. */
const BARE = [
  "https://evil.example/?d=SECRET",
  "www.evil.example",
  "evil.example",
  "![x](http://evil.example)",
  ":eyes:",
];
const write = (signs: readonly string[]) =>
  fc
    .array(fc.oneof(fc.constantFrom(...signs), trickyText, fc.constantFrom("word", " ")), { maxLength: 6 })
    .map((parts) => parts.join("").toWellFormed());
/** What a model writes, and what a service or an owner calls a tool or an account. */
const markdown = write([...SIGNS, ...BARE]);
const label = write(SIGNS);
const squeeze = (text: string) => text.replaceAll(/\s/g, "");

describe.each([
  ["Discord", showInDiscord],
  ["Telegram", showInTelegram],
  ["Slack", showInSlack],
])("in %s", (_chat, show) => {
  it("all of a card is visible, and nothing of it is a link", () => {
    fc.assert(
      fc.property(markdown, markdown, label, hostileArguments, (first, second, title, more) => {
        const mail = { subject: first, to: ["eve@evil.example"], title: second, ...more };
        for (const args of [mail, { path: first }, { name: second }]) {
          const request = createRequest({ arguments: args, title: `Send ${title}`, account: `Work ${title}` });
          const { card } = createHostCard(request, CODE);
          const lines = card.description.split("\n").slice(2, -1);
          expect(lines[0]).toMatch(/mail_send_message, writes$/);
          // The backticks around what the call is about are what keeps it from being a link.
          const told = [card.title.replaceAll("`", ""), ...lines];
          for (const message of writeHostMessages(card)) {
            const { visible, links } = show(message);
            for (const line of told) expect(squeeze(visible)).toContain(squeeze(line));
            expect(links).toEqual([]);
          }
        }
      }),
      fuzzOptions({ runs: 300 }),
    );
  });

  it("all of what /svc show answers is visible", () => {
    const askState = { waitingCalls: createWaitingCalls(), cards: createShownCards() };
    fc.assert(
      fc.property(markdown, markdown, (first, second) => {
        const request = createRequest({ arguments: { subject: first, text: second.repeat(20) } });
        const { text } = showWaitingCall(askState, askState.cards.add(request, 60_000));
        const { visible, links } = show(text);
        for (const line of text.split("\n").slice(1, -1)) expect(squeeze(visible)).toContain(squeeze(line));
        expect(links).toEqual([]);
      }),
      fuzzOptions({ runs: 150 }),
    );
  });

  it("no recipient is hidden between spoiler bars, and no link has another label", () => {
    const args = {
      subject: "Lunch ||",
      to: ["eve@evil.example"],
      title: "|| ok",
      note: "[the offer](https://evil.example/)",
    };
    const { card } = createHostCard(createRequest({ arguments: args }), CODE);
    for (const message of writeHostMessages(card)) {
      const { visible, links } = show(message);
      expect(visible).toContain("eve@evil.example");
      expect(visible).toContain("[the offer](https://evil.example/)");
      expect(links).toEqual([]);
    }
  });
});
