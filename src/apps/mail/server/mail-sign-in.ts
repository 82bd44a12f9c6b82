import { z } from "zod";
import { type AllowedHosts, isOwnHost } from "../../../service/fetch/address-rules.ts";
import { refuseSetting } from "../../../service/service-error.ts";
import type { SignInPlan } from "../../port/integration.ts";
import { readMailSettings } from "../mail-settings.ts";
import { SIGN_INS } from "./server-settings.ts";

type Settings = Readonly<Record<string, unknown>>;
type Preset = Pick<SignInPlan, "provider" | "scopes" | "params" | "keepsRefreshTokens">;

/** Providers whose addresses are known. `openid` and `email` let the owner see which account was signed in. */
const PRESETS: Readonly<Partial<Record<(typeof SIGN_INS)[number], Preset>>> = {
  google: {
    provider: {
      name: "Google",
      authUrl: "https://accounts.google.com/o/oauth2/v2/auth",
      tokenUrl: "https://oauth2.googleapis.com/token",
      revokeUrl: "https://oauth2.googleapis.com/revoke",
    },
    scopes: ["https://mail.google.com/", "openid", "email"],
    // A refresh token is given only to those who ask for it so.
    params: { access_type: "offline", prompt: "consent" },
    keepsRefreshTokens: true,
  },
  microsoft: {
    provider: {
      name: "Microsoft",
      authUrl: "https://login.microsoftonline.com/common/oauth2/v2.0/authorize",
      tokenUrl: "https://login.microsoftonline.com/common/oauth2/v2.0/token",
    },
    scopes: [
      "offline_access",
      "https://outlook.office.com/IMAP.AccessAsUser.All",
      "https://outlook.office.com/SMTP.Send",
      "openid",
      "email",
      "profile",
    ],
    // To ask for consent again is refused to users for whom an administrator has given it.
    params: { prompt: "select_account" },
    keepsRefreshTokens: true,
  },
};

const text = z.string().trim().min(1).optional().catch(undefined);
const schema = z.looseObject({
  signIn: z.enum(SIGN_INS).catch("password"),
  issuer: text,
  authUrl: text,
  tokenUrl: text,
  scopes: text,
});

/**
 * How a mailbox on a server is signed in with OAuth2; undefined when its settings say nothing of it. `login_hint` names the
 * account that is meant.
 *
 * @throws ServiceError 422 `integration_misconfigured` naming the setting.
 */
export function findMailSignIn(settings: Settings, allowed: AllowedHosts | undefined): SignInPlan | undefined {
  const own = schema.parse(settings);
  const preset = PRESETS[own.signIn];
  if (preset === undefined && own.signIn !== "oauth2") return undefined;
  const { params, ...plan } = preset ?? planOwn(own, allowed);
  return {
    isPrivate: false,
    ...plan,
    flow: "code",
    params: { ...params, login_hint: readMailSettings(settings).address },
    sentTo: `https://${String(settings.imapHost)}`,
    useToken: ({ text: password }) => ({ ...settings, password }),
  };
}

/** A provider that the owner names: its issuer, or its two addresses. The sign-in page is opened by the browser only. */
function planOwn(
  { issuer, authUrl, tokenUrl, scopes = "" }: z.output<typeof schema>,
  allowed: AllowedHosts | undefined,
): Preset & Pick<SignInPlan, "isPrivate"> {
  if (issuer === undefined && authUrl === undefined && tokenUrl === undefined)
    throw refuseSetting("issuer", "is needed to sign in, or else both addresses of the provider.");
  for (const [name, url] of Object.entries({ authUrl, tokenUrl })) {
    if (issuer === undefined && url === undefined) throw refuseSetting(name, "is needed to sign in with OAuth2.");
  }
  const given = Object.entries({ issuer, authUrl, tokenUrl }).flatMap(([name, url]) =>
    url === undefined ? [] : [{ name, url, isPrivate: checkAddress(name, url, allowed) }],
  );
  return {
    provider: Object.fromEntries(given.map(({ name, url }) => [name, url])),
    scopes: scopes.split(/\s+/).filter((scope) => scope !== ""),
    isPrivate: given.every(({ name, isPrivate }) => isPrivate || name === "authUrl"),
  };
}

/** True for an address of this machine, or of a host that the owner allowed. */
function checkAddress(name: string, address: string, allowed: AllowedHosts | undefined): boolean {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "")
    throw refuseSetting(name, "must be an address, for example https://provider.example.org.");
  const isPrivate = isOwnHost(url, allowed);
  if (url.protocol === "http:" && !isPrivate)
    throw refuseSetting(
      name,
      `is not encrypted, which only an address of this machine may be. Use https, or start the service with --allow-host ${url.hostname}:${url.port || 80}.`,
    );
  return isPrivate;
}
