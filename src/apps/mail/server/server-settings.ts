import { isIP } from "node:net";
import { z } from "zod";
import { type AllowedHosts, isOwnHost } from "../../../service/fetch/address-rules.ts";
import { refuseSetting } from "../../../service/service-error.ts";
import { readMailSettings } from "../mail-settings.ts";

/** How a connection is protected: TLS from its first byte, TLS begun by a command and required, or not at all. */
type Security = "tls" | "starttls" | "plain";

/** One server of an account. */
export interface MailServer {
  readonly protocol: "IMAP" | "SMTP";
  /** Setting that names it. */
  readonly setting: "imapHost" | "smtpHost";
  readonly host: string;
  readonly port: number;
  readonly security: Security;
}

/** Settings of a mailbox that lies on a server. */
export interface ServerSettings {
  readonly imap: MailServer;
  /** Undefined: the account can be read, not sent from. */
  readonly smtp: MailServer | undefined;
  readonly user: string;
  /** `token` is an OAuth2 access token that the owner pasted, that of any other but `password` one that the service renews. */
  readonly signIn: (typeof SIGN_INS)[number];
  /** Password or access token. */
  readonly secret: string;
  /** Certificates of the owner's own authority, PEM; undefined: the public ones. */
  readonly ca: string | undefined;
}

/** Values of the settings `imapSecurity` and `smtpSecurity`; the first is the default. */
export const SECURITIES = ["automatic", "tls", "starttls", "plain"] as const;
/** Values of the setting `signIn`; the first is the default. */
export const SIGN_INS = ["password", "google", "microsoft", "oauth2", "token"] as const;

const PROTOCOLS = {
  IMAP: { setting: "imapHost", security: "imapSecurity", tlsPort: 993, otherPort: 143 },
  SMTP: { setting: "smtpHost", security: "smtpSecurity", tlsPort: 465, otherPort: 587 },
} as const;

const line = z
  .string()
  .trim()
  .min(1)
  .regex(/^\P{Cc}+$/u);
const schema = z.looseObject({
  imapHost: line,
  smtpHost: line.optional(),
  imapSecurity: z.enum(SECURITIES).default("automatic"),
  smtpSecurity: z.enum(SECURITIES).default("automatic"),
  user: line.optional(),
  signIn: z.enum(SIGN_INS).default("password"),
  password: z.string().default(""),
  ca: z.string().optional(),
});

/** True when the settings name a mail server instead of a folder. */
export function isOnServer(settings: Readonly<Record<string, unknown>>): boolean {
  return typeof settings.imapHost === "string" && settings.imapHost !== "";
}

/**
 * Reads the settings of a mailbox on a server. Throws ServiceError 422 `integration_misconfigured` naming the setting that
 * is wrong. Without encryption only servers of this machine and of `allowed` are reached.
 */
export function readServerSettings(
  settings: Readonly<Record<string, unknown>>,
  allowed: AllowedHosts | undefined,
): ServerSettings {
  const { address } = readMailSettings(settings);
  const parsed = schema.safeParse(settings);
  if (!parsed.success) {
    const setting = String(parsed.error.issues[0]?.path[0] ?? "imapHost");
    throw refuseSetting(setting, "has a value that cannot be used.");
  }
  const { imapHost, smtpHost, user = address, signIn, password, ca, ...chosen } = parsed.data;
  if (password === "" && (signIn === "password" || signIn === "token"))
    throw refuseSetting("password", "is needed: the password of the account, an app password, or an access token.");
  return {
    imap: readServer("IMAP", imapHost, { security: chosen.imapSecurity, allowed }),
    smtp: smtpHost === undefined ? undefined : readServer("SMTP", smtpHost, { security: chosen.smtpSecurity, allowed }),
    user,
    signIn,
    secret: password,
    ca: ca === undefined || ca.trim() === "" ? undefined : readCertificates(ca),
  };
}

function readServer(
  protocol: MailServer["protocol"],
  text: string,
  o: { readonly security: (typeof SECURITIES)[number]; readonly allowed: AllowedHosts | undefined },
): MailServer {
  const { setting, security: securitySetting, tlsPort, otherPort } = PROTOCOLS[protocol];
  const { host, port: typedPort } = readHost(text, setting);
  const isTls = typedPort === undefined || typedPort === tlsPort;
  const security = o.security === "automatic" ? (isTls ? "tls" : "starttls") : o.security;
  const port = typedPort ?? (security === "tls" ? tlsPort : otherPort);
  if (security === "plain" && !mayBePlain(host, port, o.allowed))
    throw refuseSetting(
      securitySetting,
      `allows no encryption, which only a server of this machine may go without. Choose encryption, or start the service with --allow-host ${host}:${port}.`,
    );
  return { protocol, setting, host, port, security };
}

function readHost(text: string, setting: string): { host: string; port: number | undefined } {
  const [, bracketed, plain, port] = /^(?:\[([\da-f:.]+)\]|([^\s/:@?#[\]]+))(?::(\d{1,5}))?$/i.exec(text) ?? [];
  const host = bracketed ?? plain;
  const number = port === undefined ? undefined : Number(port);
  if (host === undefined || (number !== undefined && (number < 1 || number > 65_535)))
    throw refuseSetting(setting, "must be the name of a server, for example mail.example.org or mail.example.org:993.");
  return { host, port: number };
}

function mayBePlain(host: string, port: number, allowed: AllowedHosts | undefined): boolean {
  const url = URL.parse(`http://${isIP(host) === 6 ? `[${host}]` : host}:${port}`);
  return url !== null && isOwnHost(url, allowed);
}

/** Line breaks may be lost where it was pasted; they are put back. */
function readCertificates(text: string): string {
  const found = [...text.matchAll(/-----BEGIN CERTIFICATE-----([\sA-Za-z0-9+/=]+)-----END CERTIFICATE-----/g)];
  if (found.length === 0)
    throw refuseSetting("ca", "must be a certificate in the PEM format, from -----BEGIN CERTIFICATE----- on.");
  return found
    .map(([, body = ""]) => {
      const lines = body.replaceAll(/\s+/g, "").match(/.{1,64}/g) ?? [];
      return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n");
    })
    .join("");
}
