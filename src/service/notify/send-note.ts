import type { Dispatcher } from "undici";
import { isRecord } from "../../shared/base/json.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Connections } from "../connections/connection.ts";
import { findDefaultConnection } from "../connections/connections.ts";
import { type RunParts, runAction } from "../executions/run-action.ts";
import type { Note } from "./compose-note.ts";
import type { Sent } from "./outbox.ts";
import { explainFailure, type Post, postJson } from "./post-json.ts";
import { signWebhook } from "./standard-webhook.ts";
import type { Target } from "./targets.ts";

/** Parts that {@link sendNote} needs. */
export interface SendParts extends RunParts {
  readonly catalog: Catalog;
  readonly connections: Connections;
  /** The owner chose the addresses: private ones are allowed. */
  readonly dispatcher: Dispatcher;
}

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
        return await postJson(parts, sending.signal, toNtfy(target, sending));
      case "webhook":
        return await postJson(parts, sending.signal, toWebhook(target, sending, parts.now()));
      case "mail":
        return await mail(parts, target, sending);
    }
  } catch (error) {
    return { ok: false, reason: explainFailure(error) };
  }
}

function toNtfy({ server, topic, token }: Target & { kind: "ntfy" }, { note }: Sending): Post {
  const { title, lines, url } = note;
  return {
    url: server,
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    body: JSON.stringify({ topic, title, message: lines.join("\n"), click: url }),
  };
}

function toWebhook({ url, secret }: Target & { kind: "webhook" }, { id, note }: Sending, now: number): Post {
  const { title, lines, url: page, waiting, items } = note;
  const type = waiting === 0 ? "test" : "approval.waiting";
  const data = { title, text: lines.join("\n"), url: page, waiting, items };
  const body = JSON.stringify({ type, timestamp: new Date(now).toISOString(), data });
  return { url, headers: signWebhook(secret, { id, now, body }), body };
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
