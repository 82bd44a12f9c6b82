import { createHash } from "node:crypto";
import { z } from "zod";
import { MAX_FILE_BYTES } from "../../../wire/limits.ts";
import { refuseMissing } from "../../files/folder-error.ts";
import { looksLikeText } from "../../files/sniff-mimetype.ts";
import { ServiceError } from "../../service-error.ts";
import { defineAction } from "../define-action.ts";
import type { ActionContext } from "../integration.ts";
import { normaliseFolder } from "./folder-name.ts";
import { DEFAULT_QUERY, parseMailQuery } from "./mail-query.ts";
import {
  checkFolder,
  findMessage,
  listFolders,
  listMessages,
  readMessageBytes,
  readMessageStart,
  relocateMessage,
} from "./maildir.ts";
import { type MailAttachment, parseMessage, summariseMessage } from "./parse-message.ts";

/** Enough of a message to judge it; a large attachment behind it need not be read. */
const SEARCH_BYTES = 1024 * 1024;
const MAX_OPENED = 2000;

const messageId = z.string().min(1).max(255).describe("message_id of an earlier answer.");

/** `mail_search`. */
export const searchMail = defineAction({
  id: "search",
  title: "Search mail",
  description: `Finds messages, newest first. The query knows is:unread, is:read, is:flagged, is:any, from:, to:, cc:, subject:, has:attachment, after:YYYY-MM-DD, before:YYYY-MM-DD (days in UTC; after includes its day, before does not), in:Folder and plain words; quotes keep blanks, a leading "-" negates, all terms must hold. Without a query it finds unread messages.`,
  level: "read",
  requiresConfirmation: false,
  idempotent: true,
  scopes: ["mail.read"],
  arguments: z.strictObject({
    query: z
      .string()
      .max(500)
      .default(DEFAULT_QUERY)
      .describe(`What to find, for example "from:anna has:attachment invoice". Empty means ${DEFAULT_QUERY}.`),
    folder: z.string().default("INBOX").describe("Mail folder to search; in: in the query wins."),
    limit: z.int().min(1).max(50).default(10).describe("Most messages in one answer."),
  }),
  examples: [
    {},
    { query: 'from:anna subject:"trip to Rome" after:2026-06-01', limit: 5 },
    { query: "is:any", folder: "Sent" },
  ],
  async run({ query, folder, limit }, { connection, signal }) {
    const wanted = parseMailQuery(query);
    const place = normaliseFolder(wanted.folder ?? folder);
    await checkFolder(connection, place);
    const messages: ReturnType<typeof summariseMessage>[] = [];
    const candidates = (await listMessages(connection, place)).filter((one) => wanted.matchesPlace(one));
    for (const one of candidates.slice(0, MAX_OPENED)) {
      signal.throwIfAborted();
      const bytes = await readMessageStart(connection, one, SEARCH_BYTES).catch(skipMissing);
      // One damaged message must not hide the others; it just is not found.
      const message = bytes === undefined ? undefined : await parseMessage(bytes, one).catch(() => undefined);
      if (message === undefined || !wanted.matchesMessage(message)) continue;
      if (messages.length === limit) return { query, folder: place, messages, more: true };
      messages.push(summariseMessage(one, message));
    }
    const incomplete = candidates.length > MAX_OPENED;
    return {
      query,
      folder: place,
      messages,
      more: incomplete,
      ...(incomplete ? { note: `Only the newest ${MAX_OPENED} were searched; add before: to go further back.` } : {}),
    };
  },
});

/** A message that was moved since it was listed is not there any more; that is no failure of a search. */
function skipMissing(error: unknown): undefined {
  if (error instanceof ServiceError && error.status === 404) return undefined;
  throw error;
}

/** `mail_list_folders`. */
export const listMailFolders = defineAction({
  id: "list_folders",
  title: "List mail folders",
  description: "Lists the mailbox's folders with their numbers of messages and unread messages.",
  level: "read",
  requiresConfirmation: false,
  idempotent: true,
  scopes: ["mail.read"],
  arguments: z.strictObject({}),
  async run(_args, { connection }) {
    const folders: { name: string; messages: number; unread: number }[] = [];
    for (const name of await listFolders(connection)) {
      const places = await listMessages(connection, name);
      folders.push({
        name,
        messages: places.length,
        unread: places.filter(({ flags }) => !flags.includes("S")).length,
      });
    }
    return { folders };
  },
});

