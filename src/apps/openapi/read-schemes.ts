import { isRecord } from "../../shared/base/json.ts";
import { toFreeName } from "../port/source-content.ts";
import { type ApiBase, readEndpoint } from "./address-problem.ts";
import type { FindReference } from "./convert-schema.ts";
import type { OpenApiDefinition, ProviderAddresses, SecurityScheme, SignInWay } from "./openapi-definition.ts";

type Json = Record<string, unknown>;

/** One way to get an access token. */
export interface SignInFlow {
  readonly flow: NonNullable<SignInWay["signIn"]>["flow"];
  readonly provider: ProviderAddresses;
}

/** A sign-in that a document has or the owner named. */
export interface SignIn {
  readonly flows: readonly SignInFlow[];
  /** Descriptions by name; empty ones where there is none. */
  readonly scopes: ReadonlyMap<string, string>;
}

/** The security schemes of a document. */
export interface ReadSchemes {
  readonly schemes: OpenApiDefinition["schemes"];
  /** Those of the schemes that are signed in to. */
  readonly signIns: ReadonlyMap<string, SignIn>;
  /** Names of schemes that are the same sign-in as another one, with the name of that. */
  readonly aliases: ReadonlyMap<string, string>;
  readonly unsupported: readonly string[];
  /** One sentence for each sign-in that is not used. */
  readonly notes: readonly string[];
}

interface SchemeRules {
  readonly base: ApiBase;
  /** The flows that the owner named; they stand for all of the document. */
  readonly given: readonly SignInFlow[];
  /** Settings that mean something else. */
  readonly taken: readonly string[];
}

/** Reads every security scheme of a document. Sign-ins at one origin are one: a token of it serves all of them. */
export function readSchemes(document: Json, find: FindReference, { base, given, taken }: SchemeRules): ReadSchemes {
  const components = isRecord(document.components) ? document.components : {};
  const declared = isRecord(components.securitySchemes) ? components.securitySchemes : {};
  const schemes: Record<string, SecurityScheme> = {};
  const found: FoundSignIn[] = [];
  const unsupported: string[] = [];
  for (const [title, one] of Object.entries(declared)) {
    const scheme = isRecord(one) && typeof one.$ref === "string" ? find(one.$ref) : one;
    const read = isRecord(scheme) ? readScheme(title, scheme) : undefined;
    if (!isRecord(scheme) || read === undefined) {
      unsupported.push(title);
      continue;
    }
    // Two schemes may differ only in signs that a setting's name cannot have.
    const known = new Set([...taken, ...Object.values(schemes).map(({ setting }) => setting)]);
    schemes[title] = { ...read, setting: toFreeName(read.setting, (name) => known.has(name)) };
    if (scheme.type === "oauth2" || scheme.type === "openIdConnect") found.push(readSignIn(title, scheme, base));
  }
  const united = uniteSignIns(found, given);
  if (united.signIns.has(OWN_SIGN_IN)) schemes[OWN_SIGN_IN] ??= { setting: "own", as: "bearer", name: "" };
  // A token that was pasted for the same scheme must not be taken for one of a sign-in.
  for (const title of united.signIns.keys()) {
    const scheme = schemes[title];
    if (scheme !== undefined) schemes[title] = { ...scheme, setting: `${scheme.setting}_sign_in` };
  }
  return { schemes, unsupported, ...united };
}

function readScheme(title: string, scheme: Json): SecurityScheme | undefined {
  const setting = title.replaceAll(/[^A-Za-z0-9]+/g, "_").toLowerCase();
  const type = String(scheme.type);
  if (type === "apiKey" && typeof scheme.name === "string") {
    const place = scheme.in === "query" || scheme.in === "cookie" ? scheme.in : "header";
    return { setting, as: place, name: scheme.name };
  }
  if (type === "http" && /^basic$/i.test(String(scheme.scheme))) return { setting, as: "basic", name: "" };
  const isBearer = type === "http" && /^bearer$/i.test(String(scheme.scheme));
  if (isBearer || type === "oauth2" || type === "openIdConnect") return { setting, as: "bearer", name: "" };
  return undefined;
}

interface FoundSignIn extends SignIn {
  readonly title: string;
  /** The same for all that are one; undefined for one without an address. */
  readonly origin: string | undefined;
  /** Why it cannot be used, a sentence; undefined when nothing is said against it. */
  readonly problem: string | undefined;
}

/** The flows of the standard that are used, by their names in documents, with the addresses that each needs. */
const FLOWS: Readonly<Record<string, { flow: SignInFlow["flow"]; needs: readonly (keyof typeof MEMBERS)[] }>> = {
  authorizationCode: { flow: "code", needs: ["authUrl", "tokenUrl"] },
  clientCredentials: { flow: "client", needs: ["tokenUrl"] },
  deviceAuthorization: { flow: "device", needs: ["deviceUrl", "tokenUrl"] },
  "x-deviceAuthorization": { flow: "device", needs: ["deviceUrl", "tokenUrl"] },
};
const MEMBERS = { authUrl: "authorizationUrl", tokenUrl: "tokenUrl", deviceUrl: "deviceAuthorizationUrl" };

