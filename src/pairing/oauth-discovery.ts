import * as oauth from "oauth4webapi";
import { isSvcError } from "../errors.ts";
import { explainOAuthFailure } from "./oauth-failure.ts";
import { type OAuthHttp, refuse } from "./oauth-http.ts";

/** Where to sign in, and for what. */
export interface SignInPlace {
  readonly server: oauth.AuthorizationServer;
  /** The resource that tokens are asked for. */
  readonly resource: string;
}

const ENDPOINTS = ["authorization_endpoint", "token_endpoint", "registration_endpoint", "revocation_endpoint"] as const;

/**
 * Finds the authorization server of a service ("Authentication" 4): from the metadata of the MCP endpoint to that of
 * the server it names. Every endpoint must be on the server's own origin, PKCE with S256 and registration be offered.
 *
 * @throws SvcError `pairing_failed` naming what is wrong, or why the service could not be asked
 */
export async function findSignIn(http: OAuthHttp, baseUrl: string, signal?: AbortSignal): Promise<SignInPlace> {
  const options = http.options(signal);
  const { resource, issuer } = await readResourceMetadata(http, baseUrl, options);
  const server = await readServerMetadata(issuer, options);
  for (const name of ENDPOINTS) {
    const address = server[name];
    if (address === undefined && name === "revocation_endpoint") continue;
    if (typeof address !== "string") {
      const missing =
        name === "registration_endpoint" ? "is missing: clients cannot register themselves" : "is missing";
      throw refuse(name, missing);
    }
    const url = http.admit(address, name);
    if (url.origin !== issuer.origin)
      throw refuse(name, `is on ${url.host}, not on the server itself (${issuer.host})`);
  }
  if (!server.code_challenge_methods_supported?.includes("S256")) {
    throw refuse("code_challenge_methods_supported", "does not name S256, so the sign-in could be taken over");
  }
  return { server, resource };
}

type RequestOptions = ReturnType<OAuthHttp["options"]>;

/** RFC 9728: the metadata of the endpoint, or the one of the document's plain address. */
async function readResourceMetadata(http: OAuthHttp, baseUrl: string, options: RequestOptions) {
  const endpoint = new URL(`${baseUrl}/api/mcp`);
  const places = [
    () => oauth.resourceDiscoveryRequest(endpoint, options),
    () => {
      const address = `${baseUrl}/.well-known/oauth-protected-resource`;
      return options[oauth.customFetch](address, {
        method: "GET",
        headers: { accept: "application/json" },
        ...options,
      });
    },
  ];
  for (const ask of places) {
    const response = await ask();
    if (response.status === 404) continue;
    const { resource, authorization_servers } = await oauth
      .processResourceDiscoveryResponse(endpoint, response)
      .catch(failAs("the service's own description of its sign-in"));
    const [issuer] = authorization_servers ?? [];
    if (typeof issuer !== "string") throw refuse("authorization_servers", "names no server");
    return { resource, issuer: http.admit(issuer, "authorization_servers") };
  }
  throw refuse("/.well-known/oauth-protected-resource", "does not exist: this service offers no OAuth sign-in");
}

async function readServerMetadata(issuer: URL, options: RequestOptions): Promise<oauth.AuthorizationServer> {
  for (const algorithm of ["oauth2", "oidc"] as const) {
    const response = await oauth.discoveryRequest(issuer, { algorithm, ...options });
    if (response.status === 404) continue;
    return oauth.processDiscoveryResponse(issuer, response).catch(failAs("the authorization server's metadata"));
  }
  throw refuse("authorization_servers", `names ${issuer.host}, which has no metadata`);
}

function failAs(what: string): (error: unknown) => never {
  return (error) => {
    throw isSvcError(error) ? error : refuse(what, `is not as it must be (${explainOAuthFailure(error)})`);
  };
}
