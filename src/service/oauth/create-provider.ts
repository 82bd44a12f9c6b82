import type { EventEmitter } from "node:events";
import type { IncomingMessage } from "node:http";
import type { ClientMetadata, Configuration, JWK, KoaContextWithOIDC, Provider } from "oidc-provider";
import { OAUTH_SCOPES } from "../../shared/wire/mcp.ts";
import { deriveToken } from "../auth/secrets.ts";
import { ServiceError } from "../service-error.ts";
import { GRANT_CLAIM, SIGNING_ALGORITHM, type SigningKey } from "./access-token.ts";
import { applyClientRules } from "./client-rules.ts";
import type { OAuthRecords } from "./oauth-records.ts";

/** Lifetimes in seconds. A refresh token is renewed with each use; an approval has to be given again after a year. */
const TTL = {
  AccessToken: 60 * 60,
  AuthorizationCode: 60,
  Grant: 365 * 24 * 60 * 60,
  IdToken: 60 * 60,
  Interaction: 15 * 60,
  RefreshToken: 30 * 24 * 60 * 60,
  Session: 60 * 60,
} as const;

/** Renders the page of a refused request, which takes the place of the library's own. */
export type RenderRefusal = (
  error: ServiceError,
) => Promise<{ text: string; headers: Readonly<Record<string, string>> }>;

interface ProviderParts {
  readonly records: OAuthRecords;
  /** Base URL of the service, which is the issuer. */
  readonly baseUrl: string;
  /** The one resource that tokens are good for. */
  readonly resource: string;
  readonly accountId: string;
  readonly key: SigningKey;
  readonly cookieSecret: string;
  readonly onError: (cause: unknown) => void;
  readonly renderRefusal: RenderRefusal;
}

/** Loads the OAuth library, which takes a moment and some memory, and sets it up. */
export async function createProvider(parts: ProviderParts): Promise<Provider> {
  const { Provider, errors } = await import("oidc-provider");
  const settings: Configuration = {
    ...describeTokens(parts),
    ...describePages(parts),
    adapter: (model: string) => parts.records.adapter(model),
    // Every approval is the owner's own decision: none is taken over from an earlier request.
    loadExistingGrant: async ({ oidc }) => {
      const grantId = oidc.result?.consent?.grantId;
      return grantId === undefined ? undefined : oidc.provider.Grant.find(grantId);
    },
    features: describeFeatures(parts, (message) => new errors.InvalidTarget(message)),
    extraClientMetadata: {
      properties: ["svc_rules"],
      validator: (_ctx, _key, _value, metadata: ClientMetadata) => applyClientRules(metadata, errors),
    },
    fetch: async () => {
      throw new Error("The authorization server does not call out.");
    },
  };
  const provider = new Provider(parts.baseUrl, settings);
  provider.proxy = true;
  const report = (cause: unknown, request: IncomingMessage | undefined) => {
    // A caller that goes away in the middle of its body is no failure of ours.
    if (request?.complete !== false) parts.onError(cause);
  };
  provider.on("server_error", ({ req }, error) => report(error, req));
  // Without a listener of its own the framework below prints to the terminal.
  const emitter: EventEmitter = provider;
  emitter.on("error", (cause: unknown, context?: { req: IncomingMessage }) => report(cause, context?.req));
  keepErrorsHere(provider, parts);
  return provider;
}

/**
 * Anybody registers a client. An error of its request stays on our own page unless the owner has approved it: a link of
 * this service must not lead to an address that a stranger chose.
 */
function keepErrorsHere(provider: Provider, { records, accountId, renderRefusal }: ProviderParts): void {
  const failures = new WeakMap<IncomingMessage, { ctx: KoaContextWithOIDC; error: Error }>();
  const note = (ctx: KoaContextWithOIDC, error: Error) => failures.set(ctx.req, { ctx, error });
  provider.on("authorization.error", note);
  provider.on("server_error", note);
  provider.use(async ({ req }, next) => {
    await next();
    const { ctx, error } = failures.get(req) ?? {};
    // After the owner's decision the request goes on at another address.
    if (ctx?.oidc.route !== "authorization" || error === undefined) return;
    const apps = await records.listApps(accountId);
    if (apps.some(({ clientId }) => clientId === ctx.oidc.client?.clientId)) return;
    ctx.remove("location");
    ctx.status = 400;
    await showRefusal(
      ctx,
      renderRefusal,
      "error_description" in error ? String(error.error_description) : error.message,
    );
  });
}

