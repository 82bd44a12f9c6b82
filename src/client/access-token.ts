import { isSvcError, SvcError } from "../errors.ts";
import { createDeadline } from "./deadline.ts";
import { describeFailure } from "./describe-failure.ts";
import { nameRequest } from "./name-request.ts";
import { redact } from "./redact.ts";
import type { ApiReply } from "./reply.ts";
import { startStopwatch } from "./stopwatch.ts";

/** Limits of one look for a token. */
interface TokenOptions {
  readonly signal?: AbortSignal | undefined;
}

/** Access tokens of one OAuth sign-in, for the MCP endpoint ("Authentication" 4). */
export interface AccessTokenSource {
  /** Base URL of the service that was signed in to; its tokens go nowhere else. */
  readonly baseUrl: string;
  /** Non-secret name of the sign-in, another one for every sign-in. */
  readonly signInId: string;
  /**
   * A token that has not expired by the clock of this machine, renewed first when it is about to.
   *
   * @throws SvcError with `sent` false: `unauthorized` when the sign-in has ended, or why it could not be renewed
   */
  getToken(options: TokenOptions): Promise<string>;
  /** A token other than `refused`, which the service did not accept. Throws like {@link getToken}. */
  renewToken(refused: string, options: TokenOptions): Promise<string>;
}

/** What to do when a sign-in has come to its end. */
export const SIGN_IN_AGAIN = 'The sign-in has ended or was withdrawn: sign in again with "svc login".';

/** What to do when a sign-in gave no token, and nothing says that it has ended. */
export const SIGN_IN_LATER = 'Try again; if it stays so, sign in again with "svc login".';

/** A call that is sent with a token. */
interface TokenCall {
  send(token: string, remainingMs: number): Promise<ApiReply>;
  readonly label: string;
  /** For the tokens and the requests together. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  readonly now: () => number;
}

/**
 * Sends with a token, and once more with a renewed one when the service says by its challenge that it did not accept
 * the first: such an answer comes before anything else is looked at, so that even a write may be sent again. A source
 * that gives no token is waited for no longer than the call may take.
 *
 * @throws SvcError `unauthorized` when no token is accepted; with `sent` false `timeout` or `aborted` when none came,
 *   and `unauthorized` when the source failed or what it gave is no token
 */
export async function sendWithToken(source: AccessTokenSource, call: TokenCall): Promise<ApiReply> {
  const { signal } = call;
  const elapsed = startStopwatch(call.now);
  const remaining = () => Math.max(1, call.timeoutMs - elapsed());
  const token = await awaitToken(source, call, remaining(), () => source.getToken({ signal }));
  const reply = await call.send(token, remaining());
  if (reply.status !== 401) return reply;
  if (!isTokenRefusal(reply)) throw refused(reply);
  const renewed = await awaitToken(source, call, remaining(), () => source.renewToken(token, { signal }));
  const again = await call.send(renewed, remaining());
  if (again.status === 401) throw refused(again);
  return again;
}

/** What the source is asked for goes on without us: others may wait for the same renewal. */
async function awaitToken(
  { baseUrl }: AccessTokenSource,
  { label, signal }: TokenCall,
  timeoutMs: number,
  ask: () => Promise<string>,
): Promise<string> {
  const deadline = createDeadline({ timeoutMs, uploadBytes: 0, signal });
  const { promise: given, reject } = Promise.withResolvers<never>();
  const stop = () => {
    const request = { label, origin: baseUrl, timeoutMs, secrets: [] };
    reject(describeFailure(deadline.signal.reason, request, { started: false, bodyError: undefined }));
  };
  if (deadline.signal.aborted) stop();
  deadline.signal.addEventListener("abort", stop, { once: true });
  try {
    const token: unknown = await Promise.race([given, ask()]);
    if (isToken(token)) return token;
    throw noToken(nameRequest("The sign-in gave no access token that can be sent.", label));
  } catch (error) {
    if (isSvcError(error)) throw error;
    const code = error instanceof Error && "code" in error ? `: ${String(error.code)}` : "";
    throw noToken(nameRequest(`The sign-in failed to give an access token${code}.`, label), error);
  } finally {
    deadline.clear();
  }
}

/** What can stand in a header; a source is the caller's own code. */
function isToken(value: unknown): value is string {
  return typeof value === "string" && /^[\x21-\x7e]+$/.test(value);
}

function noToken(message: string, error?: unknown): SvcError {
  const cause = error instanceof Error ? new Error(redact(error.message)) : undefined;
  return new SvcError("unauthorized", redact(message), {
    hint: SIGN_IN_LATER,
    sent: false,
    cause,
  });
}

/** RFC 6750, 3: the challenge of the endpoint itself, as opposed to a 401 of something in between. */
function isTokenRefusal({ headers }: ApiReply): boolean {
  return /^\s*bearer\b/i.test(headers["www-authenticate"] ?? "");
}

function refused({ label }: ApiReply): SvcError {
  return new SvcError("unauthorized", nameRequest("The service did not accept this sign-in.", label), {
    status: 401,
    hint: SIGN_IN_AGAIN,
    sent: true,
  });
}
