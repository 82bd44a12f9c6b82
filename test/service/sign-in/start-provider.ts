import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type Configuration, errors, Provider } from "oidc-provider";

/** One request that a provider got; `form` without the secrets of the client. */
interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly form: Readonly<Record<string, string>>;
}

/** How a provider behaves. */
interface ProviderOptions {
  /** Seconds an access token lasts. Default 3,600. */
  readonly lifetime?: number;
  /** False: a refresh token stays valid when it is used. Default true: a used one that comes again ends the grant. */
  readonly rotates?: boolean;
  /** Default true. */
  readonly registers?: boolean;
  /** Default false. */
  readonly takesMetadataDocuments?: boolean;
  readonly clients?: NonNullable<Configuration["clients"]>;
  /** Scopes it knows beside its usual ones. Default none. */
  readonly scopes?: readonly string[];
  /** Who signs in; it can be changed at any time. Default `ada`. */
  readonly account?: string;
  /** Default `127.0.0.1`; `localhost` is another site for a browser. */
  readonly host?: string;
  /** True: there is a page with a button, as people know it. Default: the user agrees at once. */
  readonly asks?: boolean;
  /** Gets metadata documents of clients. */
  readonly fetch?: Configuration["fetch"];
}

/** A sign-in provider on loopback, run by `oidc-provider`, whose user agrees to everything. */
export type TestProvider = Awaited<ReturnType<typeof startProvider>>;

const SCOPES = ["openid", "email", "offline_access", "read", "write", "mail"];

