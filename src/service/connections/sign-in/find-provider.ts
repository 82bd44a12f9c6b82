import { keepScopes } from "../../../apps/port/bearer-challenge.ts";
import type { SignInPlan } from "../../../apps/port/integration.ts";
import { parseJson } from "../../../shared/base/json.ts";
import { cleanText } from "../../../shared/base/text.ts";
import { isPublicHost } from "../../fetch/address-rules.ts";
import { ServiceError } from "../../service-error.ts";
import { createProviderFetch, type ProviderFetch, ProviderFetchError } from "./provider-fetch.ts";
import { type KnownProvider, type ProviderServer, serverSchema } from "./sign-in-record.ts";

const MESSAGE_MAX = 500;
/** For all metadata of a provider together, in milliseconds. */
const LOOK_MS = 20_000;

/** A provider with everything that was looked up about it, before it is known who we are to it. */
export type FoundProvider = Omit<KnownProvider, "client"> & {
  /** Scopes that the metadata of the resource name. */
  readonly resourceScopes: readonly string[];
};

/**
 * Finds the addresses of a provider: what the plan says, else the metadata of the resource (RFC 9728) and of its issuer
 * (RFC 8414, OpenID Connect Discovery), else those of its origin, else what servers of the first MCP revisions have.
 *
 * @throws ServiceError 422 `integration_misconfigured`; Rejects with `ProviderFetchError` when the provider cannot be asked.
 */
export async function findProvider(plan: SignInPlan, app: string): Promise<FoundProvider> {
  const { provider, isPrivate } = plan;
  const fetch = createProviderFetch(isPrivate, AbortSignal.timeout(LOOK_MS));
  const found = provider.resource === undefined ? undefined : await findResource(fetch, provider.resource, provider);
  const first = provider.resource === undefined ? undefined : guessServer(provider.resource);
  const issuer = provider.issuer ?? found?.issuer ?? first?.issuer;
  const looked = isComplete(plan) || issuer === undefined ? undefined : await findServer(fetch, issuer);
  const server = withGiven(looked ?? (issuer === first?.issuer ? first : undefined), plan);
  const hasIssuer = looked !== undefined || (provider.issuer !== undefined && server?.issuer === provider.issuer);
  if (server === undefined) throw refuse(app, `${issuer ?? "it"} says nothing of how to sign in`);
  checkServer(server, plan, app);
  const page = server.authorization_endpoint ?? server.device_authorization_endpoint ?? server.token_endpoint;
  return {
    name: provider.name ?? URL.parse(page ?? "")?.host ?? app,
    server,
    hasIssuer,
    isPrivate,
    resourceScopes: found?.scopes ?? [],
    ...(provider.resource !== undefined && { resource: found?.resource ?? provider.resource }),
  };
}

/** True when nothing has to be looked up. */
function isComplete({ provider: { authUrl, tokenUrl, deviceUrl }, flow }: SignInPlan): boolean {
  const page = flow === "client" ? tokenUrl : flow === "device" ? deviceUrl : authUrl;
  return tokenUrl !== undefined && page !== undefined;
}

/** What the plan says goes before what was looked up. */
function withGiven(server: ProviderServer | undefined, { provider }: SignInPlan): ProviderServer | undefined {
  const { issuer, authUrl, tokenUrl, deviceUrl, revokeUrl } = provider;
  const own = server?.issuer ?? issuer ?? (tokenUrl === undefined ? undefined : new URL(tokenUrl).origin);
  if (own === undefined) return undefined;
  return {
    ...server,
    issuer: own,
    ...(authUrl !== undefined && { authorization_endpoint: authUrl }),
    ...(tokenUrl !== undefined && { token_endpoint: tokenUrl }),
    ...(deviceUrl !== undefined && { device_authorization_endpoint: deviceUrl }),
    ...(revokeUrl !== undefined && { revocation_endpoint: revokeUrl }),
  };
}

interface FoundResource {
  /** As the metadata spell it. */
  readonly resource: string;
  readonly issuer: string | undefined;
  readonly scopes: readonly string[];
}