async function markRead(id: string, { connection }: ActionContext): Promise<boolean> {
  const place = await findMessage(connection, id);
  if (place.flags.includes("S")) return true;
  if (!connection.scopes.includes("mail.modify"))
    throw new ServiceError(
      403,
      "needs_scope_upgrade",
      "The connection may not mark messages as read: mail.modify is missing.",
      {
        type: "missing_scopes",
        details: ["mail.modify"],
        hint: "Leave out mark_read, or reconnect with the permission mail.modify.",
      },
    );
  await relocateMessage(connection, place, { flags: `${place.flags}S` });
  return true;
}

/** `mail_read_message`. */
export const readMessage = defineAction({
  id: "read_message",
  title: "Read a message",
  description:
    "Returns a message's headers, text and list of attachments. Use get_attachment for their content. The message stays unread unless mark_read is true.",
  level: "read",
  requiresConfirmation: false,
  idempotent: true,
  scopes: ["mail.read"],
  arguments: z.strictObject({
    message_id: messageId,
    mark_read: z.boolean().default(false).describe("Also mark the message as read; needs the permission mail.modify."),
    offset: z.int().min(0).default(0).describe("Character of the text to start from; see next_offset of the answer."),
    max_chars: z.int().min(1).max(200_000).default(20_000).describe("Most characters of text in one answer."),
  }),
  examples: [{ message_id: "1763631000.M1P1Q1R0.svc" }],
  async run({ message_id, mark_read, offset, max_chars }, context) {
    const place = await findMessage(context.connection, message_id);
    const message = await parseMessage(await readMessageBytes(context.connection, place), place);
    const { snippet: _snippet, ...summary } = summariseMessage(place, message);
    const isRead = mark_read ? await markRead(message_id, context) : !summary.unread;
    const end = Math.min(offset + max_chars, message.text.length);
    return {
      ...summary,
      unread: !isRead,
      cc: message.cc,
      bcc: message.bcc,
      reply_to: message.replyTo,
      message_id_header: message.messageIdHeader ?? null,
      attachments: message.attachments.map(({ name, mimetype, bytes }, index) => ({
        index,
        name,
        mimetype,
        size: bytes.length,
      })),
      text: message.text.slice(offset, end),
      ...(end < message.text.length ? { next_offset: end } : {}),
    };
  },
});

async function describeContent({ name, mimetype, bytes }: MailAttachment, maxChars: number, context: ActionContext) {
  const isText = await looksLikeText(bytes.subarray(0, 64 * 1024));
  const text = isText ? new TextDecoder().decode(bytes.subarray(0, maxChars * 4)).slice(0, maxChars) : undefined;
  if (context.keepFile === undefined || bytes.length > MAX_FILE_BYTES || bytes.length === 0) return { text };
  const stored = await context.keepFile(
    { name, mimetype },
    (async function* () {
      yield bytes;
    })(),
  );
  return {
    text,
    file: { name, mimetype, s3key: stored.s3key },
    note: "Pass `file` to an action that takes a file, for example to save it.",
  };
}

/** `mail_get_attachment`. */
export const getAttachment = defineAction({
  id: "get_attachment",
  title: "Get an attachment",
  description:
    "Returns an attachment's size, type and SHA-256, its text where it is text, and a file object that actions with a file field accept.",
  level: "read",
  requiresConfirmation: false,
  idempotent: true,
  scopes: ["mail.read"],
  arguments: z.strictObject({
    message_id: messageId,
    index: z.int().min(0).max(1000).default(0).describe("Number of the attachment in read_message's list, from 0."),
    max_chars: z.int().min(1).max(100_000).default(10_000).describe("Most characters of a text attachment."),
  }),
  examples: [{ message_id: "1763631000.M1P1Q1R0.svc", index: 0 }],
  async run({ message_id, index, max_chars }, context) {
    const place = await findMessage(context.connection, message_id);
    const { attachments } = await parseMessage(await readMessageBytes(context.connection, place), place);
    const attachment = attachments[index];
    if (attachment === undefined)
      throw refuseMissing(
        `The message has ${attachments.length} attachment(s), so there is none with index ${index}.`,
        "Read the message to see its attachments.",
      );
    const { name, mimetype, bytes } = attachment;
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    return { name, mimetype, size: bytes.length, sha256, ...(await describeContent(attachment, max_chars, context)) };
  },
});
