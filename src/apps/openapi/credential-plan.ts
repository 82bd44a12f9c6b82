import { type DescribedArgument, judgeArgument, toWords } from "../../shared/base/credential-name.ts";
import { type SourceContent, toFreeName } from "../port/source-content.ts";
import type { SecurityScheme } from "./openapi-definition.ts";

/** Treatment of an argument that holds a credential. */
export type CredentialUse =
  /** A security scheme of the operation carries the same already. */
  | { readonly kind: "covered" }
  /** The service fills it in from this setting of the connection. */
  | { readonly kind: "setting"; readonly setting: string }
  /** It belongs to no connection, such as the password of an account that the operation makes. */
  | { readonly kind: "foreign" };

type SettingField = SourceContent["settingsForm"][number];

/** An operation, as far as it says whose a credential is. */
export interface JudgedCall {
  /** Alternatives, each a list of schemes that are needed together. */
  readonly security: readonly (readonly string[])[];
  /** True when a caller says by it who it is. */
  readonly signsIn: boolean;
}

/** Which arguments of a document hold credentials of its connection. */
export interface CredentialPlan {
  /** Undefined for an argument that is no credential: it stays one of the model. */
  judge(argument: DescribedArgument, call: JudgedCall): CredentialUse | undefined;
  /** The form fields of the settings that {@link CredentialPlan.judge} named so far; all optional. */
  listFields(): SettingField[];
}

interface PlanParts {
  /** The arguments of each operation, those of its body included. */
  readonly operations: readonly (readonly DescribedArgument[])[];
  /** Every security scheme of the document. */
  readonly schemes: Readonly<Record<string, SecurityScheme>>;
  /** True when calls carry a bearer token although the document does not say so. */
  readonly takesToken: boolean;
}

/** Parameters of a query by which a caller names itself. */
const OF_CALLER =
  /(?:^|_)(?:(?:access|oauth2?|auth|authentication|bearer|api|app|dev|developer)_?token|(?:api|app|application|access|consumer|developer|subscription)_?key|(?:api|app|consumer)_?secret|jwt)$|^(?:token|key|auth|authorization)$/;
/** Names of parameters that a bearer token covers. */
const LIKE_BEARER = /(?:^|_)(?:token|jwt|auth|authorization)$/;
const HELP_MAX = 200;

/**
 * A credential belongs to the connection when it is a header or a cookie, when its name is one that callers identify
 * themselves by, or when at least half of the operations take it; in a body only where the operation signs in, or a security
 * scheme has its name. Others are arguments of their operation.
 */
export function createCredentialPlan({ operations, schemes, takesToken }: PlanParts): CredentialPlan {
  const shared = findShared(operations);
  const fields = new Map<string, SettingField>();
  const taken = new Set(Object.values(schemes).flatMap(({ setting }) => [setting, `${setting}_user`]));
  const settings = new Map<string, string>();

  function nameSetting(argument: DescribedArgument): string {
    const scheme = Object.values(schemes).find((one) => isSame(one, argument));
    if (scheme !== undefined) return scheme.setting;
    const words = toWords(argument.name);
    // Some documents write one header in several ways.
    const key = words.replaceAll("_", "");
    const known = settings.get(key);
    if (known !== undefined) return known;
    const setting = toFreeName(words, (name) => taken.has(name));
    taken.add(setting);
    settings.set(key, setting);
    return setting;
  }

  return {
    judge(argument, { security, signsIn }) {
      const isDeclared = Object.values(schemes).some((scheme) => isSame(scheme, argument));
      const verdict = isDeclared ? "yes" : judgeArgument(argument);
      const words = toWords(argument.name);
      const isShared = shared.has(words);
      if (verdict === "no" || (verdict === "maybe" && !isShared)) return undefined;
      const { place } = argument;
      const isOwn = place === "header" || place === "cookie" || (place === "query" && OF_CALLER.test(words));
      if (!isOwn && !isShared && !isDeclared) return { kind: "foreign" };
      if (isCovered(argument, security, { schemes, takesToken })) return { kind: "covered" };
      // A password in a body is mostly that of an account which is made or changed.
      const isMarked = signsIn || Object.values(schemes).some((scheme) => toWords(scheme.name) === words);
      if (place === "body" && !isMarked) return { kind: "foreign" };
      const setting = nameSetting(argument);
      if (!fields.has(setting)) fields.set(setting, describeField(setting, argument));
      return { kind: "setting", setting };
    },

    listFields: () => [...fields.values()],
  };
}

