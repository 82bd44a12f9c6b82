import { refuseSetting } from "../../service/service-error.ts";
import type { SignInPlan } from "../port/integration.ts";
import { type OpenApiDefinition, readOpenApiDefinition, type SignInWay } from "./openapi-definition.ts";
import { fillAddress } from "./server-address.ts";

type Settings = Readonly<Record<string, unknown>>;
type Definition = Pick<OpenApiDefinition, "baseUrl" | "variables" | "isPrivate" | "choice" | "ways">;

/** Google gives refresh tokens only to those who ask for them so. */
const OFFLINE = { access_type: "offline", prompt: "consent" };
const isGoogle = (url: string | undefined) => URL.parse(url ?? "")?.host === "accounts.google.com";

/**
 * How a connection to this API is signed in; undefined when it has keys, or needs none.
 *
 * @throws ServiceError 422 `integration_misconfigured` naming the setting that is needed first.
 */
export function planSignIn(definition: Definition, settings: Settings): SignInPlan | undefined {
  const way = findWay(definition, settings);
  for (const need of isChosen(definition, settings) ? (way?.needs ?? []) : []) {
    if (!isGiven(settings[need])) throw refuseSetting(need, "is needed for this way to sign in.");
  }
  if (way?.signIn === undefined) return undefined;
  const { setting, flow, provider, scopesSetting, scopes } = way.signIn;
  const picked = scopesSetting === undefined ? undefined : settings[scopesSetting];
  const fill = (url: string) => (url.includes("{") ? fillAddress({ ...definition, baseUrl: url }, settings) : url);
  return {
    provider: Object.fromEntries(Object.entries(provider).map(([name, url]) => [name, fill(url ?? "")])),
    flow,
    scopes: typeof picked === "string" ? picked.split(/\s+/).filter((scope) => scope !== "") : scopes,
    ...(isGoogle(provider.authUrl ?? provider.issuer) && { params: OFFLINE, keepsRefreshTokens: true }),
    isPrivate: definition.isPrivate,
    sentTo: fill(definition.baseUrl),
    useToken: ({ text }) => ({ ...settings, [setting]: text }),
  };
}

/** True for settings that no call can use before somebody has signed in. */
export function isSignInNeeded(definition: unknown, settings: Settings): boolean {
  return findWay(readOpenApiDefinition(definition), settings)?.signIn !== undefined;
}

/** Without a choice of the owner: the keys that are there, else the likeliest way. */
function findWay({ ways, choice }: Definition, settings: Settings): SignInWay | undefined {
  const chosen = choice === undefined ? undefined : ways.find(({ value }) => value === settings[choice]);
  const hasKeys = ({ signIn, needs }: SignInWay) =>
    signIn === undefined && needs.length > 0 && needs.every((need) => isGiven(settings[need]));
  return chosen ?? ways.find(hasKeys) ?? ways[0];
}

function isChosen({ choice }: Definition, settings: Settings): boolean {
  return choice !== undefined && isGiven(settings[choice]);
}

function isGiven(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}
