import { createServer } from "node:http";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { TOKEN } from "../../service/triggers/trigger-lab.ts";
import { listen } from "./host/exchange.ts";
import type { HostState } from "./host/isolated-state.ts";
import { connectOperator, type Operator } from "./host/operator.ts";
import { runOpenClaw } from "./host/run-openclaw.ts";
import { readHtml, startTelegram, type Telegram } from "./host/telegram.ts";
import { getProvided, useHost } from "./host/use-host.ts";

/** A host as people have it: a chat channel, here the host's own Telegram code, and two agents, of which none is marked. */

const host = useHost();
let telegram: Telegram;
let person: Operator;

beforeAll(async () => {
  telegram = await startTelegram();
  await telegram.join(host());
});
afterAll(async () => {
  await telegram?.leave(host());
  await telegram?.close();
});

beforeEach(async () => {
  person = await connectOperator(host().gateway, host().state);
});
afterEach(() => person.close());

const write = (text: string) => ({ tool: "svc_call_tool", args: { name: "probe_write_text", arguments: { text } } });
const effects = (text: string) => host().service.probe.calls.filter(({ args }) => args.text === text);
const cards = () => person.events.filter(({ event }) => event === "plugin.approval.requested");

test("with two agents, pairing and sync work as with one", () => {
  const { said } = getProvided();
  expect(said.pairing).toMatch(/Paired\. /);
  expect(said.pairing).not.toMatch(/not paired|^Next: /m);
  expect(said.sync).toMatch(/Done: \d+ tools/);
  expect(said.sync).toMatch(/^ {2}drive_upload_file +\(write\)$/m);
  expect(said.sync).toMatch(/^ {2}mail_search +\(read\)$/m);
});

test("a write asked for in a chat shows the card there, and a click runs it once", async () => {
  host().model.playTurn(write("in the chat"), "Kept.");
  telegram.write("Go on.");
  const card = await telegram.take(({ buttons }) => buttons.length > 0);
  expect(card.chat).toBe(telegram.chat);
  expect(readHtml(card.html)).toContain("probe (Probe account): probe_write_text, writes\ntext: in the chat\n");
  expect(effects("in the chat")).toEqual([]);
  telegram.press(card, "Allow Once");
  await telegram.take(({ html }) => html.includes("Kept."));
  telegram.press(card, "Allow Once");
  expect(effects("in the chat")).toHaveLength(1);
});

/** Starts a run in which nobody can be asked, whatever is set up. */
const STARTS: Readonly<Record<string, (text: string) => Promise<unknown>>> = {
  "a scheduled run": async (text) => {
    const payload = { kind: "agentTurn", message: text };
    const delivery = { mode: "announce", channel: "telegram", to: telegram.chat };
    const schedule = { kind: "at", at: new Date(Date.now() + 3_600_000).toISOString() };
    const job = {
      name: text,
      agentId: "main",
      schedule,
      sessionTarget: "isolated",
      wakeMode: "now",
      payload,
      delivery,
    };
    const { id } = await person.request("cron.add", job);
    await person.request("cron.run", { id, mode: "force" });
  },
  "a hook that writes to the chat": (text) =>
    callHook("agent", { message: text, agentId: "main", deliver: true, channel: "telegram", to: telegram.chat }),
  "a wake-up of the main conversation": (text) => callHook("wake", { text, mode: "now", agentId: "main" }),
  "a request of the gateway that delivers to the chat": (text) =>
    person.request("agent", {
      ...{ message: text, agentId: "main", sessionKey: "agent:main:rpc", idempotencyKey: text },
      ...{ deliver: true, channel: "telegram", to: telegram.chat },
    }),
  "a client without the right to approve": async (text) => {
    const narrow = await connectOperator(host().gateway, host().state, ["operator.read", "operator.write"]);
    const turn = await narrow.chat(text, { sessionKey: "agent:main:narrow" });
    await turn.done;
    await narrow.close();
  },
};

async function callHook(path: string, body: object): Promise<void> {
  const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
  const response = await fetch(`${host().gateway.url}/hooks/${path}`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
  expect(response.status).toBeLessThan(300);
}

test.each(Object.keys(STARTS))(
  "%s: no card, the write waits, and the model is told how it is released",
  async (who) => {
    const text = `written by ${who}`;
    host().model.playTurn(write(text), "Done.");
    const from = host().model.requests.length;
    await STARTS[who]?.(`Start ${who}.`);
    await waitForResult(from, "/svc pending");
    expect(cards()).toEqual([]);
    expect(effects(text)).toEqual([]);
    expect(await (await person.chat("/svc pending", { sessionKey: "agent:main:owner" })).done).toContain(text);
  },
);

test("the main conversation is told that calls wait, without a word of them", async () => {
  host().model.playTurn("Nothing.");
  await (await person.chat("What is new?", { sessionKey: "agent:main:main" })).done;
  const told = host()
    .model.requests.flatMap(({ messages }) => messages)
    .filter(({ role }) => role !== "tool");
  const lines = told.filter(({ text }) => text.includes("A call that a run without a person has made with svc waits"));
  expect(lines.length).toBeGreaterThan(0);
  expect(lines.filter(({ text }) => text.includes("written by"))).toEqual([]);
});

/** Waits for the result of a call that the model has got since it was asked `from` times. */
async function waitForResult(from: number, words: string): Promise<string> {
  const results = () =>
    host()
      .model.requests.slice(from)
      .flatMap((request) => request.results);
  await vi.waitFor(() => expect(results().join("\n")).toContain(words), { timeout: 240_000, interval: 250 });
  return results().join("\n");
}

test("an update of the plugin asks no registry for its name", async () => {
  const asked: string[] = [];
  const registry = createServer(({ url = "" }, response) => {
    asked.push(url);
    response.writeHead(404).end("{}");
  });
  const port = await listen(registry);
  const updated = await runOpenClaw(host().state as HostState, ["plugins", "update", "svc"], {
    npm_config_registry: `http://127.0.0.1:${port}/`,
  });
  registry.close();
  expect(updated.stdout + updated.stderr).toMatch(/Skipping "svc" \(source: archive\)/);
  expect(asked).toEqual([]);
});

test("with two agents, status knows the key", async () => {
  const status = await runOpenClaw(host().state as HostState, ["svc", "status"]);
  expect(status.stdout + status.stderr).toMatch(/key is from OpenClaw's credential store[\s\S]*key is accepted/);
});
