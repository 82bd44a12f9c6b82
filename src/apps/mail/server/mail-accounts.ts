import { setTimeout } from "node:timers/promises";
import { refuseSetting, ServiceError } from "../../../service/service-error.ts";
import { createGate, type Gate } from "../../../shared/base/concurrency.ts";
import { sha256Hex } from "../../../shared/base/hash.ts";
import type { Action } from "../../port/integration.ts";
import { composeMessage, type Draft } from "../compose-message.ts";
import type { OpenMailBox, SentMail } from "../mail-box.ts";
import { checkSendLimits, readMailSettings } from "../mail-settings.ts";
import type { MailParser } from "../parsing/mail-parser.ts";
import { ImapBox } from "./imap-box.ts";
import { listImapFolders, pickFolder, writeImapId } from "./imap-folders.ts";
import { appendMessage, collectMessage, inFolder, makeFolder } from "./imap-messages.ts";
import { createImapSession, type ImapLine, type ImapSession } from "./imap-session.ts";
import { listSendTimes, planSend } from "./plan-send.ts";
import { sendBySmtp, trySmtp } from "./send-by-smtp.ts";
import type { MailServer, ServerSettings } from "./server-settings.ts";

interface Account {
  /** With the access token that holds now. */
  settings: ServerSettings;
  readonly session: ImapSession;
  readonly sending: Gate;
  /** False once its server has been seen to file no copies of what is sent. */
  filesCopies: boolean;
}

/** Waits so many milliseconds. */
type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

/** Most messages of which it is known that they were not sent. */
const MAX_UNSENT = 1000;
/** Milliseconds before each look for the copy that many servers file themselves, some a moment later. */
const LOOKS_MS = [0, 1000, 1500, 1500];

/** Creates the accounts on mail servers, each with one connection; connects nowhere yet. */
export function createMailAccounts(
  parser: MailParser,
  o: { readonly idleMs?: number; readonly sleep?: Sleep | undefined } = {},
) {
  const sleep: Sleep = o.sleep ?? ((ms, signal) => setTimeout(ms, undefined, { signal }));
  const accounts = new Map<string, Account>();
  /** Message-IDs of messages that were not handed over, the newest last. */
  const unsent = new Set<string>();
  const noteUnsent = (messageId: string) => {
    unsent.add(messageId);
    for (const oldest of unsent.size > MAX_UNSENT ? unsent : []) {
      unsent.delete(oldest);
      break;
    }
  };
  return {
    open(settings: ServerSettings, ...[context, action]: Parameters<OpenMailBox>): ImapBox {
      // Different settings mean a different account; the old connection closes when idle. A renewed access
      // token does not make a different account.
      const { secret, ...rest } = settings;
      const facts = settings.signIn === "password" || settings.signIn === "token" ? settings : rest;
      const key = sha256Hex(JSON.stringify(facts));
      const account = accounts.get(key) ?? createAccount(settings, o.idleMs);
      account.settings = settings;
      accounts.set(key, account);
      const { session } = account;
      return new ImapBox(context, action, {
        settings,
        session,
        parser,
        plan: (recipients, box) => planSend(recipients, box, settings),
        isUnsent: (messageId) => unsent.has(messageId),
        send: (draft, box, before) =>
          sendMail(draft, box, {
            settings,
            account,
            action,
            sleep,
            before,
            noteUnsent: () => noteUnsent(draft.messageId),
          }),
      });
    },
    /** Ends all connections; a later call opens them again. */
    async close(): Promise<void> {
      const open = [...accounts.values()];
      accounts.clear();
      await Promise.all(open.map(({ session }) => session.close()));
    },
  };
}

function createAccount(settings: ServerSettings, idleMs: number | undefined): Account {
  const account: Account = {
    settings,
    session: createImapSession(() => account.settings, idleMs),
    sending: createGate(1),
    filesCopies: true,
  };
  return account;
}

/** Signs in to both servers of an account. Throws ServiceError 422 naming the setting that is wrong. */
export async function tryServers(settings: ServerSettings, signal: AbortSignal): Promise<void> {
  const { imap, smtp } = settings;
  const session = createImapSession(() => settings);
  try {
    await attempt(imap, signal, () => session.use({ signal }, ({ client }) => client.noop()));
  } finally {
    await session.close();
  }
  if (smtp !== undefined) await attempt(smtp, signal, () => trySmtp({ ...settings, smtp }, signal));
}

