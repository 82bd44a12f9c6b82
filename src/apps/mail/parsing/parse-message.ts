import PostalMime, { type Address, type Attachment, type Email } from "postal-mime";
import { sanitiseFileName } from "../../../service/files/file-name.ts";
import { foldText } from "../../../shared/base/text.ts";
import { stripHtml } from "../../text/html-text.ts";
import type { MailAttachment, MailMessage, MessagePart, ParsedMail } from "../mail-message.ts";
import type { MailQuery, MailTerm } from "../mail-query.ts";
import { cutHead, lookAtCharsets, recodeMessage } from "./recode-message.ts";

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
  const { email, ...read } = await parseBytes(cutShortLines(cutHead(bytes)));
  const { notes } = read;
  const text = readText(email, read).replaceAll("\r\n", "\n");
  const { from = 0, length = 0 } = part.text ?? {};
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
    references: cutReferences(email.references ?? email.inReplyTo),
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

const LIMITS = { maxNestingDepth: 64 };

/** A message as the parser reads it. */
interface ReadBytes {
  readonly email: Email;
  /** Whether parts of it say the same in several ways. */
  readonly hasChoice: boolean;
  readonly notes: string[];
}

/** The parser knows the charsets of browsers and believes what a message says of its own; the others are brought to UTF-8. */
async function parseBytes(bytes: Uint8Array): Promise<ReadBytes> {
  const email = await PostalMime.parse(bytes, LIMITS);
  const { subject, from, to, cc, replyTo, attachments, text, html } = email;
  const headers = JSON.stringify([subject, from, to, cc, replyTo, attachments.map(({ filename }) => filename)]);
  const { isWrong, label, hasChoice } = lookAtCharsets(bytes, [headers, text, html]);
  if (!isWrong) return { email, hasChoice, notes: [] };
  const recoded = await recodeMessage(bytes, label);
  return { email: await PostalMime.parse(recoded.bytes, LIMITS), hasChoice, notes: recoded.notes };
}

/** The whole of what {@link parseMessage} may cut. */
function listSearched({ from, to, cc, subject = "", attachments }: Email, text: string): SearchedMessage {
  const [sender = ""] = toList(from === undefined ? [] : [from]);
  return { from: sender, to: toList(to), cc: toList(cc), subject, text, isAttached: attachments.some(isAttachment) };
}

/** A picture that the HTML shows is a part of the text. */
function isAttachment({ related, disposition }: Attachment): boolean {
  return !related || disposition === "attachment";
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
function cutReferences(references: string | undefined): string | undefined {
  if (references === undefined || references.length <= MAX_REFERENCES_LENGTH) return references;
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

/**
 * The text where it says what the HTML says, or more. Many programs send a blank or a stub beside the HTML: then the HTML is
 * what people are shown.
 */
function readText({ text = "", html = "" }: Email, { hasChoice, notes }: Omit<ReadBytes, "email">): string {
  const shown = stripHtml(html);
  // Without a choice the parser has brought the HTML to a text of its own, with what is hidden in it.
  if (!hasChoice && html !== "") return shown;
  const [own, other] = [listWords(text), listWords(shown)];
  const said = [...other].filter((word) => own.has(word)).length;
  if (shown.trim() === "" || (own.size > 0 && said * 2 >= other.size)) return text;
  if (own.size > 2 * other.size) return `${text}\n\n${shown}`;
  if (own.size > 0) notes.push("Its plain text says another thing than its HTML, and is left out.");
  return shown;
}

/** Words of the beginning of a text, without addresses; where they are not parted by blanks, its letters. */
function listWords(text: string): Set<string> {
  const plain = text
    .slice(0, 50_000)
    .replaceAll(/https?:\/\/\S+/g, " ")
    .toLowerCase();
  return new Set(plain.match(/[\u0e00-\u0eff\u2e80-\u9fff\uac00-\ud7af]|[\p{L}\p{N}]{2,}/gu));
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
