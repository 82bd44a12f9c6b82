import type { Action, ActionContext } from "../../port/integration.ts";
import type { NotShown } from "../../port/not-shown.ts";
import { composeMessage, type Draft } from "../compose-message.ts";
import {
  type ChangeTerms,
  type FoundMessages,
  type KnownMessage,
  MAX_MESSAGE_BYTES,
  type MailBox,
  type MailFolder,
  type MailMark,
  type MailPlace,
  type MailSearch,
  type MessageHead,
  type MoveTrace,
  normaliseFolder,
  type PlannedSend,
  refuseLarge,
  type SentMail,
  type SentTrace,
  STANDARD_FOLDERS,
  type TracedMessage,
  toHead,
} from "../mail-box.ts";
import type { MessagePart, ParsedMail } from "../mail-message.ts";
import type { MailQuery } from "../mail-query.ts";
import type { MailParser } from "../parsing/mail-parser.ts";
import { createSearchParser } from "../parsing/search-parser.ts";
import { type Begin, foreseeFlags, markOnServer, moveOnServer } from "./change-imap.ts";
import { checkFolderName, isPutAwayIn, listImapFolders, pickFolder, refuseMissingFolder } from "./imap-folders.ts";
import {
  appendMessage,
  collectMessage,
  holdHeads,
  holdMessages,
  inFolder,
  makeFolder,
  refuseMissingMessage,
} from "./imap-messages.ts";
import { type ImapLine, type ImapSession, READ } from "./imap-session.ts";
import { isRefusal, readFault } from "./mail-failure.ts";
import { type FetchedMessages, readFound, searchImap } from "./search-imap.ts";
import type { ServerSettings } from "./server-settings.ts";
import { findByMessageId, seeImapArrivals, traceOnServer } from "./trace-imap.ts";

/** The parts of a mailbox on a server. */
export interface ImapBoxParts {
  readonly settings: ServerSettings;
  readonly session: ImapSession;
  readonly parser: MailParser;
  /** What {@link MailBox.planSend} says. */
  plan(recipients: readonly string[], box: ImapBox): Promise<PlannedSend>;
  /** Sends a message once and files it; `before` as in {@link MailBox.send}. */
  send(draft: Draft, box: ImapBox, before: () => Promise<void>): Promise<SentMail>;
  /** True for the Message-ID of a message that certainly was not handed to the outgoing server. */
  isUnsent(messageId: string): boolean;
}

/** A failure after a change has begun: nobody knows whether it took effect. */
const BEGUN = { level: "write", idempotent: false } as const;

/** The mailbox of an account on an IMAP server. */
export class ImapBox implements MailBox {
  readonly context: ActionContext;
  readonly #action: Pick<Action, "level" | "idempotent">;
  readonly #parts: ImapBoxParts;

  constructor(context: ActionContext, action: Pick<Action, "level" | "idempotent">, parts: ImapBoxParts) {
    this.context = context;
    this.#action = action;
    this.#parts = parts;
  }

  /** Work that changes nothing. */
  look<T>(work: (line: ImapLine) => Promise<T>, signal = this.context.signal): Promise<T> {
    return this.#parts.session.use({ signal }, work);
  }

  /** Work that is done once. */
  change<T>(work: (line: ImapLine) => Promise<T>): Promise<T> {
    return this.#parts.session.use({ signal: this.context.signal, changes: () => this.#action }, work);
  }

