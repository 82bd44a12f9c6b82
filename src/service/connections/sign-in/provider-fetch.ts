import { type ProviderFailure, readNetworkFailure, readRetryAfter } from "../../../apps/port/provider-failure.ts";
import { isRecord, parseJson } from "../../../shared/base/json.ts";
import { readText } from "../../fetch/read-body.ts";

/** Longest answer, bytes. */
const MAX_ANSWER = 256 * 1024;
const LIMIT_MS = 15_000;
/** Seconds that a token may be said to last at most: what is longer is a mistake of the provider. */
const MAX_LIFETIME = 10 * 365 * 24 * 3600;

/** A request to a sign-in provider that got no answer of the protocol. */
export class ProviderFetchError extends Error {
  override readonly name = "ProviderFetchError";
  readonly failure: ProviderFailure;

  constructor(failure: ProviderFailure, cause?: unknown) {
    super(failure.message ?? failure.kind, { cause });
    this.failure = failure;
  }
}

interface ProviderRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** An HTTP client in the form that `oauth4webapi` takes. */
export type ProviderFetch = (url: string, request: ProviderRequest) => Promise<Response>;

/**
 * Sends requests to sign-in providers through the guard against private addresses: each for at most 15 seconds, with at
 * most 256 KiB of answer, following no redirect. Rejects with {@link ProviderFetchError} where the network fails and for
 * 3xx, 429 and 5xx. Answers that providers write in ways of their own are put into the form of RFC 6749.
 *
 * @param isPrivate true when addresses may be those of a private network, and without encryption
 * @param limit ends requests sooner, for several that have one time limit
 */
export function createProviderFetch(isPrivate: boolean, limit?: AbortSignal): ProviderFetch {
  return async (url, { method, headers, body }) => {
    const { request } = await import("undici");
    const { createAppAgent } = await import("../../fetch/guarded-connector.ts");
    const agent = createAppAgent({ isPrivate, silenceMs: LIMIT_MS });
    try {
      const answer = await request(url, {
        dispatcher: agent.dispatcher,
        method: method as "GET" | "POST",
        headers,
        signal: AbortSignal.any([AbortSignal.timeout(LIMIT_MS), ...(limit === undefined ? [] : [limit])]),
        ...(body === undefined || body === null ? {} : { body: String(body) }),
      });
      const text = await readText(answer.body, MAX_ANSWER);
      if (text === undefined)
        throw new ProviderFetchError({ kind: "garbage", message: `more than ${MAX_ANSWER} bytes` });
      return toResponse(answer.statusCode, [answer.headers["retry-after"]].flat()[0], text);
    } catch (error) {
      if (error instanceof ProviderFetchError) throw error;
      throw new ProviderFetchError(describeFailure(url, error, isPrivate), error);
    } finally {
      await agent.close();
    }
  };
}

/** The same for the library: `send` may change answers before it sees them. */
export async function createRequestOptions(isPrivate: boolean, send: ProviderFetch = createProviderFetch(isPrivate)) {
  const { customFetch, allowInsecureRequests } = await import("oauth4webapi");
  return { [customFetch]: send, [allowInsecureRequests]: isPrivate };
}

function describeFailure(url: string, error: unknown, isPrivate: boolean): ProviderFailure {
  const { kind } = readNetworkFailure(error);
  const where = URL.parse(url)?.host ?? "";
  if (kind !== "unreachable") return { kind: "lost", message: where };
  return { kind, message: isPrivate ? where : `${where} has to be a public address` };
}

function toResponse(status: number, retryAfter: string | undefined, text: string): Response {
  if (status === 429 || status >= 500) {
    const retryAfterSeconds = readRetryAfter(retryAfter, Date.now());
    throw new ProviderFetchError({ kind: "status", status, retryAfterSeconds });
  }
  if (status >= 300 && status < 400) {
    throw new ProviderFetchError({ kind: "garbage", message: "it redirects to another address" });
  }
  // GitHub answers in form fields where it is not asked for JSON by name.
  const isForm = /^(?:\w+=[^&]*&)*(?:access_token|error)=/.test(text);
  const answer = parseJson(text) ?? (isForm ? Object.fromEntries(new URLSearchParams(text)) : undefined);
  if (!isRecord(answer)) return new Response(text === "" ? null : text, { status });
  const isRefusal = typeof answer.error === "string" && typeof answer.access_token !== "string";
  // GitHub and Slack refuse with status 200.
  const shown = isRefusal ? 400 : status;
  return Response.json("access_token" in answer ? toTokenAnswer(answer) : answer, { status: shown });
}

/** Slack calls a token "bot", others leave the type out, or give numbers as text. */
function toTokenAnswer(answer: Record<string, unknown>): Record<string, unknown> {
  const { token_type: type, expires_in: lifetime, refresh_token: refresh, scope, ...others } = answer;
  const seconds = Number(lifetime);
  const isKnown = typeof type === "string" && /^(bearer|dpop|mac|n_a|pop)$/i.test(type);
  return {
    ...others,
    token_type: isKnown ? type : "bearer",
    ...(seconds > 0 && seconds <= MAX_LIFETIME && { expires_in: seconds }),
    ...(typeof refresh === "string" && refresh !== "" && { refresh_token: refresh }),
    ...(typeof scope === "string" && { scope }),
  };
}
