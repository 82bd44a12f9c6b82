import type { ClientMetadata, errors as OidcErrors } from "oidc-provider";
import { OAUTH_SCOPES } from "../../shared/wire/mcp.ts";
import { SIGNING_ALGORITHM } from "./access-token.ts";

/** Longest redirect address, and how many a client may have. */
const MAX_REDIRECT_LENGTH = 2_048;
const MAX_REDIRECTS = 10;
const MAX_NAME_LENGTH = 200;
const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Members that would make the service fetch an address of the client's choice. */
const FETCHED = ["jwks_uri", "sector_identifier_uri", "request_uris", "backchannel_logout_uri"] as const;

/** Every client is a public one. */
const SECRETS = ["client_secret", "client_secret_expires_at", "token_endpoint_auth_signing_alg"] as const;
const GRANTS = new Set(["authorization_code", "refresh_token"]);

/**
 * Our rules for clients that register themselves, on top of the library's own: plain http leads only to loopback, and
 * nothing in the metadata makes this service call out. Flows and scopes that do not exist here are dropped, not refused
 * (RFC 7591, 2): installed clients ask for every flow they know.
 */
export function applyClientRules(metadata: ClientMetadata, errors: typeof OidcErrors): void {
  const { redirect_uris: redirects, client_name: name } = metadata;
  const refuse = (message: string) => new errors.InvalidClientMetadata(message);
  if (name !== undefined && (typeof name !== "string" || name.length > MAX_NAME_LENGTH)) {
    throw refuse(`client_name must be a text of at most ${MAX_NAME_LENGTH} characters`);
  }
  if (Array.isArray(redirects)) {
    if (redirects.length > MAX_REDIRECTS)
      throw refuse(`redirect_uris must not have more than ${MAX_REDIRECTS} members`);
    for (const uri of redirects) {
      const problem = findProblem(uri);
      if (problem !== undefined) throw refuse(`redirect_uris ${problem}`);
    }
  }
  if (Array.isArray(metadata.grant_types)) {
    const grants = metadata.grant_types.filter((grant) => GRANTS.has(grant));
    if (!grants.includes("authorization_code")) throw refuse("grant_types must contain authorization_code");
    metadata.grant_types = grants;
  }
  if (typeof metadata.scope === "string") {
    metadata.scope = metadata.scope.split(" ").filter(isScope).join(" ") || OAUTH_SCOPES.join(" ");
  }
  settle(metadata);
}

/** Fixed client metadata. */
function settle(metadata: ClientMetadata): void {
  for (const member of [...FETCHED, ...SECRETS]) delete metadata[member];
  metadata.token_endpoint_auth_method = "none";
  metadata.id_token_signed_response_alg = SIGNING_ALGORITHM;
  // For the library this lets a loopback port differ from the registered one (RFC 8252, 7.3).
  metadata.application_type = "native";
}

function isScope(text: string): boolean {
  return OAUTH_SCOPES.some((scope) => scope === text);
}

function findProblem(uri: unknown): string | undefined {
  if (typeof uri !== "string" || !URL.canParse(uri)) return "must only contain valid uris";
  if (uri.length > MAX_REDIRECT_LENGTH) return `must not be longer than ${MAX_REDIRECT_LENGTH} characters`;
  const url = new URL(uri);
  if (url.username !== "" || url.password !== "") return "must not contain a user name or password";
  if (url.protocol !== "http:" || LOOPBACK.has(url.hostname)) return undefined;
  return "must use https; plain http is accepted only for localhost, 127.0.0.1 and [::1]";
}
