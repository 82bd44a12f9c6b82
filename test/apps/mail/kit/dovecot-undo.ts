import type { ImapFlow } from "imapflow";
import { createMailIntegration } from "../../../../src/apps/mail/mail-integration.ts";
import { createKeeper, createRunner } from "../../run-action.ts";
import type { UndoSubject } from "./check-undo.ts";
import { createImapHand } from "./imap-hand.ts";
import { createAccount } from "./mail-accounts.ts";
import { openProxy, type TestProxy } from "./open-proxy.ts";
import { emptyMailbox, startDovecot, type TestDovecot } from "./start-dovecot.ts";
import { startSmtp, type TestSmtp } from "./start-smtp.ts";

/** Ana's mailbox on a server, through a cable that can be cut. */
export interface ServerSubject extends UndoSubject {
  readonly dovecot: TestDovecot;
  readonly smtp: TestSmtp;
  readonly line: TestProxy;
  /** A keeper of a process that knows nothing of what was sent before; `signal` aborts its calls. */
  restart(signal?: AbortSignal): UndoSubject["keeper"];
  close(): Promise<void>;
}

/** Starts the servers. `capabilities` as in {@link startDovecot}. */
export async function openServerSubject(o: { readonly capabilities?: string } = {}): Promise<ServerSubject> {
  const dovecot = await startDovecot(o);
  const smtp = await startSmtp(dovecot);
  const line = await openProxy(dovecot.port);
  const settings = {
    ...createAccount("ana", { dovecot, smtp }),
    ...{ imapHost: `127.0.0.1:${line.port}`, imapSecurity: "plain" },
    ...{ sendPerMinute: 1000, sendPerDay: 100_000 },
  };
  const hand = await stayConnected(dovecot);
  // No server files copies of what is sent here.
  const create = () => createMailIntegration({ sleep: async () => {} });
  const opened = [create()];
  const [integration = create()] = opened;
  return {
    dovecot,
    smtp,
    line,
    other: createImapHand(hand, "ana"),
    run: createRunner(integration, { settings, now: Date.now }),
    keeper: createKeeper(integration, { settings, now: Date.now }),
    restart(signal) {
      const fresh = create();
      opened.push(fresh);
      return createKeeper(fresh, { settings, now: Date.now, ...(signal && { signal }) });
    },
    async close() {
      for (const one of opened) await one.close?.();
      await hand.close();
      await line.close();
      await smtp.close();
      await dovecot.close();
    },
  };
}

/** The server as Ana's other program uses it that stays connected: signing in takes longest. */
async function stayConnected(dovecot: TestDovecot): Promise<TestDovecot> {
  const opened = Promise.withResolvers<ImapFlow>();
  const closed = Promise.withResolvers<void>();
  const session = dovecot.asClient("ana", async (client) => {
    opened.resolve(client);
    await closed.promise;
  });
  session.catch(opened.reject);
  const client = await opened.promise;
  const asClient: TestDovecot["asClient"] = async (_user, work) => {
    try {
      return await work(client);
    } finally {
      if (client.mailbox !== false) await client.mailboxClose();
    }
  };
  return {
    ...dovecot,
    asClient,
    deliver: (user, message, { folder = "INBOX", flags = [], at } = {}) =>
      asClient(user, async () => void (await client.append(folder, message, flags, at))),
    empty: (user) => asClient(user, emptyMailbox),
    async close() {
      closed.resolve();
      await session;
    },
  };
}
