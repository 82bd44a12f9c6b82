import { SvcError } from "../errors.ts";
import type { ApiReply } from "./reply.ts";

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

/**
 * Sends with a token, and once more with a renewed one when the service says by its challenge that it did not accept
 * the first: such an answer comes before anything else is looked at, so that even a write may be sent again.
 *
 * @throws SvcError `unauthorized` when no token is accepted
 */
export async function sendWithToken(
  source: AccessTokenSource,
  send: (token: string) => Promise<ApiReply>,
  options: TokenOptions,
): Promise<ApiReply> {
  const token = await source.getToken(options);
  const reply = await send(token);
  if (reply.status !== 401) return reply;
  if (!isTokenRefusal(reply)) throw refused(reply);
  const again = await send(await source.renewToken(token, options));
  if (again.status === 401) throw refused(again);
  return again;
}

/** RFC 6750, 3: the challenge of the endpoint itself, as opposed to a 401 of something in between. */
function isTokenRefusal({ headers }: ApiReply): boolean {
  return /^\s*bearer\b/i.test(headers["www-authenticate"] ?? "");
}

function refused({ label }: ApiReply): SvcError {
  return new SvcError("unauthorized", `${label}: the service did not accept this sign-in.`, {
    status: 401,
    hint: SIGN_IN_AGAIN,
    sent: true,
  });
}
