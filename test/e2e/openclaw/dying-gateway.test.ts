import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { restartGateway } from "./host/gateway-line.ts";
import { connectOperator, nameSession, type Operator } from "./host/operator.ts";
import { startTelegram, type Telegram } from "./host/telegram.ts";
import { useHost } from "./host/use-host.ts";

/** One power cut of the gateway, with three calls in the middle: a card in its page, a card in a chat, and a write on its way. */

const host = useHost();
const PATIENCE = { timeout: 240_000, interval: 250 };
let telegram: Telegram;
/** After the power cut. */
let person: Operator;
/** The card that was in the page. */
let oldCard: Record<string, unknown>;
/** What each call gave the model in the run by which the host goes on with its turn by itself. */
const told: Record<string, string> = {};

/** Words of the person, and with them of the whole conversation, by what is under way in it. */
const CARD = "Go on with the card in the page.";
const CHAT = "Go on with the card in the chat.";
const SENT = "Go on with what is sent.";
const CALLS = {
  [CARD]: { tool: "svc_call_tool", args: { name: "probe_write_text", arguments: { text: "killed" } } },
  [CHAT]: { tool: "svc_call_tool", args: { name: "probe_write_text", arguments: { text: "torn" } } },
  [SENT]: { tool: "svc_call_tool", args: { name: "lab_wait", arguments: {} } },
};
const SESSIONS = { [CARD]: "killed", [SENT]: "torn" };

const effects = (text: string) => host().service.probe.calls.filter(({ args }) => args.text === text);
/** False for the words that stand in for a result the host has lost. */
const isResult = (text: string | undefined) => text !== undefined && !/missing tool result|^$/.test(text);

/** Each conversation makes its call, and makes it again when the host has lost its result. */
function insist(): void {
  host().model.play(({ raw, results }) => {
    const call = Object.entries(CALLS).find(([words]) => raw.includes(words))?.[1];
    return call === undefined || isResult(results.at(-1)) ? "Done." : call;
  });
}

/** The result of the call of a conversation since the model was asked `from` times. */
function findResult(from: number, words: string): string {
  const requests = host()
    .model.requests.slice(from)
    .filter(({ raw }) => raw.includes(words));
  const { results } = requests.findLast((request) => isResult(request.results.at(-1))) ?? expect.fail(words);
  return results.at(-1) ?? "";
}

async function isIdle(sessionKey: string): Promise<boolean> {
  const { sessionInfo } = await person.request("chat.history", { sessionKey: nameSession(sessionKey) });
  return (sessionInfo as { hasActiveRun?: boolean } | undefined)?.hasActiveRun === false;
}

async function ask(words: keyof typeof SESSIONS, operator = person) {
  const turn = await operator.chat(words, { sessionKey: SESSIONS[words] });
  turn.done.catch(() => {});
  return turn;
}

beforeAll(async () => {
  const { operator, service, model, gateway, state } = host();
  telegram = await startTelegram();
  await telegram.join(host());
  insist();
  await ask(SENT, operator);
  await operator.answerCard("allow-once");
  await service.lab.waiting;
  await ask(CARD, operator);
  oldCard = await operator.take("plugin.approval.requested");
  telegram.write(CHAT);
  await telegram.take(({ buttons, html }) => buttons.length > 0 && html.includes("torn"));
  const from = model.requests.length;
  await restartGateway(gateway.controlPort);
  person = await connectOperator(gateway, state);
  for (const words of Object.keys(CALLS)) {
    told[words] = await vi.waitFor(() => findResult(from, words), PATIENCE);
  }
  for (const session of Object.values(SESSIONS)) {
    await vi.waitFor(async () => expect(await isIdle(session)).toBe(true), PATIENCE);
  }
}, 1_500_000);

afterAll(async () => {
  await telegram?.leave({ ...host(), operator: person ?? host().operator });
  await telegram?.close();
  await person?.close();
});

test("while a card is open: nothing is sent, the old card is worth nothing, the call is asked about anew", async () => {
  expect(told[CARD]).toContain("/svc pending");
  await expect(person.request("plugin.approval.resolve", { id: oldCard.id, decision: "allow-once" })).rejects.toThrow();
  expect(effects("killed")).toEqual([]);
  const again = await ask(CARD);
  await person.answerCard("allow-once");
  await again.done;
  expect(effects("killed")).toHaveLength(1);
});

test("while a write is on its way: it is not sent again by itself, and the next card says so", async () => {
  const { lab } = host().service;
  expect(told[SENT]).toContain("/svc pending");
  lab.release();
  const again = await ask(SENT);
  expect((await person.answerCard("deny")).description).toContain("An equal call was sent before and never answered");
  await again.done;
  expect(lab.ran).toEqual(["wait"]);
});

test("while a card is in the chat: the run that goes on by itself is told how the call is released", () => {
  expect(told[CHAT]).toContain("/svc pending");
  expect(told[CHAT]).not.toContain("gateway unavailable");
  expect(effects("torn")).toEqual([]);
});
