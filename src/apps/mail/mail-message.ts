import type { MailQuery } from "./mail-query.ts";

/** An attachment of a message. */
export interface MailAttachment {
  readonly name: string;
  readonly mimetype: string;
  /** Bytes. */
  readonly size: number;
}

/** A message as the actions use it. Its sender chose how long everything is, so every member is cut somewhere. */
export interface MailMessage {
  readonly from: string;
  /** At most 500, as in the other lists of addresses. */
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly bcc: readonly string[];
  readonly replyTo: readonly string[];
  readonly subject: string;
  /** ISO 8601 where the header can be read, else the header itself; undefined without one. */
  readonly date: string | undefined;
  /** The Message-ID header; undefined also for one that is too long to be quoted in an answer. */
  readonly messageIdHeader: string | undefined;
  /** The newest ids of the References header. */
  readonly references: string | undefined;
  /** The part of the text that was asked for. */
  readonly text: string;
  /** Characters of the whole text. */
  readonly textLength: number;
  /** At most 1000. */
  readonly attachments: readonly MailAttachment[];
  /** One sentence for each thing that is left out or guessed. */
  readonly notes: readonly string[];
}

/** The wanted parts of a message besides its headers and the list of its attachments. */
export interface MessagePart {
  /** Characters of the text; default none. */
  readonly text?: { readonly from: number; readonly length: number };
  /** Attachment whose bytes are wanted, from 0. */
  readonly attachment?: number;
  /** Terms the message has to meet; see {@link ParsedMail.matches}. */
  readonly query?: MailQuery;
}

/** A message that was parsed. */
export interface ParsedMail {
  readonly message: MailMessage;
  /** Bytes of the attachment that was asked for; undefined when there is none. */
  readonly content: Uint8Array | undefined;
  /** Whether the terms of the query that are about the message itself hold; true without a query. */
  readonly matches: boolean;
}

/** An order to the thread. */
export interface ParseOrder {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly part: MessagePart;
}

/** An answer of the thread: first that it has loaded its code, then one for each order. */
export type ParseAnswer =
  | { readonly type: "ready" }
  | { readonly type: "parsed"; readonly mail: ParsedMail }
  | { readonly type: "unreadable"; readonly words: string };

/** Bytes that can change threads without being copied: alone in their memory. Copies those that are not. */
export function separateBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, byteLength } = bytes;
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength
    ? new Uint8Array(buffer, byteOffset, byteLength)
    : new Uint8Array(bytes);
}
