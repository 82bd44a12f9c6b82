import * as oauth from "oauth4webapi";
import { openBrowser, readCsrf } from "../http/pages/browser.ts";

/** The loopback servers of these tests speak plain http. */
const insecure = { [oauth.allowInsecureRequests]: true } as const;

/** Where a test client says it lives; nothing listens there. */
export const REDIRECT_URI = "http://127.0.0.1:33418/callback";

/** A registered app that knows nothing of the service but its MCP address. */
export interface OAuthClient {
  readonly server: oauth.AuthorizationServer;
  readonly client: oauth.Client;
  readonly resource: string;
  /** The address the human's browser is sent to. */
  start(o?: { scope?: string; resource?: string | null; state?: string }): Promise<StartedRequest>;
  /** Redeems the address the browser was sent back to. */
  redeem(started: StartedRequest, callback: string): Promise<oauth.TokenEndpointResponse>;
  refresh(refreshToken: string): Promise<oauth.TokenEndpointResponse>;
  revoke(token: string): Promise<void>;
}

/** One authorization request. */
interface StartedRequest {
  readonly url: string;
  readonly verifier: string;
  readonly state: string;
}

/** Discovers the service from a 401 of its MCP endpoint, as a remote client does, and registers. */
export async function registerClient(
  baseUrl: string,
  metadata: Partial<oauth.OmitSymbolProperties<oauth.Client>> = {},
) {
  const refused = await fetch(`${baseUrl}/api/mcp`, { method: "POST", body: "{}" });
  const address = /resource_metadata="([^"]+)"/.exec(refused.headers.get("www-authenticate") ?? "")?.[1];
  if (refused.status !== 401 || address === undefined) throw new Error(`The endpoint answered ${refused.status}.`);
  const resourceUrl = new URL(`${baseUrl}/api/mcp`);
  const described = await oauth.processResourceDiscoveryResponse(resourceUrl, await fetch(address));
  const issuer = new URL(String(described.authorization_servers?.[0]));
  const found = await oauth.discoveryRequest(issuer, { algorithm: "oauth2", ...insecure });
  const server = await oauth.processDiscoveryResponse(issuer, found);
  const wanted = { redirect_uris: [REDIRECT_URI], client_name: "Test app", ...metadata };
  const answer = await oauth.dynamicClientRegistrationRequest(server, wanted, insecure);
  const client = await oauth.processDynamicClientRegistrationResponse(answer);
  return createClient({ server, client, resource: described.resource });
}

function createClient(o: Pick<OAuthClient, "server" | "client" | "resource">): OAuthClient {
  const { server, client, resource } = o;
  const redirectUri = String((client.redirect_uris as string[] | undefined)?.[0]);
  return {
    ...o,
    async start({ scope = "openid", resource: target = resource, state = oauth.generateRandomState() } = {}) {
      const verifier = oauth.generateRandomCodeVerifier();
      const url = new URL(String(server.authorization_endpoint));
      const query = {
        client_id: client.client_id,
        redirect_uri: redirectUri,
        response_type: "code",
        scope,
        state,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
        ...(target !== null && { resource: target }),
      };
      url.search = new URLSearchParams(query).toString();
      return { url: url.href, verifier, state };
    },

    async redeem({ verifier, state }, callback) {
      const parameters = oauth.validateAuthResponse(server, client, new URL(callback), state);
      const answer = await oauth.authorizationCodeGrantRequest(
        server,
        client,
        oauth.None(),
        parameters,
        redirectUri,
        verifier,
        insecure,
      );
      return oauth.processAuthorizationCodeResponse(server, client, answer);
    },

    async refresh(refreshToken) {
      const answer = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), refreshToken, insecure);
      return oauth.processRefreshTokenResponse(server, client, answer);
    },

    async revoke(token) {
      const answer = await oauth.revocationRequest(server, client, oauth.None(), token, insecure);
      await oauth.processRevocationResponse(answer);
    },
  };
}

/** The owner's browser, signed in. */
export async function openOwnerBrowser(signInUrl: string) {
  const browser = openBrowser();
  await browser.open(signInUrl);

  /** Follows redirects as far as they stay on the service; the last page, or the address that leads away. */
  async function follow(url: string) {
    for (let hops = 0; hops < 10; hops += 1) {
      const page = await browser.open(url);
      const next = page.headers.location;
      if (typeof next !== "string") return { page, url };
      const target = new URL(next, url).href;
      if (new URL(target).host !== new URL(url).host) return { page, url: target };
      url = target;
    }
    throw new Error("Too many redirects.");
  }

  return {
    browser,
    follow,
    /** Opens an authorization request, presses a button on the approval page and returns where the browser is sent. */
    async decide(
      url: string,
      decision: "approve" | "decline",
      more: Readonly<Record<string, string>> = {},
    ): Promise<string> {
      const asked = await follow(url);
      const answer = await browser.submit(asked.url, { csrf: readCsrf(asked.page), decision, ...more });
      if (answer.status !== 303) throw new Error(`The approval page answered ${answer.status}: ${answer.text}`);
      return (await follow(new URL(String(answer.headers.location), asked.url).href)).url;
    },
  };
}
