import PostalMime, { type Address, type Attachment, type Email } from "postal-mime";
import { sanitiseFileName } from "../../files/file-name.ts";
import { ServiceError } from "../../service-error.ts";
import type { MessagePlace } from "./maildir.ts";

const SNIPPET_LENGTH = 160;

/** An attachment with its bytes. */
export interface MailAttachment {
  readonly name: string;
  readonly mimetype: string;
  readonly bytes: Uint8Array;
}

/** A message as the actions use it. */
export interface MailMessage {
  readonly from: string;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly bcc: readonly string[];
  readonly replyTo: readonly string[];
  readonly subject: string;
  /** ISO 8601 where the header can be read, else the header itself; undefined without one. */
  readonly date: string | undefined;
  /** The Message-ID header. */
  readonly messageIdHeader: string | undefined;
  readonly references: string | undefined;
  readonly text: string;
  readonly attachments: readonly MailAttachment[];
}

function toList(addresses: readonly Address[] | undefined): string[] {
  const flat = (addresses ?? []).flatMap((one) => one.group ?? [one]);
  return flat.map(({ name, address }) => (name === "" ? address : `${name} <${address}>`));
}

/** Readable text of an HTML-only message. Only for reading: nothing here is ever rendered as HTML again. */
function stripHtml(html: string): string {
  return html
    .replaceAll(/<(style|script|head|title)\b[\s\S]*?<\/\1\s*>/gi, "")
    .replaceAll(/<br\s*\/?>|<\/(?:p|div|tr|li|h[1-6])\s*>/gi, "\n")
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll("&nbsp;", " ")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&amp;", "&")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim();
}

function toAttachment({ filename, mimeType, content }: Attachment, index: number): MailAttachment {
  const bytes = typeof content === "string" ? Buffer.from(content) : new Uint8Array(content);
  return { name: sanitiseFileName(filename ?? "", `attachment-${index}`), mimetype: mimeType, bytes };
}

async function parse(bytes: Uint8Array, place: MessagePlace): Promise<Email> {
  try {
    return await PostalMime.parse(bytes, { maxNestingDepth: 64 });
  } catch (cause) {
    throw new ServiceError(500, "provider_error", `The message "${place.id}" cannot be read.`, {
      type: "provider",
      hint: "Open the mailbox with a mail program and look at this message.",
      cause,
    });
  }
}

/** Parses a message, whole or cut. Throws ServiceError 500 `provider_error` naming a message that cannot be read. */
export async function parseMessage(bytes: Uint8Array, place: MessagePlace): Promise<MailMessage> {
  const email = await parse(bytes, place);
  return {
    from: toList(email.from === undefined ? [] : [email.from])[0] ?? "",
    to: toList(email.to),
    cc: toList(email.cc),
    bcc: toList(email.bcc),
    replyTo: toList(email.replyTo),
    subject: email.subject ?? "",
    date: email.date,
    messageIdHeader: email.messageId,
    references: email.references,
    text: (email.text ?? stripHtml(email.html ?? "")).replaceAll("\r\n", "\n"),
    attachments: email.attachments.map(toAttachment),
  };
}

/** A message without its text. */
export function summariseMessage(place: MessagePlace, message: MailMessage) {
  const flat = message.text.replaceAll(/\s+/g, " ").trim();
  return {
    message_id: place.id,
    folder: place.folder,
    from: message.from,
    to: message.to,
    subject: message.subject,
    date: message.date ?? null,
    received: new Date(place.deliveredAt).toISOString(),
    unread: !place.flags.includes("S"),
    flagged: place.flags.includes("F"),
    snippet: flat.length > SNIPPET_LENGTH ? `${flat.slice(0, SNIPPET_LENGTH).toWellFormed()}…` : flat,
    attachments: message.attachments.map(({ name }) => name),
  };
}
