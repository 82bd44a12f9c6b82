import { ServiceError } from "../../service/service-error.ts";
import { createActionDefiner, type PlaceAction } from "../port/define-action.ts";
import type { NotShown } from "../port/not-shown.ts";
import type { Draft } from "./compose-message.ts";
import type { MailMessage, MessagePart, ParsedMail } from "./mail-message.ts";
import type { MailQuery } from "./mail-query.ts";

/** Where one message lies and how it is marked. */
export interface MailPlace {
  /** The `message_id` of the answers: opaque, at most 255 characters. */
  readonly id: string;
  /** Name of the folder, levels separated by "/". */
  readonly folder: string;
  readonly isUnread: boolean;
  readonly isFlagged: boolean;
  readonly isAnswered: boolean;
  /** All its marks in the words of the mailbox, in a fixed order, without those of one session. */
  readonly marks: string;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  /** Another text once the mailbox has given every message another id. Default: it never does. */
  readonly epoch?: string;
  /** Bytes; undefined where nobody had to count them. */
  readonly size?: number | undefined;
}

/** What is kept of a message before it is changed, to know it again. */
export interface KnownMessage {
  readonly place: MailPlace;
  readonly subject: string;
  readonly messageIdHeader?: string | undefined;
}

/** Where a message of {@link MailBox.trace} lies now: where it was, where it may have been moved to, in both or in neither. */
export interface TracedMessage {
  readonly here: MailPlace | undefined;
  readonly there: MailPlace | undefined;
}

/** Where messages may have been moved to. */
export interface MoveTrace {
  readonly folder: string;
  /** As {@link MailBox.seeArrivals} said before the move. */
  readonly arrivals: string | undefined;
  /** Their ids after the move, in their order; undefined where its answer was lost. */
  readonly ids: readonly string[] | undefined;
}

/** How a change treats messages that another program changes meanwhile. */
export interface ChangeTerms {
  /**
   * Throws ServiceError 412 for a message that is not where and how its place says: as the last thing before each step, or as its
   * condition.
   */
  readonly isExact: boolean;
  /**
   * Called once with the messages as they are, as the last thing before anything changes; from then on they must stay so, as with
   * `isExact`. When it throws, nothing changes. A failure before it is never "outcome_unknown", one after it always may be.
   */
  readonly before?: ((held: readonly MailPlace[]) => Promise<void>) | undefined;
}

/** What a look for a sent message found: a place of a copy, that it was not sent, or a sentence why nobody can tell. */
export type SentTrace =
  | { readonly found: "sent"; readonly copy: MailPlace | undefined }
  | { readonly found: "unsent" }
  | { readonly found: "unknown"; readonly why: string };

/** A message of a search. Its text may be cut; the names of its attachments are complete where the mailbox knows them. */
export interface FoundMessage {
  readonly place: MailPlace;
  readonly message: MailMessage;
  readonly attachmentNames: readonly string[];
}

/** Where a message lies, and its headers as the answers have them. */
export interface MessageHead
  extends Pick<MailMessage, "from" | "replyTo" | "subject" | "date" | "messageIdHeader" | "references"> {
  readonly place: MailPlace;
}

/** Finds of a search, newest first. */
export interface FoundMessages {
  readonly found: readonly FoundMessage[];
  /** True when more messages match, or may match. */
  readonly more: boolean;
  /** A note to the caller, for example that only the newest messages were looked at. */
  readonly note?: string | undefined;
  /** Messages that could not be read, or not as far as the search went. */
  readonly notShown: readonly NotShown[];
}

/** A folder in a list. */
export interface MailFolder {
  readonly name: string;
  readonly messages: number;
  readonly unread: number;
}

/** Where and how much to search. */
export interface MailSearch {
  /** As `findFolder` names it. */
  readonly folder: string;
  readonly limit: number;
  /** True for ids of messages that are left out, before they are opened. Default: none is. */
  readonly isKnown?: (id: string) => boolean;
}

/** States a message can be marked with. */
export const MAIL_MARKS = ["read", "unread", "flagged", "unflagged"] as const;
export type MailMark = (typeof MAIL_MARKS)[number];

/** What sending would do, as far as reads tell. */
export interface PlannedSend {
  /** The folder of sent mail, where a copy is kept. */
  readonly folder: string;
  /** Addresses that nothing is sent to, as the mailbox has no outgoing server. */
  readonly unreached: readonly string[];
  /**
   * Addresses with no mail to them in the folder of sent mail and none from them in INBOX; only those of which this is
   * quickly found out.
   */
  readonly strangers: readonly string[];
}

/** How a message was sent. */
export interface SentMail {
  /** Id of the copy in the folder of sent mail; undefined when there is none. */
  readonly id: string | undefined;
  /** The folder of sent mail. */
  readonly folder: string;
  /** Addresses that the outgoing server took, or that got the message at once. */
  readonly delivered: readonly string[];
  readonly notDelivered: readonly string[];
  /** A note to the caller, e.g. why an address was left out. */
  readonly note?: string;
}

/**
 * One mailbox for the length of one call: a folder of this machine or an account on a server. Every method throws
 * ServiceError for failures it can name.
 */
