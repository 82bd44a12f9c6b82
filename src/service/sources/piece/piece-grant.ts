import type { OAuthClient, OAuthGrant, OAuthSignIn } from "../../integrations/integration.ts";
import { ServiceError } from "../../service-error.ts";
import type { PieceOAuth } from "./piece-description.ts";
import { TOKEN_DATA } from "./plan-auth.ts";
import { type PieceParts, readNetwork } from "./run-piece.ts";

type Settings = Readonly<Record<string, unknown>>;

/**
 * The renewed sign-in of a piece's connection; undefined when it signs in otherwise, or with an access token that was pasted.
 * Throws ServiceError 422 `integration_misconfigured` naming the setting that is missing.
 */
export function findPieceGrant(parts: PieceParts, settings: Settings): OAuthGrant | undefined {
  const { oauth } = parts.definition.auth;
  if (oauth === undefined) return undefined;
  const refreshToken = readText(settings, "refresh_token");
  if (refreshToken === undefined) {
    if (readText(settings, "access_token") !== undefined) return undefined;
    throw refuse(parts, "refresh_token", "needs a refresh token, or an access token.");
  }
  return {
    ...readPieceClient(parts, oauth, settings),
    refreshToken,
    setting: "refresh_token",
    useToken: ({ text, data }) => ({ ...settings, access_token: text, [TOKEN_DATA]: data }),
  };
}

/** The page on which the owner signs in. Throws like {@link findPieceGrant}. */
export function findPieceSignIn(parts: PieceParts, settings: Settings): OAuthSignIn | undefined {
  const { oauth } = parts.definition.auth;
  if (oauth === undefined || oauth.authUrl === "") return undefined;
  const client = readPieceClient(parts, oauth, settings);
  const url = fillAddress(parts, oauth.authUrl, settings);
  const { scopes, prompt, extra, pkce } = oauth;
  const params = {
    ...(scopes.length > 0 && { scope: scopes.join(" ") }),
    ...(prompt !== "" && prompt !== "omit" && { prompt }),
    ...extra,
  };
  for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value);
  const held = { refreshToken: "refresh_token", accessToken: "access_token" };
  return { ...client, authUrl: url.href, pkce, settings: held };
}

/** The owner's app at the piece's provider. Throws like {@link findPieceGrant}. */
function readPieceClient(parts: PieceParts, oauth: PieceOAuth, settings: Settings): OAuthClient {
  const clientId = readText(settings, "client_id");
  if (clientId === undefined) throw refuse(parts, "client_id", "needs the client id of your app.");
  const url = fillAddress(parts, oauth.tokenUrl, settings);
  const other = parts.definition.hosts[url.hostname];
  const target = other === undefined ? url : new URL(url.pathname + url.search, other);
  return {
    tokenUrl: target.href,
    clientId,
    clientSecret: readText(settings, "client_secret"),
    clientIn: oauth.clientIn,
    isPrivate: readNetwork(parts.definition).reach === "any" || other !== undefined,
  };
}

/** An address of the piece with the fields of its form in it. Throws ServiceError 422 when it is no address then. */
function fillAddress(parts: PieceParts, address: string, settings: Settings): URL {
  const filled = address.replaceAll(/\{(\w+)\}/g, (_all, name: string) => readText(settings, name) ?? "");
  const url = URL.parse(filled);
  if (url?.protocol === "https:") return url;
  throw refuse(parts, "client_id", "cannot make an address for its sign-in of these settings.");
}

function readText(settings: Settings, name: string): string | undefined {
  const value = settings[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

function refuse({ source }: PieceParts, setting: string, what: string): ServiceError {
  return new ServiceError(422, "integration_misconfigured", `${source.name} ${what}`, {
    type: "configuration",
    hint: "The owner gives it in the dashboard: Connections, Reconnect.",
    extra: { setting },
  });
}
