import type { ClientMetadata, errors as OidcErrors } from "oidc-provider";

/** Longest redirect address, and how many a client may have. */
const MAX_REDIRECT_LENGTH = 2_048;
const MAX_REDIRECTS = 10;
const MAX_NAME_LENGTH = 200;
const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Members that would make the service fetch an address of the client's choice. */
const FETCHED = ["jwks_uri", "sector_identifier_uri", "request_uris", "backchannel_logout_uri"] as const;

/**
 * Our rules for clients that register themselves, on top of the library's own: plain http leads only to loopback, and
 * nothing in the metadata makes this service call out. Every client is a native one for the library, so that a
 * loopback port may differ from the registered one (RFC 8252, 7.3).
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
  for (const member of FETCHED) delete metadata[member];
  metadata.application_type = "native";
}

function findProblem(uri: unknown): string | undefined {
  if (typeof uri !== "string" || !URL.canParse(uri)) return "must only contain valid uris";
  if (uri.length > MAX_REDIRECT_LENGTH) return `must not be longer than ${MAX_REDIRECT_LENGTH} characters`;
  const url = new URL(uri);
  if (url.username !== "" || url.password !== "") return "must not contain a user name or password";
  if (url.protocol !== "http:" || LOOPBACK.has(url.hostname)) return undefined;
  return "must use https; plain http is accepted only for localhost, 127.0.0.1 and [::1]";
}