/** Starts a provider. */
export async function startProvider(o: ProviderOptions = {}) {
  const seen: SeenRequest[] = [];
  const state = { account: o.account ?? "ada", isDown: false, lifetime: o.lifetime ?? 3_600 };
  const handler = { answer: async (_request: IncomingMessage, _response: ServerResponse): Promise<void> => {} };
  const server = createServer((request, response) => {
    if (state.isDown) return void request.socket.destroy();
    note(request, seen);
    void handler.answer(request, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const url = `http://${o.host ?? "127.0.0.1"}:${typeof address === "object" ? address?.port : 0}`;
  const issued: { readonly grants: Set<string>; readonly clients: Set<string> } = {
    grants: new Set(),
    clients: new Set(),
  };
  let provider = new Provider(url, configure(o, state, issued));
  const callback = () => provider.callback();
  let answer = callback();
  handler.answer = async (request, response) => {
    if (request.url?.startsWith("/agree/")) {
      if (o.asks === true && request.method === "GET") return void showQuestion(response, state);
      return agree(provider, state, { request, response });
    }
    await answer(request, response);
  };
  return Object.assign(state, {
    url,
    seen,
    /** Requests for tokens, by grant. */
    grants: () => seen.filter(({ path }) => path === "/token").map(({ form }) => form.grant_type ?? ""),
    /** The claims of an access token, or undefined when it is not good. */
    async inspect(token: string) {
      const found = await provider.AccessToken.find(token);
      if (found?.isValid !== true) return undefined;
      const grant = await provider.Grant.find(found.grantId ?? "");
      return found.grantId !== undefined && grant === undefined ? undefined : found;
    },
    /** True for a token that a client got for itself, and that is good. */
    async isOfClient(token: string) {
      return (await provider.ClientCredentials.find(token))?.isValid === true;
    },
    /** Ends every grant and token, as their user would. */
    async revokeAll() {
      for (const id of issued.grants) await (await provider.Grant.find(id))?.destroy();
      issued.grants.clear();
    },
    /** Forgets clients, grants and tokens; knows the clients that its options list then. */
    forgetAll() {
      provider = new Provider(url, configure(o, state, issued));
      answer = callback();
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

function note(request: IncomingMessage, seen: SeenRequest[]): void {
  const parts: Buffer[] = [];
  const path = new URL(request.url ?? "", "http://x").pathname;
  const emit = request.emit.bind(request);
  // Read along: the provider reads the body itself.
  request.emit = (event: string, ...values: unknown[]) => {
    if (event === "data" && values[0] instanceof Buffer) parts.push(values[0]);
    if (event === "end") {
      const { client_secret: _, ...form } = Object.fromEntries(new URLSearchParams(Buffer.concat(parts).toString()));
      seen.push({ method: request.method ?? "", path, form });
    }
    return emit(event, ...values);
  };
  if (request.method === "GET") seen.push({ method: "GET", path, form: {} });
}

function configure(
  o: ProviderOptions,
  state: { account: string; lifetime: number },
  issued: { grants: Set<string> },
): Configuration {
  const { rotates = true, registers = true, takesMetadataDocuments = false, clients = [], scopes = [] } = o;
  return {
    clients: [...clients],
    scopes: [...SCOPES, ...scopes],
    ...(o.fetch !== undefined && { fetch: o.fetch }),
    claims: { openid: ["sub"], email: ["email"] },
    conformIdTokenClaims: false,
    responseTypes: ["code"],
    clientAuthMethods: ["none", "client_secret_basic", "client_secret_post"],
    pkce: { required: () => true },
    rotateRefreshToken: rotates,
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed("refresh_token"),
    expiresWithSession: async () => false,
    cookies: { keys: ["test"] },
    renderError: (ctx, out) => {
      ctx.body = JSON.stringify(out);
    },
    ttl: {
      Grant: 86_400,
      IdToken: 3_600,
      Interaction: 900,
      RefreshToken: 86_400,
      Session: 900,
      DeviceCode: 900,
      AccessToken: () => state.lifetime,
      ClientCredentials: () => state.lifetime,
    },
    findAccount: (_ctx, id) => ({ accountId: id, claims: async () => ({ sub: id, email: `${id}@example.org` }) }),
    interactions: { url: (_ctx, { uid }) => `/agree/${uid}` },
    loadExistingGrant: async ({ oidc }) => {
      const grantId = oidc.result?.consent?.grantId;
      if (grantId === undefined) return undefined;
      issued.grants.add(grantId);
      return oidc.provider.Grant.find(grantId);
    },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      deviceFlow: { enabled: true },
      revocation: { enabled: true, allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId },
      introspection: { enabled: true },
      registration: { enabled: registers },
      ...(takesMetadataDocuments && { clientIdMetadataDocument: { enabled: true, ack: "draft-02" } }),
      resourceIndicators: {
        enabled: true,
        defaultResource: () => "urn:none",
        useGrantedResource: () => true,
        getResourceServerInfo: (_ctx, resource) => {
          if (resource === "urn:wrong") throw new errors.InvalidTarget();
          return {
            scope: [...SCOPES, ...scopes].join(" "),
            audience: resource,
            accessTokenFormat: "opaque",
            accessTokenTTL: state.lifetime,
          };
        },
      },
    },
  } as Configuration;
}

function showQuestion(response: ServerResponse, { account }: { account: string }): void {
  response.setHeader("content-type", "text/html; charset=utf-8");
  response.end(
    `<title>Provider</title><h1>${account}, allow this?</h1><form method="post"><button>Allow</button></form>`,
  );
}

/** The user signs in and agrees to everything that is asked. */
async function agree(
  provider: Provider,
  { account }: { account: string },
  { request, response }: { request: IncomingMessage; response: ServerResponse },
): Promise<void> {
  const { params } = await provider.interactionDetails(request, response);
  const grant = new provider.Grant({ accountId: account, clientId: String(params.client_id) });
  const scope = typeof params.scope === "string" ? params.scope : "";
  grant.addOIDCScope(scope);
  grant.addResourceScope(typeof params.resource === "string" ? params.resource : "urn:none", scope);
  const consent = { grantId: await grant.save() };
  const result = { login: { accountId: account, remember: false }, consent };
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
}

/** Plays the owner's browser at a provider: follows the page to the address that it leads back to, without opening that. */
export async function followSignIn(page: URL | string, redirectUri: string): Promise<URL> {
  const cookies = new Map<string, string>();
  let url = new URL(page);
  for (let steps = 0; steps < 10; steps += 1) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const answer = await fetch(url, { redirect: "manual", headers: { cookie } });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const location = answer.headers.get("location");
    if (location === null)
      throw new Error(`The provider answered ${answer.status}: ${(await answer.text()).slice(0, 500)}`);
    url = new URL(location, url);
    if (url.href.startsWith(redirectUri)) return url;
  }
  throw new Error("The provider leads in a circle.");
}
