import type { AuthorizationServer, ClientAuth, TokenEndpointResponse } from "oauth4webapi";
import { hideSecrets } from "../../../apps/port/hide-secrets.ts";
import { createProviderError } from "../../../apps/port/provider-failure.ts";
import { findProviderWords } from "../../../apps/port/provider-words.ts";
import { isRecord, parseJson } from "../../../shared/base/json.ts";
import { cleanText } from "../../../shared/base/text.ts";
import { ServiceError } from "../../service-error.ts";
import { createProviderFetch, createRequestOptions, ProviderFetchError } from "./provider-fetch.ts";
import type { KnownProvider, SignInRecord } from "./sign-in-record.ts";

const WORDS_MAX = 200;
/** Seconds by which the clocks of a provider and of this machine may differ. */
const CLOCK_TOLERANCE = 15 * 60;
/** A token in a header: visible characters, and no more of them than servers take. */
const TOKEN = /^[\x21-\x7e]{1,16000}$/;

/** Answer of an endpoint for tokens. */
export interface TokenAnswer {
  readonly accessToken: string;
  /** Undefined when the used refresh token stays valid, or there is none. */
  readonly refreshToken: string | undefined;
  /** Undefined when the provider does not say how long the access token lasts. */
  readonly lifetimeSeconds: number | undefined;
  /** Who signed in, from the ID token. */
  readonly subject: string | undefined;
  /** Their mail address or name. */
  readonly account: string | undefined;
  /** The answer without tokens. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** A request for tokens. */
interface TokenRequest {
  readonly provider: KnownProvider;
  readonly grant: string;
  /** Parameters of the grant; secrets among them are never repeated. */
  readonly params?: Readonly<Record<string, string>> | undefined;
  /** Name of the app, for errors. */
  readonly app: string;
}

/**
 * Asks for tokens, once. Throws ServiceError: 401 `needs_reauth` when the provider refused the grant or the client, so that
 * only the owner can help; 503 `provider_unavailable` or 429 when it can be tried again; 500 for an answer that cannot be
 * read. `cause` is the {@link ProviderFetchError}, if there is one.
 */
export async function requestTokens(asked: TokenRequest): Promise<TokenAnswer> {
  const oauth = await import("oauth4webapi");
  const { provider, grant, params } = asked;
  const { clientId } = provider.client;
  const server = provider.server as AuthorizationServer;
  const client = { client_id: clientId, [oauth.clockTolerance]: CLOCK_TOLERANCE };
  const send = createProviderFetch(provider.isPrivate);
  const options = await createRequestOptions(provider.isPrivate, async (url, request) => {
    const answer = await toRefusal(await send(url, request));
    return provider.hasIssuer ? answer : withoutIdToken(answer);
  });
  const more = { ...params, ...(provider.resource !== undefined && { resource: provider.resource }) };
  const attempt = async (auth: ClientAuth): Promise<TokenEndpointResponse> => {
    const answer = await oauth.genericTokenEndpointRequest(server, client, auth, grant, more, options);
    return oauth.processGenericTokenEndpointResponse(server, client, answer);
  };
  try {
    const given = await attemptEach(await listAuths(provider), attempt);
    checkTokens(given);
    const claims = oauth.getValidatedIdTokenClaims(given);
    return toAnswer(given, claims ?? readUncheckedClaims(given));
  } catch (error) {
    throw await toServiceError(error, asked);
  }
}

/**
 * Withdraws the tokens of a sign-in at its provider (RFC 7009), where it has an address for that. Never rejects: the
 * connection is gone whatever the provider says.
 */
export async function revokeTokens({ provider, tokens }: Pick<SignInRecord, "provider" | "tokens">): Promise<void> {
  const server = provider.server as AuthorizationServer;
  if (server.revocation_endpoint === undefined) return;
  const oauth = await import("oauth4webapi");
  const client = { client_id: provider.client.clientId };
  const options = await createRequestOptions(provider.isPrivate);
  const attempt = async (auth: ClientAuth) => {
    const token = tokens.refreshToken ?? tokens.accessToken;
    await oauth.processRevocationResponse(await oauth.revocationRequest(server, client, auth, token, options));
  };
  // Nothing more can be done about a failure.
  await attemptEach(await listAuths(provider), attempt).catch(() => {});
}

/** @throws Error for tokens that no request can carry, or that are of use only with a key. */
function checkTokens({ access_token, refresh_token = "none", token_type }: TokenEndpointResponse): void {
  if (token_type !== "bearer") throw new Error(`its token is of the type "${token_type}", which is not supported`);
  if (!TOKEN.test(access_token) || !TOKEN.test(refresh_token)) {
    throw new Error("its token is too long, or has characters that no request can carry");
  }
}

/** Some providers refuse a grant in words of their own. */
async function toRefusal(answer: Response): Promise<Response> {
  if (answer.status !== 400 && answer.status !== 401) return answer;
  const said = await answer.text();
  const value = parseJson(said);
  if (!isRecord(value) || typeof value.error === "string") return new Response(said, answer);
  return Response.json({ error: "invalid_grant", error_description: findProviderWords(said) }, { status: 400 });
}

/** The ways in which the client may prove itself, best first. */
export async function listAuths({ client, server }: Pick<KnownProvider, "client" | "server">): Promise<ClientAuth[]> {
  const oauth = await import("oauth4webapi");
  const { clientSecret } = client;
  if (clientSecret === undefined || client.authMethod === "none") return [oauth.None()];
  const ways = {
    client_secret_basic: proveByHeader(client.clientId, clientSecret),
    client_secret_post: oauth.ClientSecretPost(clientSecret),
  };
  if (client.authMethod !== undefined) return [ways[client.authMethod]];
  const known = server.token_endpoint_auth_methods_supported;
  const offered = (["client_secret_basic", "client_secret_post"] as const).filter((way) => known?.includes(way));
  return offered.length === 0 ? Object.values(ways) : offered.slice(0, 1).map((way) => ways[way]);
}

/** The library writes each hyphen as %2D, which servers that do not decode the pair refuse. */
function proveByHeader(clientId: string, clientSecret: string): ClientAuth {
  const pair = [clientId, clientSecret].map(encodeURIComponent).join(":");
  const value = `Basic ${Buffer.from(pair).toString("base64")}`;
  return (_server, _client, _body, headers) => headers.set("authorization", value);
}

/** The next way is tried where the provider does not know the client by this one: the grant is not spent then. */
async function attemptEach<T>([first, ...others]: readonly ClientAuth[], attempt: (auth: ClientAuth) => Promise<T>) {
  const auth = first ?? (await import("oauth4webapi")).None();
  try {
    return await attempt(auth);
  } catch (error) {
    if (others.length === 0 || !/client/.test((await readRefusal(error))?.error ?? "")) throw error;
    return attemptEach(others, attempt);
  }
}

/** The same answer with the ID token out of the library's sight, which would compare its issuer with a made-up one. */
async function withoutIdToken(answer: Response): Promise<Response> {
  if (answer.status !== 200) return answer;
  const { id_token, ...others } = (await answer.json().catch(() => ({}))) as Record<string, unknown>;
  return Response.json({ ...others, ...(id_token !== undefined && { [UNCHECKED]: id_token }) });
}

const UNCHECKED = "unchecked_id_token";

/** Came from the provider itself over TLS: good enough to tell one account from another. */
function readUncheckedClaims(given: TokenEndpointResponse): Readonly<Record<string, unknown>> {
  const token = given[UNCHECKED];
  if (typeof token !== "string") return {};
  try {
    return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8"));
  } catch {
    return {};
  }
}

function toAnswer(given: TokenEndpointResponse, claims: Readonly<Record<string, unknown>>): TokenAnswer {
  const { access_token, refresh_token, expires_in, id_token: _id, [UNCHECKED]: _unchecked, ...data } = given;
  const text = (value: unknown) => (typeof value === "string" ? (cleanText(value, WORDS_MAX) ?? undefined) : undefined);
  return {
    accessToken: access_token,
    refreshToken: refresh_token,
    lifetimeSeconds: expires_in,
    subject: text(claims.sub),
    account: text(claims.email) ?? text(claims.preferred_username) ?? text(claims.name),
    data,
  };
}

/** What a provider refused in the words of RFC 6749; undefined for any other error. */
export async function readRefusal(error: unknown): Promise<{ error: string; words: string } | undefined> {
  const { ResponseBodyError, AuthorizationResponseError } = await import("oauth4webapi");
  if (!(error instanceof ResponseBodyError || error instanceof AuthorizationResponseError)) return undefined;
  return { error: error.error, words: error.error_description ?? "" };
}

const HINTS = {
  grant: "The owner signs in again: dashboard, Connections, Reconnect.",
  client: "The owner corrects the client id and its secret: dashboard, Connections, Reconnect.",
} as const;

/** The answer of the service to a failed request of the sign-in. */
export async function toServiceError(
  error: unknown,
  { provider, app, params = {} }: Pick<TokenRequest, "app"> & Partial<TokenRequest>,
): Promise<unknown> {
  if (error instanceof ServiceError) return error;
  const call = { app: `The sign-in provider of ${app}`, action: { level: "read", idempotent: true } } as const;
  if (error instanceof ProviderFetchError) return withCause(createProviderError(error.failure, call), error);
  const refusal = await readRefusal(error);
  if (refusal === undefined) {
    const said = error instanceof Error ? error.message.replaceAll('"response" ', "") : undefined;
    const message = cleanText(said, WORDS_MAX) ?? undefined;
    return withCause(createProviderError({ kind: "garbage", message }, call), error);
  }
  if (/^(temporarily_unavailable|server_error|slow_down)$/.test(refusal.error)) {
    return withCause(createProviderError({ kind: "status", status: 503, message: refusal.error }, call), error);
  }
  const isClient = isClientRefusal(refusal.error);
  const secrets = { ...params, secret: provider?.client.clientSecret };
  const words = cleanText(hideSecrets(`${refusal.words} (${refusal.error})`, secrets), WORDS_MAX);
  const what = isClient ? "The sign-in provider refused the client" : "The sign-in has ended or was withdrawn";
  return new ServiceError(401, "needs_reauth", `${app}: ${what}: ${words}`, {
    type: "auth",
    hint: isClient ? HINTS.client : HINTS.grant,
    cause: error,
  });
}

/** True for the answer of a provider that it does not do what it was asked. */
export async function isRefused(error: unknown): Promise<boolean> {
  if ((await readRefusal(error)) !== undefined) return true;
  const answer = error instanceof Error ? error.cause : undefined;
  return answer instanceof Response && answer.status >= 400;
}

function isClientRefusal(error: string): boolean {
  return /client/.test(error);
}

/** True for the refusal of a client that the provider does not know, or not any more. */
export async function isClientUnknown(error: unknown): Promise<boolean> {
  const refusal = await readRefusal(error instanceof ServiceError ? error.cause : error);
  return refusal !== undefined && isClientRefusal(refusal.error);
}

function withCause(error: ServiceError, cause: unknown): ServiceError {
  error.cause = cause;
  return error;
}

/** True for a request that the provider may have carried out although no answer came that can be read. */
export async function isOutcomeUnknown(error: unknown): Promise<boolean> {
  const cause = error instanceof ServiceError ? error.cause : error;
  if (cause instanceof ProviderFetchError) return cause.failure.kind === "lost" || cause.failure.kind === "garbage";
  return !(await isRefused(cause));
}