export interface MailBox {
  listFolders(): Promise<{ readonly folders: readonly MailFolder[]; readonly notShown: readonly NotShown[] }>;
  /**
   * The mailbox's own name of a folder, e.g. for `sent`. Throws ServiceError 404 when it is not there, unless it may be
   * made; 400 for a name that no folder can have.
   */
  findFolder(name: string, o: { readonly mayBeMade: boolean }): Promise<string>;
  /** Says of any name what is there: never throws for one that no folder has. */
  lookAtFolder(name: string): Promise<{
    /** False for one that a move there would make. */
    readonly isThere: boolean;
    /** True for one that hides what is moved there: trash, junk, by the marks of the mailbox and by many names, and below. */
    readonly isPutAway: boolean;
  }>;
  search(query: MailQuery, o: MailSearch): Promise<FoundMessages>;
  /** All messages with these ids, or ServiceError 404 naming the first missing one. */
  find(ids: readonly string[]): Promise<MailPlace[]>;
  /** As {@link find}, each by its id and with its headers; empty ones where they cannot be read. */
  findHeads(ids: readonly string[]): Promise<ReadonlyMap<string, MessageHead>>;
  /** The headers of one message. Throws like {@link read}. */
  readHead(id: string): Promise<MessageHead>;
  /**
   * A message, with the part that is asked for. Throws ServiceError 404, 413 when it is too large, 500 `provider_error` when
   * it cannot be read.
   */
  read(id: string, part: MessagePart): Promise<ParsedMail & { readonly place: MailPlace }>;
  /** Marks messages. */
  mark(places: readonly MailPlace[], as: MailMark, terms: ChangeTerms): Promise<MailPlace[]>;
  /** The {@link MailPlace.marks} of a message once it is marked and nothing else about it changes. */
  foresee(place: MailPlace, as: MailMark): string;
  /** Moves messages into a folder of {@link findFolder}, which is made when it is missing. Their ids may change. */
  move(places: readonly MailPlace[], folder: string, terms: ChangeTerms): Promise<MailPlace[]>;
  /** Where messages lie now, in their order; `moved` where they may have been moved. Never throws for one that is gone. */
  trace(messages: readonly KnownMessage[], moved?: MoveTrace): Promise<TracedMessage[]>;
  /**
   * Another text once a message has come into a folder, even if it is gone by now; maybe also for another reason. Undefined where
   * the folder is not there, empty where the mailbox cannot tell.
   */
  seeArrivals(folder: string): Promise<string | undefined>;
  /**
   * Keeps a message among the drafts. `before` is called as the last thing before, with its size in bytes where the mailbox can
   * tell it later, too; when it throws, nothing is kept.
   */
  saveDraft(draft: Draft, before: (size: number | undefined) => Promise<void>): Promise<MailPlace>;
  /** Where messages lie that this service wrote with this Message-ID: looks into this folder at least. */
  findWritten(messageId: string, folder: string): Promise<MailPlace[]>;
  /** What sending to these addresses would do. Throws ServiceError where `send` would throw whatever the message says. */
  planSend(recipients: readonly string[]): Promise<PlannedSend>;
  /**
   * Sends a message once. `before` is called as the last thing before; when it throws, nothing is sent. Throws ServiceError 500
   * `outcome_unknown` when it may have been sent.
   */
  send(draft: Draft, before: () => Promise<void>): Promise<SentMail>;
  /** Looks for a message that was to be sent; `arrivals` as {@link seeArrivals} said of the folder of sent mail before. */
  findSent(sent: {
    readonly messageId: string;
    readonly recipients: readonly string[];
    readonly folder: string;
    readonly arrivals: string | undefined;
  }): Promise<SentTrace>;
}

/** Whether certainly no message has come into a folder between two answers of {@link MailBox.seeArrivals}. */
export function isWithoutArrivals(before: string | undefined, now: string | undefined): boolean {
  return before !== "" && before === now;
}

/** Largest message that is read, in bytes: as much as one call can attach (100 MB), in base64 with its line ends. */
export const MAX_MESSAGE_BYTES = 144 * 1024 * 1024;

/** Opens the mailbox of the connection in `context`; does no I/O yet. */
export type OpenMailBox = Parameters<PlaceAction<MailBox>>[0];

/** 413 `message_too_large`: a message of more than {@link MAX_MESSAGE_BYTES} is not read. `size` in bytes. */
export function refuseLarge(id: string, size: number): ServiceError {
  const limit = `${MAX_MESSAGE_BYTES / 1024 / 1024} MB`;
  return new ServiceError(
    413,
    "message_too_large",
    `The message "${id}" has ${size} bytes; at most ${limit} are read.`,
    { type: "provider", hint: "Open it with a mail program." },
  );
}

/** The headers of a message that was parsed; empty ones without it. */
export function toHead(place: MailPlace, message: MailMessage | undefined): MessageHead {
  const { from = "", replyTo = [], subject = "", date, messageIdHeader, references } = message ?? {};
  return { place, from, replyTo, subject, date, messageIdHeader, references };
}

/** Whether a message is marked as such already. */
export function isMarked({ isUnread, isFlagged }: MailPlace, as: MailMark): boolean {
  if (as === "read" || as === "unread") return isUnread === (as === "unread");
  return isFlagged === (as === "flagged");
}

/** Whether a message is where and how it was. */
export function isSamePlace(one: MailPlace, other: MailPlace): boolean {
  return one.id === other.id && one.folder === other.folder && one.marks === other.marks;
}

/** Defines an action on the mailbox of the connection it is called with. */
export const defineMailAction = createActionDefiner<MailBox>();

/** Folders that exist without being made first. */
export const STANDARD_FOLDERS = ["INBOX", "Sent", "Drafts", "Archive", "Junk", "Trash"] as const;

/** One spelling for each folder: standard names get their usual case. */
export function normaliseFolder(folder: string): string {
  return STANDARD_FOLDERS.find((name) => name.toLowerCase() === folder.toLowerCase()) ?? folder;
}
