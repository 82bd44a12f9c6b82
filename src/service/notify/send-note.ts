import { createHmac } from "node:crypto";
import { type Dispatcher, request } from "undici";
import { isRecord } from "../../base/json.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Connections } from "../connections/connection.ts";
import { findDefaultConnection } from "../connections/connections.ts";
import { type RunParts, runAction } from "../executions/run-action.ts";
import { readNetworkFailure, readRetryAfter } from "../integrations/provider-failure.ts";
import { ServiceError } from "../service-error.ts";
import type { Note } from "./compose-note.ts";
import type { Sent } from "./outbox.ts";
import type { Target } from "./targets.ts";

/** Parts that {@link sendNote} needs. */
export interface SendParts extends RunParts {
  readonly catalog: Catalog;
  readonly connections: Connections;
  /** The owner chose the addresses: private ones are allowed. */
  readonly dispatcher: Dispatcher;
}

const LIMIT_MS = 15_000;

/** A note with the id that it has at every attempt. */
interface Sending {
  readonly id: string;
  readonly note: Note;
  readonly signal: AbortSignal;
}

/** Sends a note once; never throws. Redirects are not followed. */
export async function sendNote(parts: SendParts, target: Target, sending: Sending): Promise<Sent> {
  try {
    switch (target.kind) {
      case "ntfy":
        return await post(parts, sending.signal, toNtfy(target, sending));
      case "webhook":
        return await post(parts, sending.signal, toWebhook(target, sending, parts.now()));
      case "mail":
        return await mail(parts, target, sending);
    }
  } catch (error) {
    return { ok: false, reason: explain(error) };
  }
}

interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

function toNtfy({ server, topic, token }: Target & { kind: "ntfy" }, { note }: Sending): Post {
  const { title, lines, url } = note;
  return {
    url: server,
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    body: JSON.stringify({ topic, title, message: lines.join("\n"), click: url }),
  };
}

/** In the form of Standard Webhooks: https://www.standardwebhooks.com */
function toWebhook({ url, secret }: Target & { kind: "webhook" }, { id, note }: Sending, now: number): Post {
  const { title, lines, url: page, waiting, items } = note;
  const type = waiting === 0 ? "test" : "approval.waiting";
  const data = { title, text: lines.join("\n"), url: page, waiting, items };
  const body = JSON.stringify({ type, timestamp: new Date(now).toISOString(), data });
  const timestamp = String(Math.floor(now / 1000));
  const signature = createHmac("sha256", secret).update(`${id}.${timestamp}.${body}`).digest("base64");
  const headers = { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${signature}` };
  return { url, headers, body };
}

async function post({ dispatcher, now }: SendParts, signal: AbortSignal, { url, headers, body }: Post): Promise<Sent> {
  const answer = await request(url, {
    dispatcher,
    method: "POST",
    headers: { "content-type": "application/json", "user-agent": "svc", ...headers },
    body,
    signal: AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]),
  });
  const { statusCode: status } = answer;
  await answer.body.dump({ limit: 64 * 1024 });
  if (status >= 200 && status < 300) return { ok: true };
  if (status >= 300 && status < 400) return { ok: false, reason: `It redirects (${status}), which is not followed.` };
  if (status === 410) return { ok: false, reason: "It wants no more notes (410).", isGone: true };
  const retryAfterSeconds = readRetryAfter([answer.headers["retry-after"]].flat()[0], now());
  return { ok: false, reason: `It answered ${status}.`, retryAfterSeconds };
}

/** Sends through a connected mail account, with the action that agents use. */
async function mail(parts: SendParts, target: Target & { kind: "mail" }, { note, signal }: Sending): Promise<Sent> {
  const entry = parts.catalog.find("mail_send_message");
  const accounts = await parts.connections.list("mail");
  const { connectionId: wanted, address } = target;
  const connection = wanted === undefined ? findDefaultConnection(accounts) : accounts.find(({ id }) => id === wanted);
  if (entry === undefined || connection === undefined) {
    return { ok: false, reason: "There is no such mail account: connect one, or name its connection." };
  }
  const args = { to: [address], cc: [], bcc: [], subject: note.title, body: note.lines.join("\n"), attachments: [] };
  const noFiles = () => Promise.reject(new Error("A note has no files."));
  const result = await runAction(parts, {
    entry,
    connection,
    args,
    ...FILELESS,
    keepFile: noFiles,
    clientGone: signal,
  });
  const missed = isRecord(result.value) ? result.value.not_delivered_to : undefined;
  if (Array.isArray(missed) && missed.length > 0) {
    return { ok: false, reason: `The mail account "${connection.label}" cannot deliver to this address.` };
  }
  return { ok: true };
}

const FILELESS = {
  file(): never {
    throw new Error("A note has no files.");
  },
};

/** No words of the other side beside those of the mail account, which the service has cleaned. */
function explain(error: unknown): string {
  if (error instanceof ServiceError) return error.message;
  if (error instanceof Error && error.name === "TimeoutError") return "It gave no answer in time.";
  const { kind, message } = readNetworkFailure(error);
  const code = message ? ` (${message})` : "";
  return kind === "unreachable" ? `It cannot be reached${code}.` : `It gave no answer${code}.`;
}
