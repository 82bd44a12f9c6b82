import { z } from "zod";
import { looksLikeText } from "../../service/files/sniff-mimetype.ts";
import { refuseMissing } from "../../service/service-error.ts";
import { sha256Hex } from "../../shared/base/hash.ts";
import { MAX_FILE_BYTES } from "../../shared/wire/constants.ts";
import type { ActionContext } from "../port/integration.ts";
import { type NotShown, sayNotShown } from "../port/not-shown.ts";
import type { OldCharset } from "../text/decode-text.ts";
import { defineMailAction, type FoundMessage, type MailPlace } from "./mail-box.ts";
import type { MailAttachment, MailMessage } from "./mail-message.ts";
import { DEFAULT_QUERY, parseMailQuery } from "./mail-query.ts";

const messageId = z.string().min(1).max(255).describe("message_id of an earlier answer.");

/** `mail_search`. */
export const searchMail = defineMailAction({
  id: "search",
  title: "Search mail",
  description: `Finds mails, newest first. The query knows is:unread, is:read, is:flagged, is:any, from:, to:, cc:, subject:, has:attachment, after:YYYY-MM-DD, before:YYYY-MM-DD (days in UTC; after includes its day, before does not), in:Folder and plain words; quotes keep blanks, a leading "-" negates, all terms must hold. Without a query it finds unread messages.`,
  level: "read",
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
  async run({ query, folder, limit }, box) {
    const wanted = parseMailQuery(query);
    const place = await box.findFolder(wanted.folder ?? folder, { mayBeMade: false });
    const { found, more, note, notShown } = await box.search(wanted, { folder: place, limit });
    const messages = found.map(summariseMessage);
    const all = [...notShown, ...found.flatMap((one) => listNotShown(one.place, one.message))];
    return { query, folder: place, messages, more, ...(note === undefined ? {} : { note }), ...sayNotShown(all) };
  },
});

/** `mail_list_folders`. */
export const listMailFolders = defineMailAction({
  id: "list_folders",
  title: "List mail folders",
  description: "Lists the mail folders of the mailbox with their numbers of messages and unread messages.",
  level: "read",
  scopes: ["mail.read"],
  arguments: z.strictObject({}),
  async run(_args, box) {
    const { folders, notShown } = await box.listFolders();
    return { folders, ...sayNotShown(notShown) };
  },
});

/** `mail_read_message`. */
export const readMessage = defineMailAction({
  id: "read_message",
  title: "Read a message",
  description:
    "Opens a message: returns its headers, text and list of attachments. Use get_attachment for their content. The message stays unread; mark_message marks it.",
  level: "read",
  scopes: ["mail.read"],
  arguments: z.strictObject({
    message_id: messageId,
    offset: z.int().min(0).default(0).describe("Character of the text to start from; see next_offset of the answer."),
    max_chars: z.int().min(1).max(200_000).default(20_000).describe("Most characters of text in one answer."),
  }),
  examples: [{ message_id: "1763631000.M1P1Q1R0.svc" }],
  async run({ message_id, offset, max_chars }, box) {
    const { place, message } = await box.read(message_id, { text: { from: offset, length: max_chars } });
    const attachmentNames = listAttachmentNames(message);
    const { snippet: _snippet, ...summary } = summariseMessage({ place, message, attachmentNames });
    const end = Math.min(offset + max_chars, message.textLength);
    return {
      ...summary,
      to: message.to,
      cc: message.cc,
      bcc: message.bcc,
      reply_to: message.replyTo,
      message_id_header: message.messageIdHeader ?? null,
      attachments: message.attachments.map((attachment, index) => ({ index, ...attachment })),
      text: message.text,
      ...(end < message.textLength ? { next_offset: end } : {}),
      ...sayNotShown(listNotShown(place, message)),
    };
  },
});

