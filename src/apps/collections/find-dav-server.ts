import { Resolver } from "node:dns/promises";
import { domainToASCII } from "node:url";
import { isPublicHost } from "../../service/fetch/address-rules.ts";
import { refuseSetting } from "../../service/service-error.ts";
import type { Suggestion } from "../port/integration.ts";
import type { CollectionKind } from "./collection-store.ts";

/** Where servers are looked up. Tests replace it; no setting does. */
type DavDns = Pick<Resolver, "resolveSrv">;

interface DavProvider {
  readonly name: string;
  readonly domains: readonly string[];
  readonly caldav?: string;
  readonly carddav?: string;
  /** For the owner, in one or two sentences. */
  readonly note?: string;
  /** Of one that takes no password: its calendar among the apps that are known by name. */
  readonly calendarApp?: string;
}

const APP_PASSWORD = "It wants an app password, not the password of the account.";

/** Reviewed in November 2026 against the help pages of the providers. */
// biome-ignore format: a table, one provider a line
const PROVIDERS: readonly DavProvider[] = [
  { name: "iCloud", domains: ["icloud.com", "me.com", "mac.com"], caldav: "https://caldav.icloud.com", carddav: "https://contacts.icloud.com", note: APP_PASSWORD },
  { name: "Fastmail", domains: ["fastmail.com", "fastmail.fm"], caldav: "https://caldav.fastmail.com", carddav: "https://carddav.fastmail.com", note: APP_PASSWORD },
  { name: "GMX", domains: ["gmx.net", "gmx.de", "gmx.at", "gmx.ch"], caldav: "https://caldav.gmx.net", carddav: "https://carddav.gmx.net" },
  { name: "WEB.DE", domains: ["web.de"], caldav: "https://caldav.web.de", carddav: "https://carddav.web.de" },
  { name: "mailbox.org", domains: ["mailbox.org"], caldav: "https://dav.mailbox.org", carddav: "https://dav.mailbox.org" },
  { name: "Posteo", domains: ["posteo.de", "posteo.net"], caldav: "https://posteo.de:8443", carddav: "https://posteo.de:8443" },
  { name: "Google", domains: ["gmail.com", "googlemail.com"], calendarApp: "google-calendar" },
  { name: "Microsoft", domains: ["outlook.com", "hotmail.com", "live.com", "msn.com"], calendarApp: "outlook-calendar" },
];

/**
 * Suggests a server for a mail address: of a known provider, else what the SRV records of the domain name (RFC 6764), else
 * the domain itself. Sends no password. Throws ServiceError 422 for text that is no address.
 */
export async function findDavServer(
  address: string,
  { accountType }: Pick<CollectionKind, "accountType">,
  dns: DavDns = new Resolver({ timeout: 2_000, tries: 2 }),
): Promise<Suggestion> {
  const [, given] = /^[^\s@]+@([^\s@]+)$/.exec(address.trim()) ?? [];
  if (given === undefined) throw refuseSetting("address", "must be a mail address, for example me@example.org.");
  const domain = domainToASCII(given).toLowerCase();
  const provider = PROVIDERS.find(({ domains }) => domains.includes(domain));
  if (provider?.calendarApp !== undefined) return { values: {}, note: tellOtherWay(provider, accountType) };
  if (provider !== undefined) {
    const server = provider[accountType];
    const values: Record<string, string> = server === undefined ? {} : { server };
    return { values, note: `This is what ${provider.name} offers. ${provider.note ?? ""}`.trim() };
  }
  const records = isPublicHost(domain) ? await dns.resolveSrv(`_${accountType}s._tcp.${domain}`).catch(() => []) : [];
  const [best] = records.toSorted((a, b) => a.priority - b.priority || b.weight - a.weight);
  if (best !== undefined && isPublicHost(best.name)) {
    const server = `https://${best.name}${best.port === 443 ? "" : `:${best.port}`}`;
    return { values: { server }, note: `This is the server that ${domain} names.` };
  }
  const note = `${domain} names no server. Try the domain itself, or type the address that the help pages of its provider name.`;
  return { values: { server: `https://${domain}` }, note };
}

function tellOtherWay({ name, calendarApp = "" }: DavProvider, accountType: CollectionKind["accountType"]): string {
  return accountType === "caldav"
    ? `${name} takes no password here. On the machine of the service, “svc add ${calendarApp}” adds its calendar.`
    : `${name} takes no password here. On the machine of the service, “svc add openapi” or “svc add mcp” adds an app for its contacts.`;
}
