import { afterChange } from "../../service/service-error.ts";
import type { ActionContext } from "../port/integration.ts";
import { isPutAway } from "../port/put-away.ts";
import { changeMessages, gateOf, skipMissing } from "./change-maildir.ts";
import { composeMessage, type Draft, listRecipients } from "./compose-message.ts";
import type {
  ChangeTerms,
  FoundMessage,
  FoundMessages,
  KnownMessage,
  MailBox,
  MailFolder,
  MailMark,
  MailPlace,
  MailSearch,
  MessageHead,
  MoveTrace,
  PlannedSend,
  SentMail,
  SentTrace,
  TracedMessage,
} from "./mail-box.ts";
import { isWithoutArrivals, normaliseFolder, toHead } from "./mail-box.ts";
import type { MessagePart } from "./mail-message.ts";
import { type MailQuery, matchesPlace } from "./mail-query.ts";
import {
  checkSendLimits,
  forgetMinute,
  type MailSettings,
  mailFolder,
  partRecipients,
  readMailSettings,
  readOwnUnique,
} from "./mail-settings.ts";
import {
  checkFolder,
  deliverMessage,
  findMessage,
  findMessages,
  isOwnDelivery,
  listFolders,
  listMessages,
  type MessagePlace,
  readMessageBytes,
  readMessageStart,
} from "./maildir.ts";
import { toFolderParts } from "./maildir-names.ts";
import type { MailParser } from "./parsing/mail-parser.ts";
import { createSearchParser } from "./parsing/search-parser.ts";
import { listAttachmentNames } from "./read-mail.ts";
import { findDelivered, seeBoxes, toMailPlace, traceInMaildir } from "./trace-maildir.ts";

/** Enough of a message to judge it; a large attachment behind it need not be read. */
const SEARCH_BYTES = 1024 * 1024;
/** Enough of a message for its headers. */
const HEADER_BYTES = 64 * 1024;
const MAX_OPENED = 2000;
const NOT_SENT =
  "This mailbox has no outgoing server: the message is filed under Sent and was not sent over the network.";

const CHANGES: Record<MailMark, (flags: string) => string> = {
  read: (flags) => `${flags}S`,
  unread: (flags) => flags.replaceAll("S", ""),
  flagged: (flags) => `${flags}F`,
  unflagged: (flags) => flags.replaceAll("F", ""),
};

/** The mailbox that is a Maildir++ folder of this machine. It has no outgoing server. */
export class MaildirBox implements MailBox {
  readonly #context: ActionContext;
  readonly #parser: MailParser;

  constructor(context: ActionContext, parser: MailParser) {
    this.#context = context;
    this.#parser = parser;
  }

  async listFolders() {
    const { connection } = this.#context;
    const folders: MailFolder[] = [];
    const { names, notShown } = await listFolders(connection);
    for (const name of names) {
      const places = await listMessages(connection, name);
      const unread = places.filter(({ flags }) => !flags.includes("S")).length;
      folders.push({ name, messages: places.length, unread });
    }
    return { folders, notShown };
  }