async function showRefusal(ctx: KoaContextWithOIDC, render: RenderRefusal, reason: string): Promise<void> {
  const message = `The app sent a request that cannot be carried out: ${reason}. Start again in the app.`;
  const { text, headers } = await render(new ServiceError(400, "invalid_request", message));
  ctx.set({ ...headers });
  ctx.body = text;
}

function describeTokens({ key, accountId }: ProviderParts): Configuration {
  return {
    jwks: { keys: [key.jwk as unknown as JWK] },
    ttl: TTL,
    scopes: [...OAUTH_SCOPES],
    claims: { openid: ["sub"], email: ["email"], profile: ["name"] },
    responseTypes: ["code"],
    clientAuthMethods: ["none"],
    clientDefaults: {
      token_endpoint_auth_method: "none",
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      id_token_signed_response_alg: SIGNING_ALGORITHM,
    },
    enabledJWA: { idTokenSigningAlgValues: [SIGNING_ALGORITHM] },
    pkce: { required: () => true },
    rotateRefreshToken: true,
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed("refresh_token"),
    expiresWithSession: async () => false,
    extraTokenClaims: (_ctx, token) => ("grantId" in token ? { [GRANT_CLAIM]: token.grantId } : {}),
    findAccount: (_ctx, id) => (id === accountId ? { accountId: id, claims: async () => ({ sub: id }) } : undefined),
  };
}

function describePages({ baseUrl, cookieSecret, renderRefusal }: ProviderParts): Configuration {
  const secure = baseUrl.startsWith("https:");
  const cookie = { httpOnly: true, sameSite: "lax", signed: true, secure } as const;
  return {
    cookies: {
      names: { session: "svc_oauth_session", interaction: "svc_oauth_request", resume: "svc_oauth_resume" },
      long: cookie,
      short: cookie,
      keys: [deriveToken(cookieSecret, "oauth cookies")],
    },
    routes: {
      authorization: OAUTH_PATHS.authorize,
      token: OAUTH_PATHS.token,
      registration: OAUTH_PATHS.register,
      revocation: OAUTH_PATHS.revoke,
      jwks: OAUTH_PATHS.jwks,
    },
    interactions: { url: (_ctx, { uid }) => `${OAUTH_PATHS.approve}/${uid}` },
    renderError: (ctx, { error, error_description: reason }) => showRefusal(ctx, renderRefusal, reason ?? error),
    clientBasedCORS: () => false,
  };
}

function describeFeatures(
  { resource: endpoint }: ProviderParts,
  wrongTarget: (message: string) => Error,
): NonNullable<Configuration["features"]> {
  return {
    devInteractions: { enabled: false },
    dPoP: { enabled: false },
    pushedAuthorizationRequests: { enabled: false },
    rpInitiatedLogout: { enabled: false },
    userinfo: { enabled: false },
    revocation: { enabled: true, allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId },
    registration: { enabled: true, issueRegistrationAccessToken: false },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => endpoint,
      useGrantedResource: () => true,
      getResourceServerInfo: (_ctx, resource) => {
        if (resource !== endpoint) throw wrongTarget(`tokens are issued only for ${endpoint}`);
        return {
          scope: OAUTH_SCOPES.join(" "),
          audience: endpoint,
          accessTokenFormat: "jwt",
          accessTokenTTL: TTL.AccessToken,
          jwt: { sign: { alg: SIGNING_ALGORITHM } },
        };
      },
    },
  };
}

/** Where the authorization server answers ("Authentication" 4). */
export const OAUTH_PATHS = {
  authorize: "/oauth/authorize",
  token: "/oauth/token",
  register: "/oauth/register",
  revoke: "/oauth/revoke",
  jwks: "/oauth/jwks",
  /** Our page where the owner decides. */
  approve: "/oauth/approve",
  authorizationServer: "/.well-known/oauth-authorization-server",
  openidConfiguration: "/.well-known/openid-configuration",
  protectedResource: "/.well-known/oauth-protected-resource",
} as const;