async function describeContent(
  { name, mimetype }: MailAttachment,
  { bytes, maxChars }: { readonly bytes: Uint8Array; readonly maxChars: number },
  context: ActionContext,
) {
  const head = bytes.subarray(0, 64 * 1024);
  const { decodePiece, findCharset, GUESSED } = await import("../text/decode-text.ts");
  const charset = (await looksLikeText(head)) ? "utf-8" : findCharset(head);
  const isEnd = bytes.length <= maxChars * 4;
  const read = (charset: OldCharset) => decodePiece(bytes.subarray(0, maxChars * 4), { charset, isEnd }).text;
  const whole =
    charset === "utf-8" ? new TextDecoder().decode(bytes.subarray(0, maxChars * 4)) : charset && read(charset);
  const why = charset === "windows-1252" ? [{ where: name, why: GUESSED }] : [];
  const text = { text: whole?.slice(0, maxChars), ...sayNotShown(why) };
  if (context.keepFile === undefined || bytes.length > MAX_FILE_BYTES || bytes.length === 0) return text;
  const stored = await context.keepFile(
    { name, mimetype },
    (async function* () {
      yield bytes;
    })(),
  );
  return {
    ...text,
    file: { name, mimetype, s3key: stored.s3key },
    note: "Pass `file` to an action that takes a file, for example to save it.",
  };
}

/** `mail_get_attachment`. */
export const getAttachment = defineMailAction({
  id: "get_attachment",
  title: "Get an attachment",
  description:
    "Returns an attachment's size, type and SHA-256, its text where it is text, and a file object that actions with a file field accept.",
  level: "read",
  scopes: ["mail.read"],
  arguments: z.strictObject({
    message_id: messageId,
    index: z.int().min(0).max(999).default(0).describe("Number of the attachment in read_message's list, from 0."),
    max_chars: z.int().min(1).max(100_000).default(10_000).describe("Most characters of a text attachment."),
  }),
  examples: [{ message_id: "1763631000.M1P1Q1R0.svc", index: 0 }],
  async run({ message_id, index, max_chars }, box, context) {
    const { message, content: bytes } = await box.read(message_id, { attachment: index });
    const attachment = message.attachments[index];
    if (attachment === undefined || bytes === undefined)
      throw refuseMissing(
        `The message has ${message.attachments.length} attachment(s), so there is none with index ${index}.`,
        "Read the message to see its attachments.",
      );
    const sha256 = sha256Hex(bytes);
    return { ...attachment, sha256, ...(await describeContent(attachment, { bytes, maxChars: max_chars }, context)) };
  },
});

/** What an answer about a message leaves out, or guesses. */
function listNotShown({ id }: Pick<MailPlace, "id">, { notes }: MailMessage): NotShown[] {
  return notes.map((why) => ({ where: id, why }));
}

const SNIPPET_LENGTH = 160;
/** Addresses and attachments that one message of a list names; all of them are in the message. */
const MAX_NAMED = 50;
/** A long address in brackets, such as that of a link, would leave no room for what the message says. */
const LONG_ADDRESS = /\((https?:\/\/[^\s/()]+\/)\S{40,}\)/g;

/** A message without its text, with the first addresses and attachments. */
export function summariseMessage({ place, message, attachmentNames }: FoundMessage) {
  const flat = message.text.slice(0, 10_000).replaceAll(LONG_ADDRESS, "($1…)").replaceAll(/\s+/g, " ").trim();
  return {
    message_id: place.id,
    folder: place.folder,
    from: message.from,
    to: message.to.slice(0, MAX_NAMED),
    subject: message.subject,
    date: message.date ?? null,
    received: new Date(place.receivedAt).toISOString(),
    unread: place.isUnread,
    flagged: place.isFlagged,
    snippet: flat.length > SNIPPET_LENGTH ? `${flat.slice(0, SNIPPET_LENGTH).toWellFormed()}…` : flat,
    attachments: attachmentNames.slice(0, MAX_NAMED),
  };
}

/** Names of the attachments of a message. */
export function listAttachmentNames({ attachments }: MailMessage): string[] {
  return attachments.map(({ name }) => name);
}
