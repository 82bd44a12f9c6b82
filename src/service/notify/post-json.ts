import { type Dispatcher, request } from "undici";
import { readNetworkFailure, readRetryAfter } from "../../apps/port/provider-failure.ts";
import { ServiceError } from "../service-error.ts";
import type { Sent } from "./outbox.ts";

/** One message over HTTP; `body` is JSON. */
export interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Longest wait for an answer, in milliseconds. */
const LIMIT_MS = 15_000;
/** Longest answer that is read, in bytes, so that its connection can be used again. */
const MAX_ANSWER = 64 * 1024;

/** Sends a message once. Redirects are not followed. @throws when there is no answer, see {@link explainFailure}. */
export async function postJson(
  { dispatcher, now }: { readonly dispatcher: Dispatcher; readonly now: () => number },
  signal: AbortSignal,
  { url, headers, body }: Post,
): Promise<Sent> {
  const answer = await request(url, {
    dispatcher,
    method: "POST",
    headers: { "content-type": "application/json", "user-agent": "svc", ...headers },
    body,
    signal: AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]),
  });
  const { statusCode: status } = answer;
  await answer.body.dump({ limit: MAX_ANSWER });
  if (status >= 200 && status < 300) return { ok: true };
  if (status >= 300 && status < 400) return { ok: false, reason: `It redirects (${status}), which is not followed.` };
  if (status === 410) return { ok: false, reason: "It wants no more messages (410).", isGone: true };
  const retryAfterSeconds = readRetryAfter([answer.headers["retry-after"]].flat()[0], now());
  return { ok: false, reason: `It answered ${status}.`, retryAfterSeconds };
}

/** Why sending failed, without words of the other side beside those of an app, which the service has cleaned. */
export function explainFailure(error: unknown): string {
  if (error instanceof ServiceError) return error.message;
  if (error instanceof Error && error.name === "TimeoutError") return "It gave no answer in time.";
  const { kind, message } = readNetworkFailure(error);
  const code = message ? ` (${message})` : "";
  return kind === "unreachable" ? `It cannot be reached${code}.` : `It gave no answer${code}.`;
}
