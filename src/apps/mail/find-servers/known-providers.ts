import type { SIGN_INS } from "../server/server-settings.ts";

/** A mail provider with its servers as it publishes them. */
export interface MailProvider {
  readonly name: string;
  /** Domains of its own addresses, in lower case. */
  readonly domains?: readonly string[];
  /** Servers that take mail for domains of its customers. */
  readonly mx?: RegExp;
  /** Values of the settings of these names. */
  readonly imapHost: string;
  readonly smtpHost: string;
  readonly signIn?: (typeof SIGN_INS)[number];
  /** For the owner, in one or two sentences. */
  readonly note?: string;
  /** Page on which app passwords are made, where it wants them instead of the password of the account. */
  readonly page?: string;
}

const GOOGLE = "Sign in at Google, or choose “Password or app password” and make an app password.";
const MICROSOFT = "It takes no passwords: you sign in at Microsoft.";
const WANTS_APP_PASSWORD = "It wants an app password, not the password of the account.";
const ALLOW_IMAP =
  "Its settings on the web have to allow IMAP first; with two-factor sign-in it wants an app password.";
const BRIDGE =
  "Proton Mail is reached by its Bridge only, which has to run on the machine of this service. Take user name and password from Bridge, and put the certificate that it exports below “Encryption”.";

/** Reviewed in November 2026 against the help pages of the providers. Of two that match, the first one counts. */
// biome-ignore format: a table, one provider a line
const PROVIDERS: readonly MailProvider[] = [
  { name: "Google", domains: ["gmail.com", "googlemail.com"], mx: /(?:^|\.)google(?:mail)?\.com$/, imapHost: "imap.gmail.com", smtpHost: "smtp.gmail.com", signIn: "google", note: GOOGLE, page: "https://myaccount.google.com/apppasswords" },
  { name: "Outlook.com", domains: ["outlook.com", "hotmail.com", "live.com", "msn.com"], mx: /\.olc\.protection\.outlook\.com$/, imapHost: "outlook.office365.com", smtpHost: "smtp-mail.outlook.com:587", signIn: "microsoft", note: MICROSOFT },
  { name: "Microsoft 365", mx: /\.(?:mail\.protection\.outlook\.com|mx\.microsoft)$/, imapHost: "outlook.office365.com", smtpHost: "smtp.office365.com:587", signIn: "microsoft", note: MICROSOFT },
  { name: "iCloud", domains: ["icloud.com", "me.com", "mac.com"], mx: /\.mail\.icloud\.com$/, imapHost: "imap.mail.me.com", smtpHost: "smtp.mail.me.com:587", note: WANTS_APP_PASSWORD, page: "https://account.apple.com" },
  { name: "Fastmail", domains: ["fastmail.com", "fastmail.fm"], mx: /\.messagingengine\.com$/, imapHost: "imap.fastmail.com", smtpHost: "smtp.fastmail.com", note: WANTS_APP_PASSWORD, page: "https://app.fastmail.com/settings/security" },
  { name: "Yahoo", domains: ["yahoo.com", "ymail.com", "rocketmail.com"], mx: /\.yahoodns\.net$/, imapHost: "imap.mail.yahoo.com", smtpHost: "smtp.mail.yahoo.com", note: WANTS_APP_PASSWORD, page: "https://login.yahoo.com/account/security" },
  { name: "GMX", domains: ["gmx.net", "gmx.de", "gmx.at", "gmx.ch"], imapHost: "imap.gmx.net", smtpHost: "mail.gmx.net", note: ALLOW_IMAP },
  { name: "GMX", domains: ["gmx.com"], imapHost: "imap.gmx.com", smtpHost: "mail.gmx.com", note: ALLOW_IMAP },
  { name: "WEB.DE", domains: ["web.de"], imapHost: "imap.web.de", smtpHost: "smtp.web.de:587", note: ALLOW_IMAP },
  { name: "mailbox.org", domains: ["mailbox.org"], mx: /\.mailbox\.org$/, imapHost: "imap.mailbox.org", smtpHost: "smtp.mailbox.org" },
  { name: "Posteo", domains: ["posteo.de", "posteo.net"], imapHost: "posteo.de", smtpHost: "posteo.de" },
  { name: "Zoho", domains: ["zohomail.com", "zoho.com"], imapHost: "imap.zoho.com", smtpHost: "smtp.zoho.com", note: ALLOW_IMAP },
  { name: "Zoho", domains: ["zohomail.eu"], imapHost: "imap.zoho.eu", smtpHost: "smtp.zoho.eu", note: ALLOW_IMAP },
  { name: "Zoho", mx: /(?:^|\.)zoho\.com$/, imapHost: "imappro.zoho.com", smtpHost: "smtppro.zoho.com", note: ALLOW_IMAP },
  { name: "Zoho", mx: /(?:^|\.)zoho\.eu$/, imapHost: "imappro.zoho.eu", smtpHost: "smtppro.zoho.eu", note: ALLOW_IMAP },
  { name: "Proton Mail Bridge", domains: ["proton.me", "protonmail.com", "pm.me"], mx: /(?:^|\.)protonmail\.ch$/, imapHost: "127.0.0.1:1143", smtpHost: "127.0.0.1:1025", note: BRIDGE },
];

/** The provider of a domain, of the server that takes its mail, or of one of its own servers without a port. */
export function findProvider(o: { readonly domain: string } | { readonly mx: string } | { readonly server: string }) {
  return PROVIDERS.find(({ domains, mx, imapHost, smtpHost }) => {
    if ("domain" in o) return domains?.includes(o.domain);
    if ("mx" in o) return mx?.test(o.mx);
    return [imapHost, smtpHost].some((host) => host.replace(/:587$/, "") === o.server);
  });
}
