import { z } from "zod";
import { type AllowedHosts, isOwnHost } from "../../../fetch/allowed-hosts.ts";

import { refuseSetting } from "../../../service-error.ts";
import type { OAuthGrant } from "../../integration.ts";

const text = z.string().trim().min(1);
const schema = z.looseObject({
  tokenUrl: text,
  clientId: text,
  /** Public clients have none. */
  clientSecret: z.string().min(1).optional(),
  refreshToken: text,
});

const NEEDED: Readonly<Record<string, string>> = {
  tokenUrl: "is needed to sign in with OAuth2: the address where the provider gives tokens.",
  clientId: "is needed to sign in with OAuth2: the provider gave it when you registered your own app there.",
  refreshToken: "is needed to sign in with OAuth2: the service gets access tokens with it.",
};

/**
 * The renewed sign-in of a mailbox on a server; undefined when its settings say nothing of one. Throws ServiceError 422
 * `integration_misconfigured` naming the setting that is wrong. Without encryption only addresses of this machine and of
 * `allowed` are asked.
 */
export function findMailGrant(
  settings: Readonly<Record<string, unknown>>,
  allowed: AllowedHosts | undefined,
): OAuthGrant | undefined {
  if (settings.signIn !== "oauth2") return undefined;
  const parsed = schema.safeParse(settings);
  if (!parsed.success) {
    const setting = String(parsed.error.issues[0]?.path[0] ?? "refreshToken");
    throw refuseSetting(setting, NEEDED[setting] ?? "has a value that cannot be used.");
  }
  const { clientId, clientSecret, refreshToken } = parsed.data;
  const { url, isPrivate } = readTokenUrl(parsed.data.tokenUrl, allowed);
  return {
    tokenUrl: url.href,
    clientId,
    clientSecret,
    clientIn: "body",
    isPrivate,
    refreshToken,
    setting: "refreshToken",
    useToken: ({ text: password }) => ({ ...settings, password }),
  };
}

function readTokenUrl(
  address: string,
  allowed: AllowedHosts | undefined,
): { readonly url: URL; readonly isPrivate: boolean } {
  const url = URL.parse(address);
  if (url === null || !["https:", "http:"].includes(url.protocol) || url.username !== "" || url.password !== "")
    throw refuseSetting("tokenUrl", "must be an address, for example https://oauth2.googleapis.com/token.");
  const isPrivate = isOwnHost(url, allowed);
  if (url.protocol === "http:" && !isPrivate)
    throw refuseSetting(
      "tokenUrl",
      `is not encrypted, which only an address of this machine may be. Use https, or start the service with --allow-host ${url.hostname}:${url.port || 80}.`,
    );
  return { url, isPrivate };
}
