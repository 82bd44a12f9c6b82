import { SvcError } from "../errors.ts";
import type { AccessTokenSource } from "./access-token.ts";
import { nameRequest } from "./name-request.ts";

/** What an endpoint takes ("Authentication"): an API key, a key or an OAuth access token, or nothing. */
export type CredentialNeed = "key" | "key_or_token" | "none";

/** What a client has. */
interface Credentials {
  readonly apiKey: string | undefined;
  /** Used where a token is accepted, when there is no key. */
  readonly accessToken: AccessTokenSource | undefined;
}

/** What one call is sent with. */
type Access =
  | { readonly type: "open" }
  | { readonly type: "key"; readonly apiKey: string }
  | { readonly type: "token"; readonly source: AccessTokenSource };

/**
 * Chooses what a call is sent with.
 *
 * @throws SvcError `credentials_missing` when the client has nothing that the endpoint takes; nothing is sent then
 */
export function chooseAccess(
  { apiKey, accessToken }: Credentials,
  need: CredentialNeed = "key",
  label: string,
): Access {
  if (need === "none") return { type: "open" };
  if (apiKey !== undefined) return { type: "key", apiKey };
  if (accessToken === undefined) {
    const message = nameRequest("This client has no API key, so nothing was sent.", label);
    throw new SvcError("credentials_missing", message, {
      hint: 'Pair this device first ("svc pair"), or pass apiKey.',
      sent: false,
    });
  }
  if (need === "key_or_token") return { type: "token", source: accessToken };
  throw needsKey("This", label);
}

/**
 * The refusal of what an OAuth sign-in cannot do: its tokens are good for the MCP endpoint only. `what` begins the
 * sentence, such as `Sending a file`; `label` names the request that was not made.
 */
export function needsKey(what: string, label: string): SvcError {
  const message = nameRequest(`${what} needs an API key, and there is only an OAuth sign-in.`, label);
  return new SvcError("credentials_missing", message, { hint: 'Pair this device for a key: "svc pair".', sent: false });
}
