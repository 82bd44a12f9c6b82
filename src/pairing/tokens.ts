import * as oauth from "oauth4webapi";
import type { SignIn } from "./credential-file.ts";

/** Longest token that is kept; a header holds no more. */
const MAX_LENGTH = 8_192;
/** Seconds by which the clocks of the service and of this machine may differ. */
const CLOCK_TOLERANCE = 300;

/** The client of a sign-in, as the OAuth library wants it: one without a secret. */
export function toClient(clientId: string): oauth.Client {
  return { client_id: clientId, token_endpoint_auth_method: "none", [oauth.clockTolerance]: CLOCK_TOLERANCE };
}

/**
 * The tokens of an answer, as they are stored.
 *
 * @throws TypeError saying what is wrong with them; the text holds none of them
 */
export function readTokens(
  answer: oauth.TokenEndpointResponse,
  now: number,
): Pick<SignIn, "accessToken" | "expiresAt" | "refreshToken"> {
  const { access_token, refresh_token, expires_in, scope, token_type } = answer;
  if (token_type !== "bearer") throw new TypeError("the service gave a token of another kind than bearer");
  if (scope !== undefined && !scope.split(" ").includes("openid")) {
    throw new TypeError("the service did not grant openid, which its MCP endpoint asks for");
  }
  for (const token of [access_token, ...(refresh_token === undefined ? [] : [refresh_token])]) {
    if (token.length <= MAX_LENGTH && /^[\x21-\x7e]+$/.test(token)) continue;
    throw new TypeError("the service gave a token that no request header can carry");
  }
  return {
    accessToken: access_token,
    ...(expires_in === undefined ? {} : { expiresAt: new Date(now + expires_in * 1_000).toISOString() }),
    ...(refresh_token === undefined ? {} : { refreshToken: refresh_token }),
  };
}
