import { createHash } from "node:crypto";
import { refuseSetting } from "../../../files/folder-error.ts";
import { createGate, type Gate } from "../../../files/gate.ts";
import { ServiceError } from "../../../service-error.ts";
import type { OpenMailBox } from "../mail-box.ts";
import type { MailParser } from "../parsing/mail-parser.ts";
import { ImapBox } from "./imap-box.ts";
import { createImapSession, type ImapSession } from "./imap-session.ts";
import { sendMail } from "./send-mail.ts";
import type { MailServer, ServerSettings } from "./server-settings.ts";
import { openSmtpLine } from "./smtp-line.ts";

/** The accounts on mail servers that are in use, each with one connection. */
export interface MailAccounts {
  open(settings: ServerSettings, ...call: Parameters<OpenMailBox>): ImapBox;
  /** Ends all connections; a later call opens them again. */
  close(): Promise<void>;
}

interface Account {
  /** With the access token that holds now. */
  settings: ServerSettings;
  readonly session: ImapSession;
  readonly sending: Gate;
}

/** Creates the accounts; connects nowhere yet. */
export function createMailAccounts(parser: MailParser, o: { readonly idleMs?: number } = {}): MailAccounts {
  const accounts = new Map<string, Account>();
  return {
    open(settings, context, action) {
      // Other settings are another account; the connection of the old ones is closed when it has been idle. An access
      // token that was renewed is not another account.
      const { secret, ...rest } = settings;
      const facts = settings.signIn === "oauth2" ? rest : settings;
      const key = createHash("sha256").update(JSON.stringify(facts)).digest("hex");
      const account = accounts.get(key) ?? createAccount(settings, o.idleMs);
      account.settings = settings;
      accounts.set(key, account);
      const { session, sending } = account;
      return new ImapBox(context, action, {
        settings,
        session,
        parser,
        send: (draft, box) => sendMail(draft, box, { settings, gate: sending, action }),
      });
    },
    async close() {
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
  if (smtp === undefined) return;
  const line = await attempt(smtp, signal, () => openSmtpLine({ ...settings, smtp }, signal));
  line.end();
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
