import * as oauth from "oauth4webapi";
import { type AccessTokenSource, SIGN_IN_AGAIN } from "../client/access-token.ts";
import type { ProxySettings } from "../client/create-dispatcher.ts";
import { isSvcError, SvcError } from "../errors.ts";
import type { SignIn } from "./credential-file.ts";
import { explainOAuthFailure } from "./oauth-failure.ts";
import { createOAuthHttp } from "./oauth-http.ts";
import type { SignInStore } from "./sign-in-store.ts";
import { readTokens, toClient } from "./tokens.ts";

/** A token this close to its end is renewed before it is used. */
const RENEW_BEFORE_MS = 60_000;

/** What {@link createTokenSource} needs. */
export interface TokenSourceOptions {
  readonly store: SignInStore;
  /** The stored sign-in. */
  readonly signIn: SignIn;
  readonly proxy?: ProxySettings | undefined;
  readonly now?: (() => number) | undefined;
}

/**
 * The access tokens of a stored sign-in. They are renewed by one caller at a time, over all processes that share the
 * store: a refresh token is good once, and using it twice would end the sign-in. A renewed sign-in that cannot be stored
 * is used from memory, and stored at the next call. Nobody is told of that, unless this process ends before: the stored
 * sign-in is spent then, and the next process says that it has ended and names `svc login`.
 */
export function createTokenSource(options: TokenSourceOptions): AccessTokenSource {
  const { store, now = Date.now } = options;
  const { baseUrl, signInId } = options.signIn;
  let current = options.signIn;
  let unstored: Unstored | undefined;
  let renewing: Promise<string> | undefined;

  const keep = async (signIn: SignIn, over: SignIn) => {
    unstored = { signIn, over };
    // What the refresh token was spent for must not be lost to a full disk.
    const isKnown = await store.renew(signIn).catch(() => undefined);
    if (isKnown === undefined) return;
    unstored = undefined;
    if (!isKnown) throw ended();
  };

  const renew = (refused: string | undefined): Promise<string> => {
    renewing ??= store
      .inTurn(async () => {
        const stored = await store.read();
        if (stored?.signInId !== signInId) throw ended();
        const latest = unstored !== undefined && isSame(unstored.over, stored) ? unstored.signIn : stored;
        // Another process may have been here first.
        const isOther = latest.accessToken !== (refused ?? current.accessToken);
        const isGood = isOther
          ? !endsWithin(latest, 0, now())
          : refused === undefined && !endsWithin(latest, RENEW_BEFORE_MS, now());
        const { refreshToken } = latest;
        const next = isGood || refreshToken === undefined ? latest : await exchange(options, latest, refreshToken);
        if (next === stored) unstored = undefined;
        else await keep(next, stored);
        current = next;
        if (!isGood && next.refreshToken === undefined) throw ended();
        return current.accessToken;
      })
      .catch((error: unknown) => {
        throw asUnsent(error);
      })
      .finally(() => {
        renewing = undefined;
      });
    return renewing;
  };

  return {
    baseUrl,
    signInId,
    async getToken({ signal }) {
      if (unstored === undefined && !endsWithin(current, RENEW_BEFORE_MS, now())) return current.accessToken;
      try {
        return await untilAborted(renew(undefined), signal);
      } catch (error) {
        const isPassing = isSvcError(error)
          ? error.retryable || (unstored !== undefined && error.code === "invalid_config")
          : unstored !== undefined;
        if (isPassing && !endsWithin(current, 0, now())) return current.accessToken;
        throw error;
      }
    },
    async renewToken(refused, { signal }) {
      const token = await untilAborted(renew(refused), signal);
      // Another caller may have been storing just this one.
      return token === refused ? untilAborted(renew(refused), signal) : token;
    },
  };
}

/** A renewed sign-in that could not be stored, and the stored one it belongs in place of. */
interface Unstored {
  readonly signIn: SignIn;
  readonly over: SignIn;
}

function isSame(a: SignIn, b: SignIn): boolean {
  return a.accessToken === b.accessToken && a.refreshToken === b.refreshToken;
}

function endsWithin({ expiresAt }: SignIn, ms: number, now: number): boolean {
  return expiresAt !== undefined && Date.parse(expiresAt) - ms <= now;
}

/**
 * Uses the refresh token. The caller stores what came for it before anybody uses that: a sign-in without a refresh token
 * when the service refuses this one, so that nobody asks again and "svc status" can say where the sign-in was.
 */
async function exchange(
  { proxy, now = Date.now }: TokenSourceOptions,
  stored: SignIn,
  refreshToken: string,
): Promise<SignIn> {
  const { server, clientId, resource, baseUrl } = stored;
  const http = createOAuthHttp({ baseUrl, proxy });
  try {
    http.admit(server.token_endpoint, "token_endpoint");
    const options = { ...http.options(), additionalParameters: { resource } };
    const client = toClient(clientId);
    const response = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), refreshToken, options);
    const tokens = readTokens(await oauth.processRefreshTokenResponse(server, client, response), now());
    const { expiresAt: _old, ...kept } = stored;
    return { ...kept, ...tokens };
  } catch (error) {
    if (isSvcError(error)) throw error;
    const isRefused = error instanceof oauth.ResponseBodyError && error.error === "invalid_grant";
    if (!isRefused) throw renewalFailed(error, refreshToken);
    const { refreshToken: _spent, ...kept } = stored;
    return { ...kept, expiresAt: new Date(now()).toISOString() };
  } finally {
    await http.close();
  }
}

function ended(): SvcError {
  return new SvcError("unauthorized", "The service does not renew this sign-in any more.", { hint: SIGN_IN_AGAIN });
}

function renewalFailed(error: unknown, refreshToken: string): SvcError {
  const message = `The sign-in could not be renewed: ${explainOAuthFailure(error, [refreshToken])}.`;
  const status = readStatus(error);
  if (status !== undefined && (status >= 500 || status === 429))
    return new SvcError("service_failure", message, { status, retryable: true });
  return new SvcError("unauthorized", message, { status, hint: SIGN_IN_AGAIN });
}

function readStatus(error: unknown): number | undefined {
  if (error instanceof oauth.ResponseBodyError || error instanceof oauth.WWWAuthenticateChallengeError)
    return error.status;
  return error instanceof oauth.OperationProcessingError && error.cause instanceof Response
    ? error.cause.status
    : undefined;
}

/** The call that wanted the token was not sent, whatever became of the request for the token. */
function asUnsent(error: unknown): unknown {
  if (!isSvcError(error)) return error;
  return new SvcError(error.code, error.message, { ...error, cause: error.cause, sent: false });
}

/** One caller that gives up does not take the token away from the others. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  const { promise: given, reject } = Promise.withResolvers<never>();
  const stop = () =>
    reject(new SvcError("aborted", "Stopped by the caller while the sign-in was renewed.", { sent: false }));
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([work, given]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
