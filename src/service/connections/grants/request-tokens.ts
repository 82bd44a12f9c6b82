import { request } from "undici";
import { z } from "zod";
import { parseJson } from "../../../base/json.ts";
import { cleanText } from "../../../base/text.ts";
import { createAppAgent, readText } from "../../fetch/guarded-connector.ts";
import type { OAuthClient } from "../../integrations/integration.ts";
import {
  createProviderError,
  type ProviderFailure,
  readNetworkFailure,
  readRetryAfter,
} from "../../integrations/provider-failure.ts";

import { hideSecrets } from "../../secrets/secret-settings.ts";
import { ServiceError } from "../../service-error.ts";

/** Longest answer, bytes. */
const MAX_ANSWER = 64 * 1024;
const LIMIT_MS = 15_000;
const WORDS_MAX = 200;

const answerSchema = z.looseObject({
  access_token: z.string().min(1),
  refresh_token: z.string().min(1).optional(),
  /** Seconds; some providers send text. */
  expires_in: z.coerce.number().positive().optional().catch(undefined),
});
const refusalSchema = z.looseObject({ error: z.string(), error_description: z.string().optional().catch(undefined) });

/** Answer of a token endpoint. */
export interface TokenAnswer {
  readonly accessToken: string;
  /** Undefined when the used refresh token stays valid. */
  readonly refreshToken: string | undefined;
  /** Undefined when the provider does not say how long the access token lasts. */
  readonly lifetimeSeconds: number | undefined;
  /** The answer without these. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** A request to a token endpoint. */
interface TokenRequest {
  readonly client: OAuthClient;
  /** `grant_type` and its parameters; secrets among them are never repeated. */
  readonly params: Readonly<Record<string, string>>;
  /** Name of the app, for errors. */
  readonly app: string;
  /** Setting that the owner is led to when the provider refuses. */
  readonly setting: string;
}

/**
 * Asks a token endpoint, once, for at most 15 seconds. Throws ServiceError: 401 `needs_reauth` when the provider refused the
 * grant or the client, so that only the owner can help; 503 `provider_unavailable` or 429 when it can be tried again.
 */
export async function requestTokens(asked: TokenRequest, now: () => number): Promise<TokenAnswer> {
  const { client, app } = asked;
  const fail = (failure: ProviderFailure) =>
    createProviderError(failure, {
      app: `The sign-in provider of ${app}`,
      action: { level: "read", idempotent: true },
    });
  const { status, text, retryAfter } = await send(asked).catch((error: unknown) => {
    const isUnsent = readNetworkFailure(error).kind === "unreachable";
    const where = URL.parse(client.tokenUrl)?.host;
    const message = isUnsent && !client.isPrivate ? `${where} has to be a public address` : where;
    throw fail({ kind: isUnsent ? "unreachable" : "lost", message });
  });
  const answer = parse(text);
  const refusal = refusalSchema.safeParse(answer);
  if (refusal.success && status !== 429 && status < 500) throw refuse(refusal.data, asked);
  const retryAfterSeconds = readRetryAfter(retryAfter, now());
  if (status === 429 || status >= 500) throw fail({ kind: "status", status, retryAfterSeconds });
  const given = answerSchema.safeParse(answer);
  if (!given.success) throw fail({ kind: "garbage", message: `HTTP status ${status}` });
  const { access_token, refresh_token, expires_in, ...data } = given.data;
  return { accessToken: access_token, refreshToken: refresh_token, lifetimeSeconds: expires_in, data };
}

async function send({ client, params }: TokenRequest) {
  const { tokenUrl, clientId, clientSecret, clientIn, isPrivate } = client;
  const isInHeader = clientIn === "header" && clientSecret !== undefined;
  const form = new URLSearchParams(params);
  if (!isInHeader) form.set("client_id", clientId);
  if (!isInHeader && clientSecret !== undefined) form.set("client_secret", clientSecret);
  const pair = [clientId, clientSecret ?? ""].map(encodeURIComponent).join(":");
  const agent = createAppAgent({ isPrivate, silenceMs: LIMIT_MS });
  try {
    const { statusCode, headers, body } = await request(tokenUrl, {
      dispatcher: agent.dispatcher,
      method: "POST",
      headers: {
        "content-type": "application/x-www-form-urlencoded",
        accept: "application/json",
        ...(isInHeader && { authorization: `Basic ${Buffer.from(pair).toString("base64")}` }),
      },
      body: form.toString(),
      signal: AbortSignal.timeout(LIMIT_MS),
    });
    const retryAfter = [headers["retry-after"]].flat()[0];
    return { status: statusCode, text: (await readText(body, MAX_ANSWER)) ?? "", retryAfter };
  } finally {
    await agent.close();
  }
}

function parse(text: string): unknown {
  // GitHub answers in form fields where it is not asked for JSON by name.
  const fields = text.includes("access_token=") ? Object.fromEntries(new URLSearchParams(text)) : undefined;
  return parseJson(text) ?? fields;
}

function refuse({ error, error_description = "" }: z.output<typeof refusalSchema>, asked: TokenRequest): ServiceError {
  const { app, client, params, setting } = asked;
  const secrets = { ...params, grant_type: "", secret: client.clientSecret };
  const words = cleanText(hideSecrets(`${error_description} (${error})`, secrets), WORDS_MAX);
  const isGrant = /grant|refresh_token|access_denied|token_(?:expired|revoked)/.test(error);
  const what = isGrant ? "The sign-in has ended or was withdrawn" : "The sign-in provider refused the client";
  return new ServiceError(401, "needs_reauth", `${app}: ${what}: ${words}`, {
    type: "auth",
    hint: isGrant
      ? "The owner signs in again: dashboard, Connections, Reconnect."
      : "The owner corrects the client id, its secret and the token address: dashboard, Connections, Reconnect.",
    extra: { setting },
  });
}
