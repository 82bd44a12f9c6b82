import { SvcError } from "../../shared/errors.ts";
import type { NewSource } from "../port/source.ts";
import { createContent } from "../port/source-content.ts";
import { type ApiBase, findAddressProblem, readEndpoint } from "./address-problem.ts";
import { convertDocument, type OwnFacts } from "./convert-document.ts";
import type { OpenApiDefinition, ProviderAddresses } from "./openapi-definition.ts";
import { readDocument } from "./read-document.ts";
import { type SignInFlow, toIssuer } from "./read-schemes.ts";
import { findServer, readAddressTemplate } from "./server-address.ts";

/** An API as the owner names it. */
export interface ApiPlace extends Pick<OwnFacts, "name" | "takesToken"> {
  readonly slug: string;
  /** File path or address of the document. */
  readonly document: string;
  /** Address of the API; default: the first server of the document. */
  readonly baseUrl: string | undefined;
  /** True when its addresses may be those of a private network. */
  readonly isPrivate: boolean;
  /** Addresses of a sign-in that counts instead of those of the document. Default: none. */
  readonly signIn?: ProviderAddresses & { readonly scopes: readonly string[] };
}

/**
 * Reads a document and makes an app of it; needs the memory of the whole document, so it never runs in the service.
 *
 * @returns the app, and one sentence for each thing the owner should know.
 * @throws SvcError `invalid_config` naming the field
 */
export async function prepareOpenApi(place: ApiPlace): Promise<{ source: NewSource; notes: readonly string[] }> {
  const { slug, isPrivate } = place;
  const document = await readDocument(place.document);
  const open = findTemplate(document, place, new Set());
  const base = { address: open.address, parts: open.variables.map(({ name }) => name), isPrivate };
  const signIn = { flows: listGivenFlows(place, base), scopes: place.signIn?.scopes ?? [] };
  const { name, content, schemes, choice, ways, notes } = convertDocument(document, slug, { ...place, base, signIn });
  const taken = new Set(content.settingsForm.map((field) => field.name));
  const template = findTemplate(document, place, taken);
  const baseUrl = template.variables.length === 0 ? checkAddress(template.address, place) : template.address;
  const plain = /^http:/i.test(baseUrl) ? ["They are not encrypted."] : [];
  const definition: OpenApiDefinition = {
    baseUrl: baseUrl.replace(/\/+$/, ""),
    variables: [...template.variables],
    isPrivate,
    origin: describeOrigin(place.document),
    schemes,
    ...(choice !== undefined && { choice }),
    ways,
  };
  const target = `Its calls go to ${definition.baseUrl}.`;
  const whole = createContent({ ...content, settingsForm: [...template.fields, ...content.settingsForm] });
  return {
    source: { slug, kind: "openapi", name, definition, content: whole },
    notes: [target, ...plain, ...describeSignIns(definition), ...notes],
  };
}

/** For each sign-in where the owner goes, and where tokens come from and go to. */
function describeSignIns({ ways, baseUrl }: Pick<OpenApiDefinition, "ways" | "baseUrl">): string[] {
  const host = (url: string) => url.replace(/^([a-z]+:\/\/[^/?#]*).*$/i, "$1");
  const calls = `calls go to ${host(baseUrl)}.`;
  const lines = ways.flatMap(({ signIn }) => {
    if (signIn === undefined) return [];
    const { issuer, authUrl, deviceUrl, tokenUrl } = signIn.provider;
    const page = authUrl ?? deviceUrl;
    if (tokenUrl === undefined)
      return [`${host(issuer ?? "")} says where you sign in and where tokens come from; ${calls}`];
    if (page === undefined) return [`For a client id and secret, tokens come from ${host(tokenUrl)}; ${calls}`];
    return [`You sign in at ${host(page)}; tokens come from ${host(tokenUrl)}; ${calls}`];
  });
  return [...new Set(lines)];
}

const FLAGS = {
  authUrl: "--auth-url",
  tokenUrl: "--token-url",
  deviceUrl: "--device-url",
  issuer: "--issuer",
} as const;

/** The ways to sign in that the owner gave addresses for. */
function listGivenFlows({ signIn = { scopes: [] } }: ApiPlace, base: ApiBase): SignInFlow[] {
  const read = (member: keyof typeof FLAGS) => {
    const given = signIn[member];
    const address = given === undefined ? undefined : readEndpoint(given, { ...base, address: "" });
    if (address === undefined || "url" in address) return address?.url;
    throw invalid(address.problem, address.hint, FLAGS[member]);
  };
  const [authUrl, tokenUrl, deviceUrl, named] = [read("authUrl"), read("tokenUrl"), read("deviceUrl"), read("issuer")];
  const issuer = named === undefined ? {} : { issuer: toIssuer(named) };
  const page = authUrl ?? deviceUrl;
  if (tokenUrl === undefined) {
    if (page !== undefined) throw invalid("Nothing says where tokens come from.", "Name the address.", FLAGS.tokenUrl);
    return named === undefined ? [] : [{ flow: "code", provider: issuer }];
  }
  const provider = { ...issuer, tokenUrl };
  return [
    ...(authUrl === undefined ? [] : [{ flow: "code", provider: { ...provider, authUrl } } as const]),
    ...(deviceUrl === undefined ? [] : [{ flow: "device", provider: { ...provider, deviceUrl } } as const]),
    ...(page === undefined ? [{ flow: "client", provider } as const] : []),
  ];
}

/** Where a document came from, without what may be a key in its address. */
function describeOrigin(document: string): string {
  const url = URL.parse(document);
  if (url === null) return document.split(/[\\/]/).at(-1) ?? "";
  for (const part of ["username", "password", "search", "hash"] as const) url[part] = "";
  return url.href;
}

/** The address as the owner or the document gives it; each part that is left open becomes a setting. */
function findTemplate(document: unknown, { baseUrl, document: place }: ApiPlace, taken: ReadonlySet<string>) {
  const server = findServer(document);
  const given = baseUrl === undefined ? server : { url: baseUrl, variables: server?.variables };
  if (given === undefined) throw unknownPlace();
  const template = readAddressTemplate(given, taken);
  const from = /^https?:/i.test(place) ? place : undefined;
  if (template.variables.length === 0) {
    return { ...template, address: URL.parse(template.address, from)?.href ?? template.address };
  }
  if (from !== undefined && template.address.startsWith("/")) {
    return { ...template, address: new URL(from).origin + template.address };
  }
  if (!/^(https?:\/\/|\{)/i.test(template.address)) throw unknownPlace();
  return template;
}

/** Checks an address without open parts; one with open parts is checked when they are given. */
function checkAddress(address: string, place: ApiPlace): string {
  const url = URL.parse(address);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) throw unknownPlace();
  const found = findAddressProblem(url, { ...place, takesQuery: false });
  if (found !== undefined) throw invalid(found.problem, found.hint);
  return url.href;
}

function unknownPlace(): SvcError {
  return invalid("The document does not say where the API is.", "Name its address with --base-url.");
}

function invalid(message: string, hint: string, field = "--base-url"): SvcError {
  return new SvcError("invalid_config", message, { field, hint });
}
