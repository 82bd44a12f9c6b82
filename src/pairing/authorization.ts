import * as oauth from "oauth4webapi";
import { isSvcError, SvcError } from "../errors.ts";
import type { SignIn } from "./credential-file.ts";
import type { SignInPlace } from "./oauth-discovery.ts";
import { explainOAuthFailure } from "./oauth-failure.ts";
import type { OAuthHttp } from "./oauth-http.ts";
import { readTokens, toClient } from "./tokens.ts";

const SCOPE = "openid";

/** What an authorization request is made of. */
interface AuthorizationParts {
  readonly http: OAuthHttp;
  readonly place: SignInPlace;
  /** Shown to the human on the approval page. */
  readonly clientName: string;
  readonly redirectUri: string;
  readonly state: string;
  readonly signal: AbortSignal | undefined;
}

/** A request for authorization (RFC 6749, 4.1) that waits for a human. */
export interface Authorization {
  readonly clientId: string;
  /** Where the human's browser goes. */
  readonly link: string;
  /**
   * Redeems the query that the browser came back with; `state`, issuer and PKCE are checked.
   *
   * @throws SvcError `pairing_failed`
   */
  redeem(params: URLSearchParams, now: number): Promise<ReturnType<typeof readTokens>>;
}

/** Registers this program (RFC 7591) and prepares the link for the human. */
export async function requestAuthorization(parts: AuthorizationParts): Promise<Authorization> {
  const { server } = parts.place;
  const clientId = await registerClient(parts);
  const verifier = oauth.generateRandomCodeVerifier();
  const challenge = await oauth.calculatePKCECodeChallenge(verifier);
  return {
    clientId,
    link: createLink(parts, { client_id: clientId, code_challenge: challenge, code_challenge_method: "S256" }),
    async redeem(params, now) {
      const options = { ...parts.http.options(parts.signal), additionalParameters: { resource: parts.place.resource } };
      const client = toClient(clientId);
      try {
        const answer = oauth.validateAuthResponse(server, client, params, parts.state);
        const response = await oauth.authorizationCodeGrantRequest(
          server,
          client,
          oauth.None(),
          answer,
          parts.redirectUri,
          verifier,
          options,
        );
        return readTokens(await oauth.processAuthorizationCodeResponse(server, client, response), now);
      } catch (error) {
        throw failed("The sign-in was not completed", error, [verifier, params.get("code") ?? ""]);
      }
    },
  };
}

/** The part of the metadata that later requests need. */
export function keepServer({ server }: SignInPlace): SignIn["server"] {
  const { issuer, token_endpoint = "", revocation_endpoint, id_token_signing_alg_values_supported } = server;
  return {
    issuer,
    token_endpoint,
    ...(revocation_endpoint === undefined ? {} : { revocation_endpoint }),
    ...(id_token_signing_alg_values_supported === undefined ? {} : { id_token_signing_alg_values_supported }),
  };
}

async function registerClient({ http, place, clientName, redirectUri, signal }: AuthorizationParts): Promise<string> {
  const metadata = {
    client_name: clientName,
    redirect_uris: [redirectUri],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
    application_type: "native",
    scope: SCOPE,
  };
  try {
    const response = await oauth.dynamicClientRegistrationRequest(place.server, metadata, http.options(signal));
    const client = await oauth.processDynamicClientRegistrationResponse(response);
    if ((client.token_endpoint_auth_method ?? "none") !== "none")
      throw new TypeError("it wants a client with a secret");
    return client.client_id;
  } catch (error) {
    throw failed("The service did not register this program", error);
  }
}

function createLink({ place, redirectUri, state }: AuthorizationParts, own: Readonly<Record<string, string>>): string {
  const url = new URL(String(place.server.authorization_endpoint));
  const query = {
    response_type: "code",
    redirect_uri: redirectUri,
    scope: SCOPE,
    resource: place.resource,
    state,
    ...own,
  };
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url.href;
}

function failed(what: string, error: unknown, secrets: readonly string[] = []): SvcError {
  if (isSvcError(error)) return error;
  if (error instanceof oauth.AuthorizationResponseError && error.error === "access_denied") {
    return new SvcError("pairing_failed", "The sign-in was declined in the browser. Nothing was stored.", {
      serviceCode: "access_denied",
      hint: 'Run "svc login" again if this machine should have access after all.',
    });
  }
  return new SvcError("pairing_failed", `${what}: ${explainOAuthFailure(error, secrets)}. Nothing was stored.`, {
    ...(error instanceof oauth.ResponseBodyError ? { serviceCode: error.error, status: error.status } : {}),
    hint: 'Run "svc login" again; "svc pair" works without this sign-in.',
  });
}
