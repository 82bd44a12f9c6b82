import { expect } from "vitest";
import { createApprovalRequest } from "../../../src/plugin/calls/ask/request.ts";
import { createHostCard } from "../../../src/plugin/runtimes/openclaw/ask/approval-card.ts";
import type { ShowsWhole } from "../../../src/plugin/runtimes/openclaw/ask/shown-text.ts";
import { CARD_TEXTS } from "../../approvals/texts/card-texts.ts";

/** Texts that hosts mask, that hide or forge facts of a card, and usual ones, as arguments of calls with their cards. */

const SECRETS = [
  ...[
    "Sommer2026Haus",
    "abcdef1234567890abcd",
    "https://evil.example/x",
    `ghp_${"a1".repeat(20)}`,
    "AKIAABCDEFGHIJ234567",
  ],
  ...[
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
    "123456789:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
  ],
  ...["sk-abcdefgh12345678", "xoxb-123456789012-abcdef", "ada@example.org", "4111 1111 1111 1111", "plain words", "x"],
];
const TEXTS = [
  ...[
    "%",
    "Your password: %",
    "password=%",
    "api_key=%",
    "Set token=% in the form",
    "run it with --token %",
    "x\n%\ny",
  ],
  ...["DATABASE_PASSWORD=%", "Authorization: Bearer %", "https://ada:%@example.org/x", '{"apiKey": "%"}', "secret:\n%"],
  ...[
    "-----BEGIN PRIVATE KEY-----%",
    "%\n-----END PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY----- % -----END PRIVATE KEY-----",
  ],
  ...[
    "<https://evil.example|%>",
    "&lt;%&gt;",
    "[%](https://evil.example)",
    "```%```",
    "*%*",
    "to: % bcc: nobody",
    "% password:",
  ],
];
const corpus = TEXTS.flatMap((text) => SECRETS.map((secret) => text.replaceAll("%", secret)));
const CALLS: readonly Readonly<Record<string, unknown>>[] = [
  ...corpus.map((text) => ({ to: ["ada@example.org"], bcc: ["mallory@evil.example"], body: text })),
  ...corpus.map((text, index) => ({
    subject: text,
    to: ["ada@example.org"],
    body: corpus[(index * 7) % corpus.length],
  })),
];

/** A call with its card, for a host that shows texts as `shows` tells. */
function drawCall(args: Readonly<Record<string, unknown>>, shows: ShowsWhole) {
  const facts = { tool: "mail_send_message", integration: "mail", account: "Local mailbox", connection: "c1" };
  const why = { title: "Send a message", description: "", reason: '"Send a message" changes something in Mail.' };
  const subject = { ...facts, ...why, arguments: args, files: [], effect: "write" as const, principal: "p" };
  const request = createApprovalRequest(subject, { now: 0, ttlMs: 1 });
  return { args, ...createHostCard(request, "K7PM2QXA", shows) };
}

type DrawnCall = ReturnType<typeof drawCall>;

/** More than 500 calls, each with its card. */
export const drawCorpus = (shows: ShowsWhole) => CALLS.map((args) => drawCall(args, shows));

/** So many arguments a card shows beside the recipient, if it does not show all. */
const MOST_TEXTS = 6;

/**
 * The texts of {@link drawCorpus} and of the contract of all cards, in few calls: as many in one as its card shows whole;
 * those that no card shows whole are by themselves.
 */
export function packCorpus(shows: ShowsWhole): readonly DrawnCall[] {
  const draw = (texts: readonly string[]) =>
    drawCall({ to: ["ada@example.org"], ...Object.fromEntries(texts.map((text, at) => [`t${at}`, text])) }, shows);
  const texts = new Set([...corpus, ...CARD_TEXTS.map(({ text }) => text)]);
  const packed: DrawnCall[] = [];
  const open = { whole: [] as string[], cut: [] as string[] };
  const flush = (which: keyof typeof open) => {
    if (open[which].length > 0) packed.push(draw(open[which]));
    open[which] = [];
  };
  for (const text of texts) {
    const which = draw([text]).isComplete ? "whole" : "cut";
    const isFull = which === "cut" ? open.cut.length >= MOST_TEXTS : !draw([...open.whole, text]).isComplete;
    if (isFull) flush(which);
    open[which].push(text);
  }
  flush("whole");
  flush("cut");
  return packed;
}

/** Sees that a text as a person reads it shows the card, and each argument of a card that says nothing of being incomplete. */
export function expectShown(text: string, { args, card, isComplete }: DrawnCall): void {
  expect(text).toContain(card.description.split("\n").slice(2, -1).join("\n"));
  expect(text).toContain('\nto: ["ada@example.org"]\n');
  expect(text.includes("\nNOT COMPLETE: ")).toBe(!isComplete);
  if (!isComplete) return;
  const lines = new Map(text.split("\n").map((line) => [line.split(": ")[0], line.slice(line.indexOf(": ") + 2)]));
  for (const [name, value] of Object.entries(args)) {
    const shown = lines.get(name) ?? expect.fail(`${name} is missing in ${text}`);
    expect(shown === value ? value : JSON.parse(shown)).toEqual(value);
  }
}