/** Names of credentials that at least half of the operations take which could. */
function findShared(operations: PlanParts["operations"]): ReadonlySet<string> {
  const counts = new Map<string, { count: number; isOfBody: boolean }>();
  const withBody = operations.filter((all) => all.some(({ place }) => place === "body")).length;
  for (const all of operations) {
    const found = new Map<string, boolean>();
    for (const argument of all) {
      if (judgeArgument(argument) === "no") continue;
      const words = toWords(argument.name);
      found.set(words, (found.get(words) ?? true) && argument.place === "body");
    }
    for (const [words, isOfBody] of found) {
      const known = counts.get(words) ?? { count: 0, isOfBody: true };
      counts.set(words, { count: known.count + 1, isOfBody: known.isOfBody && isOfBody });
    }
  }
  const isShared = ([, { count, isOfBody }]: [string, { count: number; isOfBody: boolean }]) =>
    count * 2 >= (isOfBody ? withBody : operations.length);
  return new Set([...counts].filter(isShared).map(([words]) => words));
}

function isCovered(
  argument: DescribedArgument,
  security: readonly (readonly string[])[],
  { schemes, takesToken }: Pick<PlanParts, "schemes" | "takesToken">,
): boolean {
  const needed = security.flat().map((title) => schemes[title]);
  const isNamed = needed.some((scheme) => scheme !== undefined && isSame(scheme, argument));
  // One that is needed is sent whichever of the ways to sign in is used.
  if (isNamed) return argument.isRequired !== true;
  if (argument.place === "path" || !LIKE_BEARER.test(toWords(argument.name))) return false;
  const hasBearer = (way: readonly string[]) => way.some((title) => /^(bearer|basic)$/.test(schemes[title]?.as ?? ""));
  if (takesToken || (security.length > 0 && security.every(hasBearer))) return true;
  return argument.isRequired !== true && hasBearer(Object.keys(schemes));
}

/** The scheme sends the same credential as this parameter. */
function isSame({ as, name }: SecurityScheme, argument: DescribedArgument): boolean {
  if (as !== argument.place) return false;
  return as === "header" ? name.toLowerCase() === argument.name.toLowerCase() : name === argument.name;
}

const PLACES: Readonly<Record<DescribedArgument["place"], (name: string) => string>> = {
  path: () => "Part of the address of a call.",
  query: (name) => `Sent as the parameter ${name}.`,
  header: (name) => `Sent as the header ${name}.`,
  cookie: (name) => `Sent as the cookie ${name}.`,
  body: (name) => `Sent as ${name} in the body of a call.`,
};

function describeField(name: string, argument: DescribedArgument): SettingField {
  const shown = argument.name.slice(0, HELP_MAX);
  const help = `${PLACES[argument.place](shown)}${quoteDocument(argument.description)}`;
  return { name, label: `${nameKind(argument.name)} “${shown}”`, kind: "secret", optional: true, help };
}

/** The description of a value in a document, for the help of its field; empty when that is nothing, or too long. */
export function quoteDocument(description: unknown): string {
  const given = typeof description === "string" ? description.replaceAll(/\s+/g, " ").trim() : "";
  return given === "" || given.length > HELP_MAX ? "" : ` The document says: “${given}”`;
}

/** The kind of credential that has this name, for people. */
export function nameKind(name: string): string {
  const words = toWords(name);
  if (/key$/.test(words)) return "Key";
  if (/passw|pwd|passphrase/.test(words)) return "Password";
  return /secret/.test(words) ? "Secret" : "Token";
}