/** Metadata of a protected resource: where its 401 says, else at the well-known places of its origin. */
async function findResource(
  fetch: ProviderFetch,
  resource: string,
  { resourceMetadata }: SignInPlan["provider"],
): Promise<FoundResource | undefined> {
  const { origin, pathname } = new URL(resource);
  const wellKnown = `${origin}/.well-known/oauth-protected-resource`;
  const own = URL.parse(resourceMetadata ?? "")?.origin === origin ? [resourceMetadata ?? ""] : [];
  for (const url of new Set([...own, `${wellKnown}${pathname === "/" ? "" : pathname}`, wellKnown])) {
    const found = await readDocument(fetch, url);
    if (found === undefined) continue;
    const named = typeof found.resource === "string" ? found.resource : "";
    if (!covers(named, resource)) throw refuse(origin, `it says that its sign-in is for ${named || "nothing"}`);
    const issuers = Array.isArray(found.authorization_servers) ? found.authorization_servers : [];
    const scopes = Array.isArray(found.scopes_supported) ? found.scopes_supported : [];
    const isText = (value: unknown) => typeof value === "string";
    return { resource: named, issuer: issuers.find(isText), scopes: keepScopes(scopes) };
  }
  return undefined;
}

/** True when metadata for `named` may speak for `resource`: the same address, or one above it. */
function covers(named: string, resource: string): boolean {
  const [above, own] = [URL.parse(named), new URL(resource)];
  if (above === null || above.origin !== own.origin) return false;
  const path = above.pathname.replace(/\/+$/, "");
  return own.pathname === above.pathname || `${own.pathname}/`.startsWith(`${path}/`);
}

/** Metadata of an issuer, at the first place that has them. Undefined when there are none. */
async function findServer(fetch: ProviderFetch, issuer: string): Promise<ProviderServer | undefined> {
  const { origin, pathname, search, hash } = new URL(issuer);
  if (search + hash !== "") throw refuse(issuer, "its name is not an address without a query (RFC 8414)");
  const path = pathname.replace(/\/+$/, "");
  const places = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ];
  for (const url of new Set(places)) {
    const found = await readDocument(fetch, url);
    if (found === undefined) continue;
    const server = serverSchema.safeParse(found);
    if (!server.success || !isSameIssuer(server.data.issuer, issuer)) {
      throw refuse(new URL(issuer).host, "its metadata are those of another issuer");
    }
    return server.data;
  }
  return undefined;
}

/** A slash at the end of the host makes no difference. */
function isSameIssuer(said: string, expected: string): boolean {
  return said === expected || URL.parse(said)?.href === URL.parse(expected)?.href;
}

/** Servers of the first revisions of MCP sign in at their own origin, at fixed places where it has no metadata. */
function guessServer(resource: string): ProviderServer {
  const { origin } = new URL(resource);
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
  };
}

/** Undefined when there is no such document. */
async function readDocument(fetch: ProviderFetch, url: string): Promise<Record<string, unknown> | undefined> {
  const answer = await fetch(url, { method: "GET", headers: { accept: "application/json" } }).catch((error) => {
    // Some servers redirect what they do not have to a page for people.
    if (error instanceof ProviderFetchError && error.failure.kind === "garbage") return undefined;
    throw error;
  });
  if (answer?.status !== 200) return undefined;
  const value = parseJson(await answer.text());
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
}

/** Refuses a provider that cannot do what the plan needs, or would send us to places that are not its own. */
function checkServer(server: ProviderServer, { flow, isPrivate }: SignInPlan, app: string): void {
  const page = {
    code: server.authorization_endpoint,
    client: server.token_endpoint,
    device: server.device_authorization_endpoint,
  }[flow];
  if (page === undefined || server.token_endpoint === undefined) {
    throw refuse(app, "it offers no sign-in of this kind");
  }
  const methods = server.code_challenge_methods_supported;
  if (flow === "code" && methods !== undefined && !methods.includes("S256")) {
    throw refuse(app, "it knows no safe form of PKCE (S256)");
  }
  for (const address of [page, server.token_endpoint, server.registration_endpoint, server.revocation_endpoint]) {
    const url = address === undefined ? undefined : new URL(address);
    if (url === undefined || (isPrivate && url.username === "")) continue;
    if (url.protocol !== "https:" || url.username !== "") throw refuse(app, `${url.origin} is no plain https address`);
    if (!isPublicHost(url.hostname)) throw refuse(app, `${url.origin} is not public`);
  }
}

function refuse(who: string, why: string): ServiceError {
  const message = cleanText(`The sign-in provider of ${who} cannot be used: ${why}.`, MESSAGE_MAX) ?? why;
  return new ServiceError(422, "integration_misconfigured", message, {
    type: "configuration",
    hint: "Check the address of the app, or name the addresses of its sign-in yourself.",
  });
}
