/** Where the authorization server answers ("Authentication" 4). */
export const OAUTH_PATHS = {
  authorize: "/oauth/authorize",
  token: "/oauth/token",
  register: "/oauth/register",
  revoke: "/oauth/revoke",
  jwks: "/oauth/jwks",
  /** Our page where the owner decides. */
  approve: "/oauth/approve",
  authorizationServer: "/.well-known/oauth-authorization-server",
  openidConfiguration: "/.well-known/openid-configuration",
  protectedResource: "/.well-known/oauth-protected-resource",
} as const;
