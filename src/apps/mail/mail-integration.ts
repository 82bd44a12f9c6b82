import type { AllowedHosts } from "../../service/fetch/address-rules.ts";
import { refuseSetting } from "../../service/service-error.ts";
import { makeOnce } from "../../shared/base/concurrency.ts";
import type { Integration, SettingField } from "../port/integration.ts";
import { deleteMessage, markMessage, moveMessage } from "./change-mail.ts";
import type { LookupNetwork } from "./find-servers/find-servers.ts";
import type { OpenMailBox } from "./mail-box.ts";
import { checkMaildir, mailFolder, readMailSettings, type SEND_DELAYS } from "./mail-settings.ts";
import { createMailWatch } from "./mail-watch.ts";
import { getAttachment, listMailFolders, readMessage, searchMail } from "./read-mail.ts";
import { createSendMessage, saveDraft } from "./send-message.ts";
import { findMailSignIn } from "./server/mail-sign-in.ts";
import { isOnServer, readServerSettings, type SECURITIES, type SIGN_INS } from "./server/server-settings.ts";

const SECURITY_LABELS: Readonly<Record<(typeof SECURITIES)[number], string>> = {
  automatic: "By the port",
  tls: "TLS",
  starttls: "STARTTLS",
  plain: "None (only on this machine)",
};
const SIGN_IN_LABELS: Readonly<Record<(typeof SIGN_INS)[number], string>> = {
  password: "Password or app password",
  google: "Sign in at Google",
  microsoft: "Sign in at Microsoft",
  oauth2: "Sign in at another provider",
  token: "OAuth2 access token, until it ends",
};

const SEND_DELAY_LABELS: Readonly<Record<(typeof SEND_DELAYS)[number], string>> = {
  default: "As the service is set",
  0: "None: it is sent at once",
  10: "10 seconds",
  20: "20 seconds",
  30: "30 seconds",
  60: "60 seconds",
};

const choose = (labels: Readonly<Record<string, string>>) =>
  Object.entries(labels).map(([value, label]) => ({ value, label }));

/** An optional field. */
function field(
  kind: SettingField["kind"],
  name: string,
  label: string,
  more: Pick<SettingField, "group" | "help" | "options" | "with">,
): SettingField {
  return { name, label, kind, optional: true, ...more };
}

const NAMES = "Your name and user name";
const SENDING = "Sending";
const ENCRYPTION = "Encryption";
const OAUTH2 = "Another sign-in provider (OAuth2)";
const FOLDER = "A folder instead of servers";

const settingsForm: readonly SettingField[] = [
  {
    name: "address",
    label: "Mail address",
    kind: "email",
    help: "The mailbox's own address: messages are sent from it.",
  },
  field("text", "imapHost", "Incoming server (IMAP)", {
    help: "For example imap.example.org, or with another port than 993: imap.example.org:143.",
  }),
  field("text", "smtpHost", "Outgoing server (SMTP)", {
    help: "For example smtp.example.org (port 465) or smtp.example.org:587. Without it nothing can be sent.",
  }),
  field("choice", "signIn", "Sign in with", { options: choose(SIGN_IN_LABELS) }),
  field("secret", "password", "Password or access token", {
    help: "Many providers want an app password here, made in the settings of the account.",
    with: { setting: "signIn", values: ["password", "token"] },
  }),
  field("text", "name", "Your name", { group: NAMES, help: "Stands beside the address in sent mail." }),
  field("text", "user", "User name", { group: NAMES, help: "The mail address when it is empty." }),
  field("choice", "imapSecurity", "Encryption to the incoming server", {
    group: ENCRYPTION,
    options: choose(SECURITY_LABELS),
  }),
  field("choice", "smtpSecurity", "Encryption to the outgoing server", {
    group: ENCRYPTION,
    options: choose(SECURITY_LABELS),
  }),
  field("lines", "ca", "Certificate of your own authority", {
    group: ENCRYPTION,
    help: "In the PEM format, for servers whose certificate no public authority vouches for.",
  }),
  field("choice", "sendDelay", "Time to stop a mail after its approval", {
    group: SENDING,
    options: choose(SEND_DELAY_LABELS),
    help: "Until it is over, an approved mail can be stopped in the execution log.",
  }),
  field("text", "issuer", "Issuer", {
    group: OAUTH2,
    with: { setting: "signIn", values: ["oauth2"] },
    help: "For example https://login.example.org. The service asks it for the addresses; where it does not name them, fill in the next two.",
  }),
  field("text", "authUrl", "Address of the sign-in page", { group: OAUTH2 }),
  field("text", "tokenUrl", "Address for tokens", { group: OAUTH2 }),
  field("text", "scopes", "Scopes", {
    group: OAUTH2,
    help: "What its documents name for IMAP and SMTP, separated by spaces; offline_access where it has to be asked for a sign-in that lasts.",
  }),
  field("folder", "maildir", "Mailbox folder", {
    group: FOLDER,
    help: "A folder of this machine in the Maildir format, the one that holds cur, new and tmp.",
  }),
];

