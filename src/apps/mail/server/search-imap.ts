import type { FetchMessageObject, MessageStructureObject, SearchObject } from "imapflow";
import { sanitiseFileName } from "../../../service/files/file-name.ts";
import type { FoundMessage, FoundMessages, MailPlace } from "../mail-box.ts";
import { type MailQuery, type MailTerm, matchesPlace } from "../mail-query.ts";
import type { SearchParser } from "../parsing/search-parser.ts";
import { listAttachmentNames } from "../read-mail.ts";
import { type ImapFolder, writeImapId } from "./imap-folders.ts";
import { fetchByUid, readState } from "./imap-messages.ts";
import type { ImapLine } from "./imap-session.ts";

/** Enough of a message to show how it begins. */
const START_BYTES = 256 * 1024;
/** Most messages of a result that are looked at. */
const MAX_LISTED = 2000;

const CUT_NOTE = `Only the newest ${MAX_LISTED} were looked at; add before: to go further back.`;

/** Where and how much to search. */
interface Scope {
  /** Selected already. */
  readonly folder: ImapFolder;
  readonly validity: bigint;
  readonly limit: number;
  /** See {@link MailSearch}. */
  readonly isKnown?: ((id: string) => boolean) | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** A message that matches, as the server gave it. */
interface FetchedMessage {
  readonly place: MailPlace;
  /** Its first bytes. */
  readonly start: Buffer;
  readonly isWhole: boolean;
  readonly structure: MessageStructureObject | undefined;
}

/** Messages of a folder that match. */
export interface FetchedMessages {
  readonly fetched: readonly FetchedMessage[];
  /** True when more messages match, or may match. */
  readonly more: boolean;
  readonly note?: string;
}

/** Searches the selected folder, newest messages first. Reads no message yet: others wait for the connection. */
export async function searchImap(line: ImapLine, query: MailQuery, scope: Scope): Promise<FetchedMessages> {
  const { client } = line;
  const knowsGmail = client.capabilities.has("X-GM-EXT-1");
  const { searches, needsStructure } = toImapSearch(query, { knowsGmail, now: scope.now });
  let uids: number[] | undefined;
  for (const search of searches) {
    const found = new Set(line.need(await client.search(search, { uid: true })));
    uids = uids === undefined ? [...found] : uids.filter((uid) => found.has(uid));
  }
  const { validity, isKnown } = scope;
  const unknown = (uids ?? []).filter((uid) => !isKnown?.(writeImapId({ folder: scope.folder.digest, validity, uid })));
  const newest = unknown.sort((a, b) => b - a).slice(0, MAX_LISTED);
  const isCut = unknown.length > MAX_LISTED;
  const listed = await list(line, newest, { ...scope, withStructure: needsStructure });
  const matching = listed.filter(
    ({ message, place }) =>
      matchesPlace(query, place) && (!needsStructure || hasWantedAttachments(query, message.bodyStructure)),
  );
  const fetched: FetchedMessage[] = [];
  for (const { message, place } of matching.slice(0, scope.limit)) {
    const one = await fetchStart(line, message.uid, place);
    if (one !== undefined) fetched.push(one);
  }
  return {
    fetched,
    more: isCut || matching.length > scope.limit,
    ...(isCut ? { note: CUT_NOTE } : {}),
  };
}

async function list(line: ImapLine, uids: readonly number[], o: Scope & { readonly withStructure: boolean }) {
  if (uids.length === 0) return [];
  const fields = { flags: true, internalDate: true, bodyStructure: o.withStructure };
  const fetched = await fetchByUid(line, [...uids], fields);
  return fetched
    .map((message) => ({ message, place: readState(message, o) }))
    .sort((a, b) => b.place.receivedAt - a.place.receivedAt || b.message.uid - a.message.uid);
}

/** Parses the messages of a search. */
export async function readFound(
  { fetched, more, note }: FetchedMessages,
  parser: SearchParser,
): Promise<FoundMessages> {
  const found: FoundMessage[] = [];
  for (const { place, start, isWhole, structure } of fetched) {
    const message = await parser.parse(start, place, { isCut: !isWhole });
    if (message === undefined) continue;
    const attachmentNames = isWhole ? listAttachmentNames(message) : listNames(structure);
    found.push({ place, message, attachmentNames });
  }
  return { found, more, note, notShown: parser.notShown };
}

/** The beginning of a message; undefined for one that has vanished. */
async function fetchStart({ client }: ImapLine, uid: number, place: MailPlace): Promise<FetchedMessage | undefined> {
  const fields = { source: { start: 0, maxLength: START_BYTES }, size: true, bodyStructure: true };
  const message: FetchMessageObject | false = await client.fetchOne(String(uid), fields, { uid: true });
  if (message === false || message.source === undefined) return undefined;
  const isWhole = (message.size ?? 0) <= START_BYTES;
  return { place, start: message.source, isWhole, structure: message.bodyStructure };
}

function hasWantedAttachments({ terms }: MailQuery, structure: MessageStructureObject | undefined): boolean {
  const isAttached = listAttached(structure).some(
    ({ disposition, isRelated }) => !isRelated || disposition === "attachment",
  );
  return terms.every((term) => term.kind !== "attachment" || isAttached !== term.isNegated);
}

/** Names of the attachments in a structure, as parsing the message would give them. */
function listNames(structure: MessageStructureObject | undefined): string[] {
  return listAttached(structure).map(({ parameters, dispositionParameters }, index) =>
    sanitiseFileName(dispositionParameters?.filename ?? parameters?.name ?? "", `attachment-${index}`),
  );
}

/** A part of a message; related are those that a text shows, such as its pictures. */
type Leaf = MessageStructureObject & { readonly isRelated?: boolean };

function listAttached(structure: MessageStructureObject | undefined): Leaf[] {
  return listLeaves(structure).filter(
    ({ type, disposition }) => disposition === "attachment" || !/^(text\/(plain|html)|multipart\/)/i.test(type),
  );
}

function listLeaves(structure: MessageStructureObject | undefined, isRelated = false): Leaf[] {
  if (structure === undefined) return [];
  const { type, childNodes, id } = structure;
  if (type === "message/rfc822" || childNodes === undefined)
    return [{ ...structure, isRelated: isRelated && id !== undefined }];
  return childNodes.flatMap((child) => listLeaves(child, isRelated || type === "multipart/related"));
}

const PLACES_OF_WORDS = ["subject", "from", "to", "cc", "body"] as const;
const DAY_MS = 24 * 60 * 60_000;

/** A query as an IMAP server understands it. */
interface ImapSearch {
  /** Searches whose results have to be cut with each other: one search names a key only once. */
  readonly searches: readonly SearchObject[];
  /** True when only the structure of a message tells whether something is attached. */
  readonly needsStructure: boolean;
}

/**
 * Maps a query to IMAP SEARCH. Days are asked for generously, because a server counts them in a time zone of its own; the
 * exact time is looked at afterwards. Attachments are left to the caller, but for servers that know Gmail's searches.
 *
 * @param now milliseconds since the epoch
 */
function toImapSearch(
  { terms }: MailQuery,
  { knowsGmail, now }: { readonly knowsGmail: boolean; readonly now: number },
): ImapSearch {
  const searches: SearchObject[] = [];
  for (const criterion of terms.flatMap((term) => toCriterion(term, { knowsGmail, now }) ?? [])) {
    const free = searches.find((search) => !Object.keys(criterion).some((key) => key in search));
    if (free === undefined) searches.push({ ...criterion });
    else Object.assign(free, criterion);
  }
  const needsStructure = !knowsGmail && terms.some(({ kind }) => kind === "attachment");
  return { searches: searches.length === 0 ? [{ all: true }] : searches, needsStructure };
}

function toCriterion(
  term: MailTerm,
  { knowsGmail, now }: { readonly knowsGmail: boolean; readonly now: number },
): SearchObject | undefined {
  switch (term.kind) {
    case "unread":
      return { seen: term.isNegated };
    case "flagged":
      return { flagged: !term.isNegated };
    case "since":
      return toDates(term, now);
    case "attachment":
      return knowsGmail ? { gmraw: `${term.isNegated ? "-" : ""}has:attachment` } : undefined;
    case "words":
      return negate({ or: PLACES_OF_WORDS.map((key) => ({ [key]: term.text })) }, term);
    default:
      return negate({ [term.kind]: term.text }, term);
  }
}

/** Servers refuse to count back to a moment that is still to come. */
function toDates({ at, isNegated }: MailTerm & { readonly kind: "since" }, now: number): SearchObject | undefined {
  if (!isNegated) return { since: new Date(Math.min(at, now) - DAY_MS) };
  const before = at + 2 * DAY_MS;
  return before < now ? { before: new Date(before) } : undefined;
}

function negate(criterion: SearchObject, { isNegated }: MailTerm): SearchObject {
  return isNegated ? { not: criterion } : criterion;
}