function readSignIn(title: string, scheme: Json, base: ApiBase): FoundSignIn {
  const declared =
    scheme.type === "openIdConnect"
      ? [{ name: "openIdConnect", scopes: {}, ...readIssuer(scheme.openIdConnectUrl, base) }]
      : Object.entries(isRecord(scheme.flows) ? scheme.flows : {}).flatMap(([name, flow]) =>
          isRecord(flow) ? [{ name, scopes: flow.scopes, ...readFlow(name, flow, base) }] : [],
        );
  const scopes = declared.flatMap((one) => Object.entries(isRecord(one.scopes) ? one.scopes : {}));
  const names = declared.map(({ name }) => name).join(", ");
  const problem = declared.find((one) => one.problem !== undefined)?.problem;
  return {
    title,
    origin: declared.find(({ origin }) => origin !== undefined)?.origin,
    flows: declared.flatMap(({ found }) => (found === undefined ? [] : [found])),
    scopes: new Map(scopes.map(([name, text]) => [name, typeof text === "string" ? text : ""])),
    problem: problem ?? (names === "" ? undefined : `its kind (${names}) is out of use.`),
  };
}

/** A flow, or why it cannot be used. Its origin is known also of one that is not used. */
function readFlow(name: string, flow: Json, base: ApiBase) {
  const read = (member: keyof typeof MEMBERS) => {
    const given = flow[MEMBERS[member]];
    return typeof given === "string" ? readEndpoint(given, base) : undefined;
  };
  const page = read("authUrl") ?? read("deviceUrl") ?? read("tokenUrl");
  const origin = page !== undefined && "url" in page ? originOf(page.url) : undefined;
  const known = Object.hasOwn(FLOWS, name) ? FLOWS[name] : undefined;
  if (known === undefined) return { origin };
  const addresses: Record<string, string> = {};
  for (const member of known.needs) {
    const address = read(member);
    if (address === undefined) return { origin, problem: `it lacks the address ${MEMBERS[member]}.` };
    if ("problem" in address) return { origin, problem: `${address.problem} ${address.hint}` };
    addresses[member] = address.url;
  }
  return { origin, found: { flow: known.flow, provider: addresses } };
}

function readIssuer(given: unknown, base: ApiBase) {
  const url = typeof given === "string" ? readEndpoint(given, base) : undefined;
  if (url === undefined) return { problem: "it lacks its address." };
  if ("problem" in url) return { problem: `${url.problem} ${url.hint}` };
  const issuer = toIssuer(url.url);
  return { origin: originOf(issuer), found: { flow: "code" as const, provider: { issuer } } };
}

/** The issuer whose metadata are at this address; an issuer is given back as it is. */
export function toIssuer(address: string): string {
  return address.replace(/\/\.well-known\/(?:openid-configuration|oauth-authorization-server)/, "");
}

function originOf(address: string): string | undefined {
  return /^[a-z]+:\/\/[^/?#]*/i.exec(address)?.[0];
}

/** Title of the sign-in that the owner named for a document without one. */
const OWN_SIGN_IN = "Sign-in";

function uniteSignIns(found: readonly FoundSignIn[], given: readonly SignInFlow[]) {
  const signIns = new Map<string, SignIn>();
  const aliases = new Map<string, string>();
  const notes: string[] = [];
  const isGiven = given.length > 0;
  const groups = Map.groupBy(found, ({ origin, title }) => (isGiven ? "" : (origin ?? `“${title}”`)));
  if (isGiven && groups.size === 0) signIns.set(OWN_SIGN_IN, { flows: given, scopes: new Map() });
  for (const group of groups.values()) {
    const named = group.find(({ flows }) => flows.length > 0) ?? group[0];
    if (named === undefined) continue;
    for (const { title } of group) if (title !== named.title) aliases.set(title, named.title);
    const scopes = new Map(group.flatMap((one) => [...one.scopes]));
    const flows = isGiven ? given : group.flatMap((one) => one.flows);
    if (flows.length > 0) signIns.set(named.title, { flows: dropEqual(flows), scopes });
    else if (named.problem !== undefined) {
      notes.push(`The sign-in “${named.title}” is not used: ${named.problem} A token that you paste takes its place.`);
    }
  }
  return { signIns, aliases, notes };
}

function dropEqual(flows: readonly SignInFlow[]): SignInFlow[] {
  return [...new Map(flows.map((flow) => [JSON.stringify(flow), flow])).values()];
}
