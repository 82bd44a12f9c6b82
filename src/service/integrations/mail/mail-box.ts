import { ServiceError } from "../../service-error.ts";
import { createActionDefiner, type PlaceAction } from "../define-action.ts";
import type { NotShown } from "../not-shown.ts";
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
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  /** Another text once the mailbox has given every message another id. Default: it never does. */
  readonly epoch?: string;
}

/** A message of a search. Its text may be cut; the names of its attachments are complete where the mailbox knows them. */
export interface FoundMessage {
  readonly place: MailPlace;
  readonly message: MailMessage;
  readonly attachmentNames: readonly string[];
}

/** Where a message lies, and its subject as the answers have it. */
export interface FoundSubject {
  readonly place: MailPlace;
  readonly subject: string;
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
  /** True for a folder that hides what is moved there: trash, junk, by the marks of the mailbox and by many names, and below. */
  isPutAway(folder: string): Promise<boolean>;
  search(query: MailQuery, o: MailSearch): Promise<FoundMessages>;
  /** All messages with these ids, or ServiceError 404 naming the first missing one. */
  find(ids: readonly string[]): Promise<MailPlace[]>;
  /** As {@link find}, each by its id and with its subject; "" for one whose headers cannot be read. */
  findWithSubjects(ids: readonly string[]): Promise<ReadonlyMap<string, FoundSubject>>;
  /**
   * A message, with the part that is asked for. Throws ServiceError 404, 413 when it is too large, 500 `provider_error` when
   * it cannot be read.
   */
  read(id: string, part: MessagePart): Promise<ParsedMail & { readonly place: MailPlace }>;
  mark(places: readonly MailPlace[], as: MailMark): Promise<MailPlace[]>;
  /** Moves messages into a folder of {@link findFolder}, which is made when it is missing. Their ids may change. */
  move(places: readonly MailPlace[], folder: string): Promise<MailPlace[]>;
  /** Keeps a message among the drafts. */
  saveDraft(draft: Draft): Promise<MailPlace>;
  /** Sends a message once. Throws ServiceError 500 `outcome_unknown` when it may have been sent. */
  send(draft: Draft): Promise<SentMail>;
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

/** Defines an action on the mailbox of the connection it is called with. */
export const defineMailAction = createActionDefiner<MailBox>();

/** Folders that exist without being made first. */
export const STANDARD_FOLDERS = ["INBOX", "Sent", "Drafts", "Archive", "Junk", "Trash"] as const;

/** One spelling for each folder: standard names get their usual case. */
export function normaliseFolder(folder: string): string {
  return STANDARD_FOLDERS.find((name) => name.toLowerCase() === folder.toLowerCase()) ?? folder;
}