async function attempt<T>(server: MailServer, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (signal.aborted) throw refuseSetting(server.setting, "names a server that did not answer in time.", error);
    if (!(error instanceof ServiceError) || error.status === 422) throw error;
    const { setting } = error.status === 401 ? { setting: error.options.extra?.setting } : server;
    throw refuseSetting(String(setting), `does not work: ${error.message}`, error);
  }
}

/** The parts needed to send from an account. */
interface Sending {
  readonly settings: ServerSettings;
  /** One send at a time, so that simultaneous ones cannot pass a limit together. */
  readonly account: Account;
  readonly action: Pick<Action, "level" | "idempotent">;
  readonly sleep: Sleep;
  readonly before: () => Promise<void>;
  /** Notes that the outgoing server certainly does not have the message. */
  readonly noteUnsent: () => void;
}

/** Sends a message and files it; that it could not be filed is no reason to say that it was not sent. */
async function sendMail(draft: Draft, box: ImapBox, o: Sending): Promise<SentMail> {
  const { connection, signal, now } = box.context;
  const leave = await o.account.sending.enter(signal);
  try {
    checkSendLimits(readMailSettings(connection.settings), await listSendTimes(box), now());
    await o.before();
    const { delivered, notDelivered, refusals } = await handOver(draft, signal, o);
    const filed = await fileCopy(draft, box, o).catch(toNote);
    const notes = [
      ...(refusals === undefined ? [] : [`The server refused some recipients: ${refusals}`]),
      ...(filed.note === undefined ? [] : [filed.note]),
    ];
    const note = notes.length === 0 ? {} : { note: notes.join(" ") };
    return { id: filed.id, folder: filed.folder, delivered, notDelivered, ...note };
  } finally {
    leave();
  }
}

async function handOver(draft: Draft, signal: AbortSignal, { settings, action, noteUnsent }: Sending) {
  let isHandedOver = false;
  const onHandOver = () => {
    isHandedOver = true;
  };
  try {
    return await sendBySmtp(settings, draft, { signal, action, onHandOver });
  } catch (error) {
    if (!isHandedOver) noteUnsent();
    throw error;
  }
}

interface Filed {
  readonly id: string | undefined;
  readonly folder: string;
  readonly note?: string;
}

function toNote(error: unknown): Filed {
  const why = error instanceof ServiceError ? error.message : "the mailbox did not take it.";
  return { id: undefined, folder: "Sent", note: `The message was sent, but its copy could not be filed: ${why}` };
}

/** Files a sent message, unless the server does so itself. */
async function fileCopy(draft: Draft, box: ImapBox, { account, sleep }: Sending): Promise<Filed> {
  const name = await box.findFolder("Sent", { mayBeMade: true });
  const bytes = await collectMessage(composeMessage(draft, true));
  for (const ms of account.filesCopies ? LOOKS_MS : []) {
    if (ms > 0) await sleep(ms, box.context.signal);
    const filed = await box.look((line) => findCopy(draft, line, name));
    if (filed.id !== undefined) return filed;
  }
  return box.change(async (line) => {
    const filed = await findCopy(draft, line, name);
    // Gmail files sent mail itself, however long it takes.
    if (filed.id !== undefined || line.client.capabilities.has("X-GM-EXT-1")) return filed;
    account.filesCopies = false;
    const folder = await makeFolder(line, name);
    return { id: await appendMessage(line, folder, { bytes, flags: ["\\Seen"], at: draft.date }), folder: folder.name };
  });
}

/** The copy of a sent message; without an id when there is none yet. */
async function findCopy({ messageId }: Draft, line: ImapLine, name: string): Promise<Filed> {
  const folder = pickFolder(await listImapFolders(line), name);
  if (folder === undefined) return { id: undefined, folder: name };
  return inFolder(line, folder, async ({ validity }) => {
    const uids = line.need(await line.client.search({ header: { "message-id": messageId } }, { uid: true }));
    const id = uids.map((uid) => writeImapId({ folder: folder.digest, validity, uid })).at(-1);
    return { id, folder: folder.name };
  });
}
