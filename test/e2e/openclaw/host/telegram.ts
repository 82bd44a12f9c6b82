import { once } from "node:events";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { listen } from "./exchange.ts";
import { type PatchedHost, patchConfig } from "./through-reload.ts";

/** A message that the bot sent, as Telegram's clients get it: HTML, and the buttons below it. */
interface SentMessage {
  readonly id: number;
  readonly chat: string;
  readonly html: string;
  readonly buttons: readonly { readonly text: string; readonly callback_data?: string }[];
}

/** A Bot API on loopback, for the host's own Telegram channel, with one person who writes to the bot. */
export interface Telegram {
  /** Makes it a channel of the agent `main` of a running gateway, and its person the owner. */
  join(host: PatchedHost): Promise<void>;
  /** Takes the channel away. */
  leave(host: PatchedHost): Promise<void>;
  readonly sent: readonly SentMessage[];
  /** The person's own chat with the bot. */
  readonly chat: string;
  /** Sends words of the person. */
  write(words: string): void;
  /** Waits for a message of the bot whose text fits, not taken before. */
  take(fits: (message: SentMessage) => boolean): Promise<SentMessage>;
  /** The person presses a button. */
  press(message: SentMessage, label: string): void;
  close(): Promise<void>;
}

const OLGA = { id: 1001, is_bot: false, first_name: "Olga", username: "olga" };
const CHAT = { id: OLGA.id, type: "private", first_name: "Olga" };
const BOT = { id: 4242, is_bot: true, first_name: "Bot", username: "svc_test_bot", can_join_groups: true };
const POLL_MS = 1_000;
/** For what hangs. */
const WAIT_MS = 120_000;

/** Starts it on a free port. */
export async function startTelegram(): Promise<Telegram> {
  const sent: SentMessage[] = [];
  const taken = new Set<SentMessage>();
  const updates: { readonly update_id: number }[] = [];
  const bell = new EventTarget();
  const asked = new Map<string, number>();
  // The host keeps the last update of a bot over its restarts, and never asks for what came before it.
  let count = Date.now();
  const answer = async (method: string, body: Readonly<Record<string, unknown>>): Promise<unknown> => {
    asked.set(method, (asked.get(method) ?? 0) + 1);
    bell.dispatchEvent(new Event("asked"));
    if (method === "getMe") return BOT;
    if (method === "getUpdates") {
      const fresh = () => updates.filter(({ update_id }) => update_id >= Number(body.offset ?? 0));
      if (fresh().length === 0) await waitFor(bell, "update", POLL_MS);
      return fresh();
    }
    if (!/^(sendMessage|editMessageText)$/.test(method)) return true;
    count += 1;
    const markup = body.reply_markup as { inline_keyboard?: SentMessage["buttons"][] } | undefined;
    const message = { id: Number(body.message_id ?? count), chat: String(body.chat_id), html: String(body.text) };
    sent.push({ ...message, buttons: (markup?.inline_keyboard ?? []).flat() });
    bell.dispatchEvent(new Event("sent"));
    return { message_id: message.id, date: now(), chat: CHAT, from: BOT, text: message.html };
  };
  const server = createServer(async (incoming, outgoing) => {
    const method = /\/bot[^/]+\/(\w+)/.exec(incoming.url ?? "")?.[1] ?? "";
    const result = await answer(method, readBody(await text(incoming), incoming.headers["content-type"]));
    outgoing.setHeader("content-type", "application/json");
    outgoing.end(JSON.stringify({ ok: true, result }));
  });
  const port = await listen(server);
  const push = (update: object) => {
    count += 1;
    updates.push({ update_id: count, ...update });
    bell.dispatchEvent(new Event("update"));
  };
  return {
    async join(host) {
      await patchConfig(host, createConfig(`http://127.0.0.1:${port}`), "channels");
      // A channel drops what was written before it listens.
      for (const deadline = Date.now() + WAIT_MS; !asked.has("getUpdates"); await waitFor(bell, "asked", POLL_MS))
        if (Date.now() > deadline) throw new Error(`The channel does not listen: ${JSON.stringify([...asked])}`);
    },
    leave: (host) => patchConfig(host, { channels: null, bindings: null, commands: null }, "channels", LISTS),
    sent,
    chat: String(OLGA.id),
    write: (words) => push({ message: { message_id: count + 1, date: now(), chat: CHAT, from: OLGA, text: words } }),
    async take(fits) {
      const deadline = Date.now() + WAIT_MS;
      for (;;) {
        const found = sent.find((message) => !taken.has(message) && fits(message));
        if (found !== undefined) {
          taken.add(found);
          return found;
        }
        if (Date.now() > deadline)
          throw new Error(`Not among what was sent: ${JSON.stringify([sent, [...asked]], null, 1)}`);
        await waitFor(bell, "sent", POLL_MS);
      }
    },
    press(message, label) {
      const data = message.buttons.find((button) => button.text.includes(label))?.callback_data;
      if (data === undefined) throw new Error(`No button ${label} below ${JSON.stringify(message)}`);
      const origin = { message_id: message.id, date: now(), chat: CHAT, from: BOT, text: message.html };
      push({ callback_query: { id: String(count), from: OLGA, chat_instance: "1", data, message: origin } });
    },
    async close() {
      bell.dispatchEvent(new Event("update"));
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

/** What a person reads of a message: its text without tags. */
export function readHtml(html: string): string {
  const plain = html.replaceAll(/<[^>]*>/g, "");
  return plain
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");
}

function createConfig(apiRoot: string) {
  const approvers = [String(OLGA.id)];
  return {
    channels: {
      telegram: {
        enabled: true,
        botToken: `${BOT.id}:${"A".repeat(35)}`,
        apiRoot,
        dmPolicy: "allowlist",
        allowFrom: approvers,
        execApprovals: { enabled: true, approvers, target: "dm" },
        network: { dangerouslyAllowPrivateNetwork: true },
      },
    },
    bindings: [{ agentId: "main", match: { channel: "telegram" } }],
    commands: { ownerAllowFrom: [`telegram:${OLGA.id}`] },
  };
}

/** Paths of the lists in {@link createConfig}. */
const LISTS = [
  ...["channels.telegram.allowFrom", "channels.telegram.execApprovals.approvers"],
  ...["bindings", "commands.ownerAllowFrom"],
];

const now = () => Math.floor(Date.now() / 1_000);

function readBody(body: string, type = ""): Readonly<Record<string, unknown>> {
  if (body === "") return {};
  if (type.includes("json")) return JSON.parse(body) as Record<string, unknown>;
  return Object.fromEntries(new URLSearchParams(body));
}

/** Comes back at the event, or after `ms`. */
async function waitFor(target: EventTarget, event: string, ms: number): Promise<void> {
  await once(target, event, { signal: AbortSignal.timeout(ms) }).catch(() => undefined);
}
