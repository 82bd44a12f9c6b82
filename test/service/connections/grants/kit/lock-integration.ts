import type { OAuthGrant } from "../../../../../src/service/integrations/integration.ts";

/** Settings of a connection that signs in by OAuth2. */
export function createLockSettings(tokenUrl: string, more: Partial<Record<keyof OAuthGrant, string>> = {}) {
  return { tokenUrl, clientId: "lock-client", clientSecret: "lock's secret", refreshToken: "refresh-0", ...more };
}

/** An app whose settings hold a grant and nothing else. */
export const lockApp = {
  slug: "lock",
  name: "Lock",
  findGrant(settings: Readonly<Record<string, unknown>>): OAuthGrant {
    const { tokenUrl, clientId, clientSecret, refreshToken, clientIn } = settings as Record<string, string>;
    return {
      tokenUrl: tokenUrl ?? "",
      clientId: clientId ?? "",
      clientSecret,
      refreshToken: refreshToken ?? "",
      clientIn: clientIn === "header" ? "header" : "body",
      isPrivate: settings.isPrivate !== "no",
      setting: "refreshToken",
      useToken: ({ text, data }) => ({ ...settings, token: text, data }),
    };
  },
};
