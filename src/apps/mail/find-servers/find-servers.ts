import { Resolver } from "node:dns/promises";
import { domainToASCII } from "node:url";
import { isPublicHost } from "../../../service/fetch/address-rules.ts";
import { type Network, SYSTEM_NETWORK } from "../../../service/fetch/guarded-connector.ts";
import { FETCH_LIMITS, openRoutes, openUrl } from "../../../service/fetch/open-url.ts";
import { readText } from "../../../service/fetch/read-body.ts";
import { stopOnAbort } from "../../../shared/base/concurrency.ts";
import type { Suggestion } from "../../port/integration.ts";
import { findProvider, type MailProvider } from "./known-providers.ts";
import { describeServer, type FoundSettings, readAutoconfig } from "./read-autoconfig.ts";

/** Longest look-up in milliseconds. */
const LIMIT_MS = 6_000;
/** Longest document, bytes. */
const MAX_CONFIG = 64 * 1024;

/** Where servers are looked up. Tests replace it; no setting does. */
export interface LookupNetwork {
  readonly network: Network;
  readonly dns: Pick<Resolver, "resolveSrv" | "resolveMx" | "cancel">;
  readonly limitMs: number;
}

/**
 * Suggests settings for a mail address: of a known provider, else from the autoconfig document or the SRV records of the
 * domain, else of the known provider that its MX records name. Asks nobody but the domain, and sends no password. Where
 * nothing is found the note says so.
 */
export async function findServers(address: string, o: Partial<LookupNetwork> = {}): Promise<Suggestion> {
  const domain = domainToASCII(address.slice(address.lastIndexOf("@") + 1)).toLowerCase();
  const known = findProvider({ domain });
  const found = known === undefined && isPublicHost(domain) ? await lookUp(address, domain, o) : {};
  const { provider = known, settings } = found;
  if (provider !== undefined) {
    const { name, imapHost, smtpHost, signIn, note = "", page } = provider;
    const values = { imapHost, smtpHost, ...(signIn !== undefined && { signIn }) };
    return { values, note: `These are the servers of ${name}. ${note}`.trim(), ...(page !== undefined && { page }) };
  }
  if (settings !== undefined) return { values: settings, note: `These are the servers that ${domain} names.` };
  const note = `No servers were found for ${domain}. Type them: the help pages of its provider name them as IMAP and SMTP servers.`;
  return { values: {}, note };
}

/** Everything is asked at once; what has not come when the time is over does not count. */
async function lookUp(
  address: string,
  domain: string,
  {
    network = SYSTEM_NETWORK,
    dns = new Resolver({ timeout: 2_000, tries: 2 }),
    limitMs = LIMIT_MS,
  }: Partial<LookupNetwork>,
): Promise<{ readonly provider?: MailProvider | undefined; readonly settings?: FoundSettings }> {
  const signal = AbortSignal.timeout(limitMs);
  const within = <T>(work: Promise<T>) => stopOnAbort(work, signal).catch(() => undefined);
  const config = within(findByAutoconfig(address, domain, { network, signal }));
  const records = within(findByRecords(domain, dns));
  const exchanges = within(dns.resolveMx(domain));
  try {
    const found = (await config) ?? (await records);
    if (found !== undefined) return { provider: findProvider({ server: found.imapHost ?? "" }), settings: found };
    const [first] = ((await exchanges) ?? []).toSorted((a, b) => a.priority - b.priority);
    return { provider: findProvider({ mx: first?.exchange.toLowerCase() ?? "" }) };
  } finally {
    dns.cancel();
  }
}

/** What the domain publishes for mail programs, over https only. Rejects where there is nothing that can be used. */
async function findByAutoconfig(
  address: string,
  domain: string,
  { network, signal }: { network: Network; signal: AbortSignal },
): Promise<FoundSettings> {
  const routes = openRoutes(network, FETCH_LIMITS);
  const read = async (place: string) => {
    const o = { routes, allowed: { has: () => false }, mayTrust: false, signal };
    const { body } = await openUrl(new URL(`https://${place}`), o);
    const found = readAutoconfig((await readText(body, MAX_CONFIG)) ?? "", address);
    return found ?? Promise.reject(new Error("No server can be used."));
  };
  try {
    return await Promise.any([
      read(`autoconfig.${domain}/mail/config-v1.1.xml?emailaddress=${encodeURIComponent(address)}`),
      read(`${domain}/.well-known/autoconfig/mail/config-v1.1.xml`),
    ]);
  } finally {
    await routes.close();
  }
}

/** SRV records (RFC 6186, RFC 8314): encryption from the first byte before STARTTLS. */
async function findByRecords(domain: string, dns: LookupNetwork["dns"]): Promise<FoundSettings | undefined> {
  const look = async (protocol: "imap" | "smtp", service: string) => {
    const records = await dns.resolveSrv(`_${service}._tcp.${domain}`).catch(() => []);
    const [best] = records.toSorted((a, b) => a.priority - b.priority || b.weight - a.weight);
    const isTls = service.endsWith("s");
    return best === undefined ? undefined : describeServer(protocol, { host: best.name, port: best.port, isTls });
  };
  const [imaps, imap, submissions, submission] = await Promise.all([
    look("imap", "imaps"),
    look("imap", "imap"),
    look("smtp", "submissions"),
    look("smtp", "submission"),
  ]);
  const incoming = imaps ?? imap;
  return incoming === undefined ? undefined : { ...incoming, ...(submissions ?? submission) };
}
