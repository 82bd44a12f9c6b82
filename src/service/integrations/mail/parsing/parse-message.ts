import PostalMime, { type Address, type Attachment, type Email } from "postal-mime";
import { foldText } from "../../../../base/text.ts";
import { sanitiseFileName } from "../../../files/file-name.ts";
import { stripHtml } from "../../html-text.ts";
import type { MailAttachment, MailMessage, MessagePart, ParsedMail } from "../mail-message.ts";
import type { MailQuery, MailTerm } from "../mail-query.ts";

/** Lines below this length, in bytes, are short: encoded attachments have longer ones. */
const SHORT_LINE = 60;
/** Short lines that are read; the parser takes some 20 µs for each. */
const MAX_SHORT_LINES = 100_000;
/** Addresses of one list. */
const MAX_ADDRESSES = 500;
const MAX_ATTACHMENTS = 1000;
/** A line of a message has at most 998 characters (RFC 5322, 2.1.1). */
const MAX_HEADER_LENGTH = 998;
/** Ids of a thread, characters; the oldest are left out of longer ones. */
const MAX_REFERENCES_LENGTH = 8000;

/**
 * Parses a message, whole or cut; what comes behind 100,000 short lines is not read. A hostile message may keep it busy for
 * minutes and need much memory, so the service never calls this in its own thread.
 */
export async function parseMessage(bytes: Uint8Array, part: MessagePart): Promise<ParsedMail> {
  const email = await PostalMime.parse(cutShortLines(bytes), { maxNestingDepth: 64 });
  const text = readText(email).replaceAll("\r\n", "\n");
  const { from = 0, length = 0 } = part.text ?? {};
  const notes: string[] = [];
  const list = (field: string, addresses: readonly Address[] | undefined) =>
    cutList(toList(addresses), { max: MAX_ADDRESSES, what: `addresses of ${field}`, notes }).map(cut);
  const message: MailMessage = {
    from: cut(toList(email.from === undefined ? [] : [email.from])[0] ?? ""),
    to: list("to", email.to),
    cc: list("cc", email.cc),
    bcc: list("bcc", email.bcc),
    replyTo: list("reply_to", email.replyTo),
    subject: cut(email.subject ?? ""),
    date: email.date === undefined ? undefined : cut(email.date),
    messageIdHeader: (email.messageId ?? "").length > MAX_HEADER_LENGTH ? undefined : email.messageId,
    references: email.references === undefined ? undefined : cutReferences(email.references),
    text: text.slice(from, from + length),
    textLength: text.length,
    attachments: cutList(email.attachments, { max: MAX_ATTACHMENTS, what: "attachments", notes }).map(toAttachment),
    notes,
  };
  const wanted = part.attachment === undefined ? undefined : email.attachments[part.attachment];
  return {
    message,
    content: wanted === undefined ? undefined : readContent(wanted),
    matches: part.query === undefined || matchesMessage(part.query, listSearched(email, text)),
  };
}

/** The whole of what {@link parseMessage} may cut. */
function listSearched({ from, to, cc, subject = "", attachments }: Email, text: string): SearchedMessage {
  const [sender = ""] = toList(from === undefined ? [] : [from]);
  return { from: sender, to: toList(to), cc: toList(cc), subject, text, isAttached: attachments.length > 0 };
}

function cut(text: string): string {
  return text.length > MAX_HEADER_LENGTH ? `${text.slice(0, MAX_HEADER_LENGTH).toWellFormed()}…` : text;
}

function cutList<Item>(
  items: readonly Item[],
  { max, what, notes }: { readonly max: number; readonly what: string; readonly notes: string[] },
): readonly Item[] {
  if (items.length <= max) return items;
  notes.push(`Only ${max} of ${items.length} ${what} are shown.`);
  return items.slice(0, max);
}

/** Whole ids from the end on: they are what keeps a thread together. */
function cutReferences(references: string): string {
  if (references.length <= MAX_REFERENCES_LENGTH) return references;
  const newest = references.slice(-MAX_REFERENCES_LENGTH);
  const start = newest.search(/\s</);
  return start < 0 ? "" : newest.slice(start + 1);
}

function toList(addresses: readonly Address[] | undefined): string[] {
  const flat = (addresses ?? []).flatMap((one) => one.group ?? [one]);
  return flat.map(({ name, address }) => (name === "" ? address : `${name} <${address}>`));
}

function readContent({ content }: Attachment): Uint8Array {
  return typeof content === "string" ? Buffer.from(content) : new Uint8Array(content);
}

function toAttachment(attachment: Attachment, index: number): MailAttachment {
  const { filename, mimeType } = attachment;
  return {
    name: sanitiseFileName(filename ?? "", `attachment-${index}`),
    mimetype: mimeType.length > 255 ? "application/octet-stream" : mimeType,
    size: readContent(attachment).length,
  };
}

/** Everything up to the last short line that is read: a megabyte of empty lines keeps the parser busy for half a minute. */
function cutShortLines(bytes: Uint8Array): Uint8Array {
  let count = 0;
  let start = 0;
  for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
    if (end - start < SHORT_LINE) count += 1;
    if (count > MAX_SHORT_LINES) return bytes.subarray(0, start);
    start = end + 1;
  }
  return bytes;
}

/** Many programs send a blank text beside the HTML that says everything. */
function readText({ text = "", html = "" }: Email): string {
  return text.trim() === "" ? stripHtml(html) : text;
}

/** The parts of a message that a search looks at. Its sender chose the texts: folding them may take minutes. */
interface SearchedMessage {
  readonly from: string;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly isAttached: boolean;
}

/** Whether the terms hold that `matchesPlace` cannot tell. */
function matchesMessage({ terms }: MailQuery, message: SearchedMessage): boolean {
  const folded = new Map<string, string>();
  const fold = (text: string) => {
    const known = folded.get(text) ?? foldText(text);
    folded.set(text, known);
    return known;
  };
  return terms.every((term) => {
    const held = testMessage(term, message, fold);
    return held === undefined || held !== term.isNegated;
  });
}

function testMessage(term: MailTerm, message: SearchedMessage, fold: (text: string) => string): boolean | undefined {
  const { subject, from, to, cc, text } = message;
  const contains = (wanted: string, texts: readonly string[]) => texts.some((one) => fold(one).includes(wanted));
  switch (term.kind) {
    case "attachment":
      return message.isAttached;
    case "subject":
      return contains(term.text, [subject]);
    case "from":
      return contains(term.text, [from]);
    case "to":
      return contains(term.text, to);
    case "cc":
      return contains(term.text, cc);
    case "words":
      return contains(term.text, [subject, from, ...to, ...cc, text]);
    default:
      return undefined;
  }
}