  async findFolder(name: string, { mayBeMade }: { readonly mayBeMade: boolean }): Promise<string> {
    const folder = normaliseFolder(name);
    toFolderParts(folder, "folder");
    if (!mayBeMade) await checkFolder(this.#context.connection, folder);
    return folder;
  }

  async lookAtFolder(folder: string) {
    const { names } = await listFolders(this.#context.connection);
    const wanted = normaliseFolder(folder).normalize("NFC");
    return { isThere: names.some((name) => name.normalize("NFC") === wanted), isPutAway: isPutAway(folder) };
  }

  async search(query: MailQuery, { folder, limit, isKnown }: MailSearch): Promise<FoundMessages> {
    const { connection, signal } = this.#context;
    const found: FoundMessage[] = [];
    const parser = createSearchParser(this.#parser, { account: connection.id, signal });
    const { notShown } = parser;
    const listed = await listMessages(connection, folder);
    const candidates = listed.filter((one) => !isKnown?.(one.id) && matchesPlace(query, toMailPlace(one)));
    for (const one of candidates.slice(0, MAX_OPENED)) {
      signal.throwIfAborted();
      const bytes = await readMessageStart(connection, one, SEARCH_BYTES).catch(skipMissing);
      const part = { query, isCut: bytes?.length === SEARCH_BYTES };
      const message = bytes === undefined ? undefined : await parser.parse(bytes, one, part);
      if (message === undefined) continue;
      if (found.length === limit) return { found, more: true, notShown };
      found.push({ place: toMailPlace(one), message, attachmentNames: listAttachmentNames(message) });
    }
    if (candidates.length <= MAX_OPENED) return { found, more: false, notShown };
    const note = `Only the newest ${MAX_OPENED} were searched; add before: to go further back.`;
    return { found, more: true, note, notShown };
  }

  async find(ids: readonly string[]): Promise<MailPlace[]> {
    return (await findMessages(this.#context.connection, ids)).map(toMailPlace);
  }

  async findHeads(ids: readonly string[]) {
    const { connection, signal } = this.#context;
    const parser = createSearchParser(this.#parser, { account: connection.id, signal });
    const found = new Map<string, MessageHead>();
    for (const listed of await findMessages(connection, ids)) {
      const { place, bytes } = await this.#readStart(listed);
      found.set(place.id, toHead(toMailPlace(place), await parser.parse(bytes, place)));
    }
    return found;
  }

  async readHead(id: string) {
    const { connection, signal } = this.#context;
    const { place, bytes } = await this.#readStart(await findMessage(connection, id));
    const { message } = await this.#parser.parse(bytes, { id, account: connection.id, signal });
    return toHead(toMailPlace(place), message);
  }

  /** The headers of a message, which is looked for once more when another program has marked or moved it since it was listed. */
  #readStart(listed: MessagePlace) {
    const { connection } = this.#context;
    const read = async (place: MessagePlace) => ({
      place,
      bytes: await readMessageStart(connection, place, HEADER_BYTES),
    });
    return read(listed).catch(async (error: unknown) => {
      skipMissing(error);
      return read(await findMessage(connection, listed.id));
    });
  }

  async read(id: string, part: MessagePart) {
    const { connection, signal } = this.#context;
    const place = await findMessage(connection, id);
    const bytes = await readMessageBytes(connection, place);
    return {
      place: toMailPlace(place),
      ...(await this.#parser.parse(bytes, { ...part, id, account: connection.id, signal })),
    };
  }

  mark(places: readonly MailPlace[], as: MailMark, terms: ChangeTerms): Promise<MailPlace[]> {
    return this.#change(places, terms, ({ flags }) => ({ flags: CHANGES[as](flags) }));
  }

  foresee({ marks }: MailPlace, as: MailMark): string {
    return [...new Set(CHANGES[as](marks))].sort().join("");
  }

  move(places: readonly MailPlace[], folder: string, terms: ChangeTerms): Promise<MailPlace[]> {
    return this.#change(places, terms, () => ({ folder }));
  }

  #change(
    places: readonly MailPlace[],
    terms: ChangeTerms,
    change: Parameters<typeof changeMessages>[2]["change"],
  ): Promise<MailPlace[]> {
    const { connection, signal } = this.#context;
    return changeMessages(connection, places, { ...terms, signal, change });
  }

  trace(messages: readonly KnownMessage[], moved?: MoveTrace): Promise<TracedMessage[]> {
    return traceInMaildir(this.#context.connection, messages, moved);
  }

  async seeArrivals(folder: string): Promise<string | undefined> {
    return (await this.lookAtFolder(folder)).isThere ? seeBoxes(this.#context.connection, folder) : undefined;
  }

  async saveDraft(draft: Draft, before: Parameters<MailBox["saveDraft"]>[1]): Promise<MailPlace> {
    await before(undefined);
    return toMailPlace(await this.#deliver("Drafts", "DS", draft));
  }

  findWritten(messageId: string): Promise<MailPlace[]> {
    return findDelivered(this.#context.connection, readOwnUnique(messageId));
  }

  async planSend(recipients: readonly string[]): Promise<PlannedSend> {
    const settings = readMailSettings(this.#context.connection.settings);
    const { others } = partRecipients(recipients, settings);
    await this.#checkLimits(forgetMinute(settings));
    return { folder: "Sent", unreached: others, strangers: [] };
  }

  async #checkLimits(settings: MailSettings): Promise<void> {
    const { connection, now } = this.#context;
    const sentBefore = (await listMessages(connection, "Sent")).filter(isOwnDelivery);
    const times = sentBefore.map(({ deliveredAt }) => deliveredAt);
    checkSendLimits(settings, times, now());
  }

  async send(draft: Draft, before: () => Promise<void>): Promise<SentMail> {
    const { connection, signal } = this.#context;
    const settings = readMailSettings(connection.settings);
    const { own: delivered, others: notDelivered } = partRecipients(listRecipients(draft), settings);
    const leave = await gateOf(mailFolder.read(connection.settings)).enter(signal);
    try {
      await this.#checkLimits(settings);
      await before();
      const { id } = await this.#deliver("Sent", "S", draft);
      const deliver = () => this.#deliver("INBOX", "", draft);
      if (delivered.length > 0) await afterChange("The folder Sent", deliver);
      const note = notDelivered.length === 0 ? {} : { note: NOT_SENT };
      return { id, folder: "Sent", delivered, notDelivered, ...note };
    } finally {
      leave();
    }
  }

  async findSent({ messageId, recipients, folder, arrivals }: Parameters<MailBox["findSent"]>[0]): Promise<SentTrace> {
    const { own } = partRecipients(recipients, readMailSettings(this.#context.connection.settings));
    const places = await this.findWritten(messageId);
    const copy = places.find((one) => one.folder === folder) ?? places[0];
    if (places.length >= (own.length > 0 ? 2 : 1)) return { found: "sent", copy };
    if (copy !== undefined)
      return {
        found: "unknown",
        why: `There is one copy of it in "${copy.folder}", and not the second one for INBOX.`,
      };
    if (isWithoutArrivals(arrivals, await this.seeArrivals(folder))) return { found: "unsent" };
    return { found: "unknown", why: `There is no copy, and "${folder}" was changed since.` };
  }

  /** Only the copies of the mailbox's sender show Bcc. */
  #deliver(folder: string, flags: string, draft: Draft): Promise<MessagePlace> {
    const { connection, now, signal } = this.#context;
    const bytes = composeMessage(draft, folder !== "INBOX");
    const unique = readOwnUnique(draft.messageId);
    return deliverMessage(connection, { folder, flags, unique, bytes, now: now(), signal });
  }
}
