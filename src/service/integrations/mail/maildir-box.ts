import { createGate, type Gate } from "../../../base/concurrency.ts";
import { afterChange, ServiceError } from "../../service-error.ts";
import type { ActionContext } from "../integration.ts";
import { isPutAway } from "../put-away.ts";
import { composeMessage, type Draft } from "./compose-message.ts";
import type {
  FoundMessage,
  FoundMessages,
  FoundSubject,
  MailBox,
  MailFolder,
  MailMark,
  MailPlace,
  MailSearch,
  SentMail,
} from "./mail-box.ts";
import { normaliseFolder } from "./mail-box.ts";
import type { MessagePart } from "./mail-message.ts";
import { type MailQuery, matchesPlace } from "./mail-query.ts";
import { checkSendLimits, mailFolder, readMailSettings } from "./mail-settings.ts";
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
  relocateMessage,
} from "./maildir.ts";
import { toFolderParts } from "./maildir-names.ts";
import type { MailParser } from "./parsing/mail-parser.ts";
import { createSearchParser } from "./parsing/search-parser.ts";
import { listAttachmentNames } from "./read-mail.ts";
import { listRecipients } from "./send-message.ts";

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

/** One gate for each mailbox, so that simultaneous sends cannot pass a limit together. */
const gates = new Map<string, Gate>();

function gateOf(maildir: string): Gate {
  const gate = gates.get(maildir) ?? createGate(1);
  gates.set(maildir, gate);
  return gate;
}

/** A message that was moved since it was listed is not there any more; that is no failure of a search. */
function skipMissing(error: unknown): undefined {
  if (error instanceof ServiceError && error.status === 404) return undefined;
  throw error;
}

function toPlace({ id, folder, flags, deliveredAt }: MessagePlace): MailPlace {
  return { id, folder, isUnread: !flags.includes("S"), isFlagged: flags.includes("F"), receivedAt: deliveredAt };
}

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

  async isPutAway(folder: string): Promise<boolean> {
    return isPutAway(folder);
  }

  async search(query: MailQuery, { folder, limit, isKnown }: MailSearch): Promise<FoundMessages> {
    const { connection, signal } = this.#context;
    const found: FoundMessage[] = [];
    const parser = createSearchParser(this.#parser, { account: connection.id, signal });
    const { notShown } = parser;
    const listed = await listMessages(connection, folder);
    const candidates = listed.filter((one) => !isKnown?.(one.id) && matchesPlace(query, toPlace(one)));
    for (const one of candidates.slice(0, MAX_OPENED)) {
      signal.throwIfAborted();
      const bytes = await readMessageStart(connection, one, SEARCH_BYTES).catch(skipMissing);
      const part = { query, isCut: bytes?.length === SEARCH_BYTES };
      const message = bytes === undefined ? undefined : await parser.parse(bytes, one, part);
      if (message === undefined) continue;
      if (found.length === limit) return { found, more: true, notShown };
      found.push({ place: toPlace(one), message, attachmentNames: listAttachmentNames(message) });
    }
    if (candidates.length <= MAX_OPENED) return { found, more: false, notShown };
    const note = `Only the newest ${MAX_OPENED} were searched; add before: to go further back.`;
    return { found, more: true, note, notShown };
  }

  async find(ids: readonly string[]): Promise<MailPlace[]> {
    return (await findMessages(this.#context.connection, ids)).map(toPlace);
  }

  async findWithSubjects(ids: readonly string[]) {
    const { connection, signal } = this.#context;
    const parser = createSearchParser(this.#parser, { account: connection.id, signal });
    const found = new Map<string, FoundSubject>();
    for (const place of await findMessages(connection, ids)) {
      const message = await parser.parse(await readMessageStart(connection, place, HEADER_BYTES), place);
      found.set(place.id, { place: toPlace(place), subject: message?.subject ?? "" });
    }
    return found;
  }

  async read(id: string, part: MessagePart) {
    const { connection, signal } = this.#context;
    const place = await findMessage(connection, id);
    const bytes = await readMessageBytes(connection, place);
    return {
      place: toPlace(place),
      ...(await this.#parser.parse(bytes, { ...part, id, account: connection.id, signal })),
    };
  }

  mark(places: readonly MailPlace[], as: MailMark): Promise<MailPlace[]> {
    return this.#relocate(places, ({ flags }) => ({ flags: CHANGES[as](flags) }));
  }

  move(places: readonly MailPlace[], folder: string): Promise<MailPlace[]> {
    return this.#relocate(places, () => ({ folder }));
  }

  async #relocate(
    places: readonly MailPlace[],
    change: (place: MessagePlace) => Parameters<typeof relocateMessage>[2],
  ): Promise<MailPlace[]> {
    const { connection } = this.#context;
    const changed: MailPlace[] = [];
    const ids = places.map(({ id }) => id);
    for (const place of await findMessages(connection, ids)) {
      const relocate = (one: MessagePlace) => relocateMessage(connection, one, change(one));
      // Another program may have marked it meanwhile: then its file has another name.
      const tryTwice = () =>
        relocate(place).catch(async (error: unknown) => {
          skipMissing(error);
          return relocate(await findMessage(connection, place.id));
        });
      const before = `The first ${changed.length} of ${places.length} messages`;
      changed.push(toPlace(await (changed.length === 0 ? tryTwice() : afterChange(before, tryTwice))));
    }
    return changed;
  }

  async saveDraft(draft: Draft): Promise<MailPlace> {
    return toPlace(await this.#deliver("Drafts", "DS", composeMessage(draft, true)));
  }

  async send(draft: Draft): Promise<SentMail> {
    const { connection, now, signal } = this.#context;
    const settings = readMailSettings(connection.settings);
    const own = [settings.address, ...settings.aliases].map((address) => address.toLowerCase());
    const recipients = Map.groupBy(listRecipients(draft), (address) => own.includes(address.toLowerCase()));
    const delivered = recipients.get(true) ?? [];
    const notDelivered = recipients.get(false) ?? [];
    const leave = await gateOf(mailFolder.read(connection.settings)).enter(signal);
    try {
      const sentBefore = (await listMessages(connection, "Sent")).filter(isOwnDelivery);
      checkSendLimits(
        settings,
        sentBefore.map(({ deliveredAt }) => deliveredAt),
        now(),
      );
      const { id } = await this.#deliver("Sent", "S", composeMessage(draft, true));
      const deliver = () => this.#deliver("INBOX", "", composeMessage(draft, false));
      if (delivered.length > 0) await afterChange("The folder Sent", deliver);
      const note = notDelivered.length === 0 ? {} : { note: NOT_SENT };
      return { id, folder: "Sent", delivered, notDelivered, ...note };
    } finally {
      leave();
    }
  }

  #deliver(folder: string, flags: string, bytes: AsyncIterable<Uint8Array>): Promise<MessagePlace> {
    const { connection, now, signal } = this.#context;
    return deliverMessage(connection, { folder, flags, bytes, now: now(), signal });
  }
}