/**
 * Mail: an account on an IMAP and an SMTP server, or a local mailbox in Maildir++ format. Settings: `address` (own
 * address), optional `name`, `aliases`, `sendPerMinute`, `sendPerDay`, `sendDelay`; and either `maildir` (path) or `imapHost` with the
 * settings of `readServerSettings`. The code of either is loaded by the first call that needs it.
 *
 * @param o.allowed servers that may be reached without encryption although they are on another machine
 * @param o.sendDelay seconds between the yes and the sending for accounts that do not say otherwise; default 0
 * @param o.lookup where the servers of an address are looked up, for tests
 * @param o.sleep waits until a server may have filed a copy of what was sent; default: by the clock
 */
export function createMailIntegration(
  o: {
    readonly allowed?: AllowedHosts;
    readonly idleMs?: number;
    readonly sendDelay?: number;
    readonly lookup?: Partial<LookupNetwork>;
    readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  } = {},
): Integration {
  const getParser = makeOnce(async () => (await import("./parsing/mail-parser.ts")).createMailParser());
  const getAccounts = makeOnce(async () => {
    const { createMailAccounts } = await import("./server/mail-accounts.ts");
    return createMailAccounts(await getParser(), o);
  });
  const open: OpenMailBox = async (context, action) => {
    const { settings } = context.connection;
    if (isOnServer(settings))
      return (await getAccounts()).open(readServerSettings(settings, o.allowed), context, action);
    const { MaildirBox } = await import("./maildir-box.ts");
    return new MaildirBox(context, await getParser());
  };
  const actions = [
    searchMail,
    listMailFolders,
    readMessage,
    getAttachment,
    createSendMessage(o.sendDelay ?? 0),
    saveDraft,
    markMessage,
    moveMessage,
    deleteMessage,
  ];
  return {
    slug: "mail",
    name: "Mail",
    description:
      "A mailbox on a mail server (IMAP and SMTP), or in a folder of the machine that runs the service, in the Maildir format.",
    category: "mail",
    scopes: ["mail.read", "mail.send", "mail.modify"],
    actions: actions.map((action) => action(open)),
    watch: createMailWatch(open),
    settingsForm,
    settingsHelp: "Fill in the servers and a way to sign in, or else only the folder at the end.",
    firstStep: {
      setting: "address",
      async suggest(address) {
        const { findServers } = await import("./find-servers/find-servers.ts");
        return findServers(readMailSettings({ address }).address, o.lookup);
      },
    },
    async checkSettings(settings) {
      readMailSettings(settings);
      if (!isOnServer(settings) && settings.maildir === undefined)
        throw refuseSetting("imapHost", "is needed, or else a mailbox folder.");
      if (!isOnServer(settings)) return mailFolder.check(settings);
      if (settings.maildir !== undefined)
        throw refuseSetting(
          "maildir",
          "must be empty when there is an incoming server: a mailbox is one or the other.",
        );
      readServerSettings(settings, o.allowed);
      findMailSignIn(settings, o.allowed);
    },
    findSignIn: (settings) => (isOnServer(settings) ? findMailSignIn(settings, o.allowed) : undefined),
    async testSettings(settings, signal) {
      if (!isOnServer(settings)) return checkMaildir(settings);
      const { tryServers } = await import("./server/mail-accounts.ts");
      await tryServers(readServerSettings(settings, o.allowed), signal);
    },
    async close() {
      const [accounts, parser] = await Promise.all([getAccounts.peek(), getParser.peek()]);
      await Promise.all([accounts?.close(), parser?.close()]);
    },
  };
}
