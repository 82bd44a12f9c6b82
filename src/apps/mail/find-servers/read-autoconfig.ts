import { DomUtils, parseDocument } from "htmlparser2";
import { isPublicHost } from "../../../service/fetch/address-rules.ts";

/** Settings of a mail connection as their form takes them. */
export type FoundSettings = Readonly<Record<string, string>>;

const TLS_PORTS = { imap: 993, smtp: 465 } as const;

/**
 * The settings that stand for a server; undefined for one that is not on the public internet.
 *
 * @param o.isTls false when encryption begins with STARTTLS
 */
export function describeServer(
  protocol: keyof typeof TLS_PORTS,
  { host, port, isTls }: { readonly host: string; readonly port: number; readonly isTls: boolean },
): FoundSettings | undefined {
  if (!/^[a-z\d.-]{1,253}$/i.test(host) || !isPublicHost(host) || !(port >= 1 && port <= 65_535)) return undefined;
  const hasTlsPort = port === TLS_PORTS[protocol];
  return {
    [`${protocol}Host`]: hasTlsPort ? host : `${host}:${port}`,
    ...(hasTlsPort !== isTls && { [`${protocol}Security`]: isTls ? "tls" : "starttls" }),
  };
}

/**
 * Reads a document of Mozilla's autoconfig scheme, version 1.1: its first encrypted IMAP server, and the first encrypted
 * SMTP server. Undefined when it has no such IMAP server.
 */
export function readAutoconfig(xml: string, address: string): FoundSettings | undefined {
  const [local = "", domain = ""] = address.split("@");
  const filled = xml
    .replaceAll("%EMAILADDRESS%", address)
    .replaceAll("%EMAILLOCALPART%", local)
    .replaceAll("%EMAILDOMAIN%", domain);
  const document = parseDocument(filled, { xmlMode: true });
  type Place = Parameters<typeof DomUtils.getElementsByTagName>[1];
  const list = (tag: string, place: Place) => DomUtils.getElementsByTagName(tag, place);
  const texts = (tag: string, place: Place) => list(tag, place).map((found) => DomUtils.textContent(found).trim());
  const find = (protocol: "imap" | "smtp") => {
    for (const element of list(protocol === "imap" ? "incomingServer" : "outgoingServer", document)) {
      const [host = "", port, socket = ""] = ["hostname", "port", "socketType"].map((tag) => texts(tag, element)[0]);
      if (element.attribs.type !== protocol || !/^(?:SSL|STARTTLS)$/.test(socket)) continue;
      const server = describeServer(protocol, { host, port: Number(port), isTls: socket === "SSL" });
      if (server !== undefined) return { server, element };
    }
    return undefined;
  };
  const imap = find("imap");
  if (imap === undefined) return undefined;
  const [user = address] = texts("username", imap.element);
  const ways = new Set(texts("authentication", imap.element));
  const [authUrl, tokenUrl, scopes = ""] = ["authURL", "tokenURL", "scope"].map((tag) => texts(tag, document)[0]);
  return {
    ...imap.server,
    ...find("smtp")?.server,
    ...(user !== address && { user }),
    ...(ways.has("OAuth2") && ways.size === 1 && { signIn: "oauth2" }),
    ...(ways.has("OAuth2") && authUrl !== undefined && tokenUrl !== undefined && { authUrl, tokenUrl, scopes }),
  };
}
