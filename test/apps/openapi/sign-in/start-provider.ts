import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Provider } from "oidc-provider";
import { openBrowser } from "../../../service/http/pages/browser.ts";
import { listenPausably } from "../../../service/pausable-server.ts";

/** The client that the owner registered by hand. */
export const OWN_CLIENT = { "client-id": "shelf-client", "client-secret": "a-secret-of-the-shelf-client" };

/** The key that the API takes from those who have no token. */
export const KEY = "good-key-of-the-shelf";
const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";
const SCOPES = ["openid", "offline_access", "items:read", "items:write", "items:admin"];

/**
 * A sign-in provider (the real `oidc-provider`) and an API on one server of loopback: `/api/…` answers who asks, and with
 * which scopes, to those who have a token. Whoever opens the page of the provider is Ada, and agrees.
 */
export async function startProvider(redirectUri: string) {
  const state = {
    /** Status of what is refused to everybody. */
    refusal: 400,
  };
  const seen: { path: string; authorization: string | undefined; key: unknown }[] = [];
  let handle: (request: IncomingMessage, response: ServerResponse) => Promise<void> = async () => {};
  const server = createServer((request, response) => void handle(request, response));
  const { port, ...listener } = await listenPausably(server);
  const url = `http://127.0.0.1:${port}`;
  const provider = new Provider(url, {
    clients: [
      {
        client_id: OWN_CLIENT["client-id"],
        client_secret: OWN_CLIENT["client-secret"],
        redirect_uris: [redirectUri],
        grant_types: ["authorization_code", "refresh_token", "client_credentials", DEVICE_GRANT],
        response_types: ["code"],
        scope: SCOPES.join(" "),
      },
    ],
    scopes: SCOPES,
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      registration: { enabled: true },
      deviceFlow: { enabled: true },
      revocation: { enabled: true },
    },
    interactions: { url: (_c, { uid }) => `/interaction/${uid}` },
    async loadExistingGrant({ oidc }) {
      const grant = new provider.Grant({ clientId: oidc.client?.clientId, accountId: oidc.session?.accountId });
      grant.addOIDCScope(String(oidc.params?.scope ?? ""));
      await grant.save();
      return grant;
    },
    findAccount: (_c, id) => ({ accountId: id, claims: () => ({ sub: id, email: "ada@example.org" }) }),
    ttl: {
      AccessToken: 3600,
      ClientCredentials: 3600,
      DeviceCode: 600,
      Grant: 3600,
      IdToken: 60,
      Interaction: 600,
      RefreshToken: 86_400,
      Session: 3600,
    },
    issueRefreshToken: async () => true,
    rotateRefreshToken: true,
  });
  const answer = provider.callback();
  const findToken = async (text: string) =>
    (await provider.AccessToken.find(text)) ?? (await provider.ClientCredentials.find(text));

  handle = async (request, response) => {
    const path = request.url ?? "";
    if (path.startsWith("/interaction/")) {
      return provider.interactionFinished(request, response, { login: { accountId: "ada" }, consent: {} });
    }
    if (!path.startsWith("/api/")) return void (await answer(request, response));
    const { authorization } = request.headers;
    const key = request.headers["x-key"];
    seen.push({ path, authorization, key });
    const text = authorization?.replace(/^Bearer /, "") ?? "";
    const token = await findToken(text);
    const isKnown = token !== undefined || key === KEY;
    const isRefused = path.endsWith("/refuse");
    if (request.method === "DELETE" && token !== undefined && !token.scope?.includes("items:admin")) {
      const challenge = 'Bearer error="insufficient_scope", scope="items:admin"';
      return void response.writeHead(403, { "www-authenticate": challenge }).end();
    }
    response.writeHead(isRefused ? state.refusal : isKnown ? 200 : 401, { "content-type": "application/json" });
    const body = isRefused ? { message: `No to ${text}` } : { scope: token?.scope, kind: token?.kind };
    response.end(JSON.stringify(body));
  };

  return Object.assign(state, {
    url,
    provider,
    /** Requests to the API. */
    seen,
    /** Opens the page of the provider as Ada, and gives the address that it leads back to. */
    async signIn(page: URL): Promise<string> {
      const browser = openBrowser();
      let at = page.href;
      for (let hops = 0; hops < 10 && at.startsWith(url); hops += 1) {
        const { headers, text, status } = await browser.open(at);
        if (headers.location === undefined) throw new Error(`${at} answered ${status}: ${text}`);
        at = new URL(String(headers.location), at).href;
      }
      return at;
    },
    /** Takes back the token of the last request to the API; all that came with it where `isAll`. */
    async revoke(isAll = false) {
      const text = seen.at(-1)?.authorization?.replace(/^Bearer /, "") ?? "";
      const token = await findToken(text);
      await token?.destroy();
      const grantId = token !== undefined && "grantId" in token ? String(token.grantId) : "";
      if (isAll) await provider.RefreshToken.revokeByGrantId(grantId);
    },
    ...listener,
  });
}
