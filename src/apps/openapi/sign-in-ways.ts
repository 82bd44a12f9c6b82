import type { SourceContent, StoredAction } from "../port/source-content.ts";
import type { OpenApiDefinition, SignInWay } from "./openapi-definition.ts";
import type { SignIn, SignInFlow } from "./read-schemes.ts";

type SettingField = SourceContent["settingsForm"][number];

/** A sign-in with the scopes that are asked for unless the owner picks others. */
interface ScopedSignIn extends SignIn {
  readonly chosenScopes: readonly string[];
}

/** The parts of a document that its connect form is made of. */
export interface FormParts {
  /** The schemes that actions use, by name. */
  readonly schemes: OpenApiDefinition["schemes"];
  readonly signIns: ReadonlyMap<string, ScopedSignIn>;
  readonly actions: readonly StoredAction[];
  /** Fields of credentials that no scheme describes; all optional. */
  readonly more: readonly SettingField[];
}

/** How a place of a key is called. */
export const PLACES = { header: "header", query: "parameter", cookie: "cookie" };
/** Longest name that is shown of what a document names. */
export const TITLE_MAX = 60;

/** A way to sign in, as the owner is offered it. */
export interface OfferedWay extends SignInWay {
  readonly label: string;
  /** True when every action can be used with it. */
  readonly opensAll: boolean;
  /** Names of its schemes. */
  readonly titles: readonly string[];
}

/** The ways of all actions, those that open most of them first. */
export function listWays(
  parts: FormParts,
  needs: readonly string[][][],
  fields: ReadonlyMap<string, readonly SettingField[]>,
): OfferedWay[] {
  const { schemes, signIns } = parts;
  const ways = new Map<string, readonly string[]>();
  for (const way of needs.flat()) {
    const isUsable = way.length > 0 && way.every((title) => Object.hasOwn(schemes, title));
    // A connection has one sign-in.
    if (isUsable && way.filter((title) => signIns.has(title)).length < 2) ways.set(way.toSorted().join("\n"), way);
  }
  const opens = (way: readonly string[]) =>
    needs.filter((all) => all.length === 0 || all.some((one) => one.every((title) => way.includes(title)))).length;
  const counted = [...ways.values()].map((way) => ({ way, count: opens(way) })).sort((a, b) => b.count - a.count);
  const options = counted.flatMap(({ way, count }) => {
    const title = way.find((one) => signIns.has(one));
    const flows = (title === undefined ? undefined : signIns.get(title)?.flows) ?? [undefined];
    const rest = count < needs.length ? ` (for ${count} of ${needs.length} actions)` : "";
    return flows.map((flow) => {
      const label = way.map((one) => nameScheme(one, parts, flow)).join(" and ") + rest;
      const names = way.map((one) => schemes[one]?.setting).join("+");
      const value = flow === undefined ? names : `${names}:${flow.flow}`;
      const keys = way.filter((one) => one !== title).flatMap((one) => fields.get(one) ?? []);
      return {
        value,
        label,
        opensAll: rest === "",
        titles: way,
        needs: keys.map(({ name }) => name),
        ...describeSignIn(title, flow, { ...parts, fields }),
      };
    });
  });
  return makeDistinct(options);
}

function describeSignIn(
  title: string | undefined,
  flow: SignInFlow | undefined,
  { schemes, signIns, fields }: FormParts & { fields: ReadonlyMap<string, readonly SettingField[]> },
): Pick<SignInWay, "signIn"> {
  const scheme = title === undefined ? undefined : schemes[title];
  if (title === undefined || scheme === undefined || flow === undefined) return {};
  const scopes = [...(signIns.get(title)?.chosenScopes ?? [])];
  const scopesSetting = fields.get(title)?.[0]?.name;
  return {
    signIn: { ...flow, setting: scheme.setting, scopes, ...(scopesSetting !== undefined && { scopesSetting }) },
  };
}

/** Two ways may have the same words, such as two tokens: then the document's own names tell them apart. */
function makeDistinct(options: readonly OfferedWay[]): OfferedWay[] {
  const isAlone = ({ label }: OfferedWay) => options.filter((one) => one.label === label).length === 1;
  return options.map((one) =>
    isAlone(one) ? one : { ...one, label: `${one.label} ${one.titles.map(quote).join(" and ")}` },
  );
}

/** A scheme in words, at the beginning of a sentence. */
export function nameScheme(
  title: string,
  { schemes, signIns }: FormParts,
  flow = signIns.get(title)?.flows[0],
): string {
  const { as, name } = schemes[title] ?? { as: "bearer", name: "" };
  if (flow !== undefined && signIns.has(title)) return nameFlow(flow);
  if (as === "basic") return "User name and password";
  return as === "bearer" ? "Token" : `Key in the ${PLACES[as]} ${name.slice(0, TITLE_MAX)}`;
}

function nameFlow({ flow, provider }: SignInFlow): string {
  const { issuer, authUrl, deviceUrl, tokenUrl } = provider;
  const host = (url: string | undefined) => (url ?? issuer ?? "").replace(/^[a-z]+:\/\/([^/?#]*).*$/i, "$1");
  if (flow === "client") return `Client id and secret of an app at ${host(tokenUrl)}`;
  if (flow === "device") return `Sign in at ${host(deviceUrl)} on another device, with a code`;
  return `Sign in at ${host(authUrl)}`;
}

/** The document's own name for a scheme. */
export function quote(title: string): string {
  return `“${title.slice(0, TITLE_MAX)}”`;
}