  /** The same, as `terms` say: before `begin` nothing is changed. */
  #changeAs<T>(terms: ChangeTerms, work: (line: ImapLine, begin: Begin) => Promise<T>): Promise<T> {
    const { before } = terms;
    let isBegun = false;
    const changes = () => (before === undefined ? this.#action : isBegun ? BEGUN : READ);
    return this.#parts.session.use({ signal: this.context.signal, changes }, (line) =>
      work(line, async (held) => {
        await before?.(held.map(({ state }) => state));
        isBegun = true;
      }),
    );
  }

  listFolders() {
    return this.look(async (line) => {
      const listed: MailFolder[] = [];
      const notShown: NotShown[] = [];
      for (const { path, name } of await listImapFolders(line)) {
        const status = await line.client.status(path, { messages: true, unseen: true }).catch(skipRefused);
        if (status) listed.push({ name, messages: status.messages ?? 0, unread: status.unseen ?? 0 });
        else notShown.push({ where: name, why: "The server names this folder and does not open it." });
      }
      // The library answers "no" also when it has lost the connection.
      if (!line.client.usable) throw new Error("The connection broke.");
      const folders = listed.sort((a, b) => Number(b.name === "INBOX") - Number(a.name === "INBOX"));
      return { folders, notShown };
    });
  }

  async findFolder(name: string, { mayBeMade }: { readonly mayBeMade: boolean }): Promise<string> {
    const folders = await this.look((line) => listImapFolders(line));
    const found = pickFolder(folders, name);
    if (found !== undefined) return found.name;
    const standard = normaliseFolder(name);
    if (!mayBeMade && !STANDARD_FOLDERS.some((one) => one === standard)) throw refuseMissingFolder(folders, name);
    checkFolderName(standard);
    return standard;
  }

  async lookAtFolder(name: string) {
    const folders = await this.look((line) => listImapFolders(line));
    return { isThere: pickFolder(folders, name) !== undefined, isPutAway: isPutAwayIn(folders, name) };
  }

  async search(query: MailQuery, o: MailSearch): Promise<FoundMessages> {
    const found = await this.look(async (line): Promise<FetchedMessages> => {
      const folder = pickFolder(await listImapFolders(line), o.folder);
      if (folder === undefined) return { fetched: [], more: false };
      return inFolder(line, folder, async (opened) => {
        // Whoever knows messages by their ids must not look into a folder that was renamed and made anew meanwhile.
        const { validity } =
          o.isKnown === undefined ? opened : { validity: (await line.client.mailboxOpen(folder.path)).uidValidity };
        return searchImap(line, query, { ...o, folder, validity, now: this.context.now() });
      });
    });
    const { signal, connection } = this.context;
    return readFound(found, createSearchParser(this.#parts.parser, { account: connection.id, signal }));
  }

  async find(ids: readonly string[]): Promise<MailPlace[]> {
    return (await this.look((line) => holdMessages(line, ids))).map(({ state }) => state);
  }

  async findHeads(ids: readonly string[]) {
    const held = await this.look((line) => holdHeads(line, ids));
    const { signal, connection } = this.context;
    const parser = createSearchParser(this.#parts.parser, { account: connection.id, signal });
    const found = new Map<string, MessageHead>();
    for (const { place, header } of held) found.set(place.id, toHead(place, await parser.parse(header, place)));
    return found;
  }

  async readHead(id: string): Promise<MessageHead> {
    const [held] = await this.look((line) => holdHeads(line, [id]));
    if (held === undefined) throw refuseMissingMessage(id);
    const { signal, connection } = this.context;
    const { message } = await this.#parts.parser.parse(held.header, { id, account: connection.id, signal });
    return toHead(held.place, message);
  }

  async read(id: string, part: MessagePart): Promise<ParsedMail & { place: MailPlace }> {
    const { place, bytes } = await this.#fetch(id);
    const { signal, connection } = this.context;
    return { place, ...(await this.#parts.parser.parse(bytes, { ...part, id, account: connection.id, signal })) };
  }

  #fetch(id: string): Promise<{ place: MailPlace; bytes: Uint8Array }> {
    return this.look(async (line) => {
      const [held] = await holdMessages(line, [id]);
      if (held === undefined) throw refuseMissingMessage(id);
      if (held.size > MAX_MESSAGE_BYTES) throw refuseLarge(id, held.size);
      return inFolder(line, held.folder, async () => {
        const message = await line.client.fetchOne(String(held.place.uid), { source: true }, { uid: true });
        if (message === false || message.source === undefined) throw refuseMissingMessage(id);
        return { place: held.state, bytes: message.source };
      });
    });
  }

  mark(places: readonly MailPlace[], as: MailMark, terms: ChangeTerms): Promise<MailPlace[]> {
    return this.#changeAs(terms, (line, begin) => markOnServer(line, places, { ...terms, begin, as }));
  }

  foresee({ marks }: MailPlace, as: MailMark): string {
    return foreseeFlags(marks, as);
  }

  move(places: readonly MailPlace[], target: string, terms: ChangeTerms): Promise<MailPlace[]> {
    return this.#changeAs(terms, (line, begin) => moveOnServer(line, places, { ...terms, begin, target }));
  }

  trace(messages: readonly KnownMessage[], moved?: MoveTrace): Promise<TracedMessage[]> {
    return this.look((line) => traceOnServer(line, messages, moved));
  }

  seeArrivals(folder: string): Promise<string | undefined> {
    return this.look((line) => seeImapArrivals(line, folder));
  }

  async saveDraft(draft: Draft, before: Parameters<MailBox["saveDraft"]>[1]): Promise<MailPlace> {
    const name = await this.findFolder("Drafts", { mayBeMade: true });
    const bytes = await collectMessage(composeMessage(draft, true));
    await before(bytes.length);
    return this.change(async (line) => {
      const folder = await makeFolder(line, name);
      const id = await appendMessage(line, folder, { bytes, flags: ["\\Draft", "\\Seen"], at: draft.date });
      const states = { isUnread: false, isFlagged: false, isAnswered: false, marks: "\\Draft \\Seen" };
      return { id, folder: folder.name, ...states, receivedAt: draft.date.getTime() };
    });
  }

  findWritten(messageId: string, folder: string): Promise<MailPlace[]> {
    return this.look((line) => findByMessageId(line, messageId, folder));
  }

  async findSent({ messageId, folder }: Parameters<MailBox["findSent"]>[0]): Promise<SentTrace> {
    const copies = await this.findWritten(messageId, folder);
    const isThere = copies.length > 0 || (await this.findWritten(messageId, "INBOX")).length > 0;
    if (isThere) return { found: "sent", copy: copies.at(-1) };
    if (this.#parts.isUnsent(messageId)) return { found: "unsent" };
    return { found: "unknown", why: `The outgoing server may have taken it; there is no copy in "${folder}".` };
  }

  planSend(recipients: readonly string[]): Promise<PlannedSend> {
    return this.#parts.plan(recipients, this);
  }

  send(draft: Draft, before: () => Promise<void>): Promise<SentMail> {
    return this.#parts.send(draft, this, before);
  }
}

/** Servers list folders that are gone by now, or never were more than a name for those below them. */
function skipRefused(error: unknown): undefined {
  if (isRefusal(error) || readFault(error).code === "NotFound") return undefined;
  throw error;
}
