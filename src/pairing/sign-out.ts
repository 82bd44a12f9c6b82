import * as oauth from "oauth4webapi";
import type { ProxySettings } from "../client/create-dispatcher.ts";
import type { SignIn } from "./credential-file.ts";
import { createOAuthHttp } from "./oauth-http.ts";
import type { SignInStore } from "./sign-in-store.ts";
import { toClient } from "./tokens.ts";

/** What {@link signOut} did. */
export interface SignOutReport {
  /** Address of the service whose sign-in was forgotten; undefined when there was none. */
  readonly baseUrl: string | undefined;
  /** True when the service has ended the sign-in too; false where it offers no way to, or could not be asked. */
  readonly isRevoked: boolean;
}

/** Ends the stored sign-in: at the service where it offers revocation (RFC 7009), and here in any case. */
export async function signOut(store: SignInStore, proxy?: ProxySettings): Promise<SignOutReport> {
  if ((await store.read()) === undefined) return { baseUrl: undefined, isRevoked: false };
  return store.inTurn(async () => {
    const stored = await store.read();
    if (stored === undefined) return { baseUrl: undefined, isRevoked: false };
    const isRevoked = await revokeSignIn(stored, proxy).catch(() => false);
    await store.clear();
    return { baseUrl: stored.baseUrl, isRevoked };
  });
}

/** Lets the service forget a sign-in; false where it offers no revocation. Throws when it cannot be asked. */
export async function revokeSignIn(signIn: SignIn, proxy?: ProxySettings): Promise<boolean> {
  const { server, clientId, refreshToken, accessToken, baseUrl } = signIn;
  if (server.revocation_endpoint === undefined) return false;
  const http = createOAuthHttp({ baseUrl, proxy });
  try {
    http.admit(server.revocation_endpoint, "revocation_endpoint");
    const token = refreshToken ?? accessToken;
    const response = await oauth.revocationRequest(server, toClient(clientId), oauth.None(), token, http.options());
    await oauth.processRevocationResponse(response);
    return true;
  } finally {
    await http.close();
  }
}
