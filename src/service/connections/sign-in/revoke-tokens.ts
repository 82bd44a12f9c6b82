import type { AuthorizationServer } from "oauth4webapi";
import { createProviderFetch } from "./provider-fetch.ts";
import { listAuths } from "./request-tokens.ts";
import type { SignInRecord } from "./sign-in-record.ts";

/**
 * Withdraws the tokens of a sign-in at its provider (RFC 7009), where it has an address for that. Never rejects: the
 * connection is gone whatever the provider says.
 */
export async function revokeTokens({ provider, tokens }: Pick<SignInRecord, "provider" | "tokens">): Promise<void> {
  const { server, client, isPrivate } = provider;
  if (server.revocation_endpoint === undefined) return;
  const oauth = await import("oauth4webapi");
  const options = {
    [oauth.customFetch]: createProviderFetch(isPrivate),
    [oauth.allowInsecureRequests]: isPrivate,
  };
  const asked = { client_id: client.clientId };
  const [auth = oauth.None()] = await listAuths(provider);
  const token = tokens.refreshToken ?? tokens.accessToken;
  try {
    await oauth.revocationRequest(server as AuthorizationServer, asked, auth, token, options);
  } catch {
    // Nothing more can be done about it.
  }
}
