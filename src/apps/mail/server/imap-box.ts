import type { Action, ActionContext } from "../../integration.ts";
import type { NotShown } from "../../not-shown.ts";
import { composeMessage, type Draft } from "../compose-message.ts";
import {
  type FoundMessages,
  type FoundSubject,
  MAX_MESSAGE_BYTES,
  type MailBox,
  type MailFolder,
  type MailMark,
  type MailPlace,
  type MailSearch,
  normaliseFolder,
  refuseLarge,
  type SentMail,
  STANDARD_FOLDERS,
} from "../mail-box.ts";
import type { MessagePart, ParsedMail } from "../mail-message.ts";
import type { MailQuery } from "../mail-query.ts";
import type { MailParser } from "../parsing/mail-parser.ts";
import { createSearchParser } from "../parsing/search-parser.ts";
import { checkFolderName, isPutAwayIn, listImapFolders, pickFolder, refuseMissingFolder } from "./imap-folders.ts";
import {
  appendMessage,
  collectMessage,
  groupByFolder,
  holdMessages,
  holdSubjects,
  inFolder,
  makeFolder,
  moveMessages,
  refuseMissingMessage,
} from "./imap-messages.ts";
import type { ImapLine, ImapSession } from "./imap-session.ts";
import { isRefusal, readFault } from "./mail-failure.ts";
import { type FetchedMessages, readFound, searchImap } from "./search-imap.ts";
import type { ServerSettings } from "./server-settings.ts";

/** The parts of a mailbox on a server. */
export interface ImapBoxParts {
  readonly settings: ServerSettings;
  readonly session: ImapSession;
  readonly parser: MailParser;
  /** Sends a message once; files nothing. */
  send(draft: Draft, box: ImapBox): Promise<SentMail>;
}

const FLAGS: Record<MailMark, readonly [change: "messageFlagsAdd" | "messageFlagsRemove", flag: string]> = {
  read: ["messageFlagsAdd", "\\Seen"],
  unread: ["messageFlagsRemove", "\\Seen"],
  flagged: ["messageFlagsAdd", "\\Flagged"],
  unflagged: ["messageFlagsRemove", "\\Flagged"],
};

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
  look<T>(work: (line: ImapLine) => Promise<T>): Promise<T> {
    return this.#parts.session.use({ signal: this.context.signal }, work);
  }

  /** Work that is done once. */
  change<T>(work: (line: ImapLine) => Promise<T>): Promise<T> {
    return this.#parts.session.use({ signal: this.context.signal, changes: this.#action }, work);
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

  async isPutAway(name: string): Promise<boolean> {
    return isPutAwayIn(await this.look((line) => listImapFolders(line)), name);
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

  async findWithSubjects(ids: readonly string[]) {
    const held = await this.look((line) => holdSubjects(line, ids));
    const { signal, connection } = this.context;
    const parser = createSearchParser(this.#parts.parser, { account: connection.id, signal });
    const found = new Map<string, FoundSubject>();
    for (const { place, header } of held) {
      const message = await parser.parse(header, place);
      found.set(place.id, { place, subject: message?.subject ?? "" });
    }
    return found;
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

  async mark(places: readonly MailPlace[], as: MailMark): Promise<MailPlace[]> {
    const [change, flag] = FLAGS[as];
    const ids = places.map(({ id }) => id);
    return this.change(async (line) => {
      for (const { folder, uids } of groupByFolder(await holdMessages(line, ids)))
        await inFolder(line, folder, async () => line.need(await line.client[change](uids, [flag], { uid: true })));
      return (await holdMessages(line, ids)).map(({ state }) => state);
    });
  }

  async move(places: readonly MailPlace[], target: string): Promise<MailPlace[]> {
    return this.change(async (line) => {
      const held = await holdMessages(
        line,
        places.map(({ id }) => id),
      );
      const folder = await makeFolder(line, target);
      const moved = new Map<string, MailPlace>();
      for (const { folder: from, uids } of groupByFolder(held)) {
        if (from.path === folder.path) continue;
        const map = await inFolder(line, from, () => moveMessages(line, uids, folder));
        for (const { state, place } of held) {
          const id = place.folder === from.digest ? map(place.uid) : undefined;
          if (id !== undefined) moved.set(state.id, { ...state, id, folder: folder.name });
        }
      }
      return held.map(({ state }) => moved.get(state.id) ?? { ...state, folder: folder.name });
    });
  }

  async saveDraft(draft: Draft): Promise<MailPlace> {
    const name = await this.findFolder("Drafts", { mayBeMade: true });
    const bytes = await collectMessage(composeMessage(draft, true));
    return this.change(async (line) => {
      const folder = await makeFolder(line, name);
      const id = await appendMessage(line, folder, { bytes, flags: ["\\Draft", "\\Seen"], at: draft.date });
      return { id, folder: folder.name, isUnread: false, isFlagged: false, receivedAt: draft.date.getTime() };
    });
  }

  send(draft: Draft): Promise<SentMail> {
    return this.#parts.send(draft, this);
  }
}

/** Servers list folders that are gone by now, or never were more than a name for those below them. */
function skipRefused(error: unknown): undefined {
  if (isRefusal(error) || readFault(error).code === "NotFound") return undefined;
  throw error;
}
