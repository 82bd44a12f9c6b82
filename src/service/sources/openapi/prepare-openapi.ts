import { SvcError } from "../../../errors.ts";
import { isPublicHost } from "../../fetch/address-rules.ts";
import type { NewSource } from "../source-store.ts";
import { convertDocument } from "./convert-document.ts";
import { isObject } from "./convert-schema.ts";
import type { OpenApiDefinition } from "./openapi-definition.ts";
import { readDocument } from "./read-document.ts";

/** What the owner says about an API. */
export interface ApiPlace {
  readonly slug: string;
  /** File path or address of the document. */
  readonly document: string;
  /** What people call it; default: the document's title. */
  readonly name: string | undefined;
  /** Address of the API; default: the first server of the document. */
  readonly baseUrl: string | undefined;
  /** True when the address may be one of a private network. */
  readonly isPrivate: boolean;
  /** True when calls may carry a bearer token although the document does not say so. */
  readonly takesToken: boolean;
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
  const { name, content, schemes, notes } = convertDocument(document, slug, place);
  const baseUrl = findBaseUrl(document, place);
  if (!isPrivate && !isPublicHost(baseUrl.hostname)) {
    throw invalid(
      `${baseUrl.hostname} is not a public host.`,
      "If you mean a server of your own network, add --private.",
    );
  }
  const plain = baseUrl.protocol === "http:" ? ["They are not encrypted."] : [];
  const definition: OpenApiDefinition = {
    baseUrl: baseUrl.href.replace(/\/+$/, ""),
    isPrivate,
    origin: describeOrigin(place.document),
    schemes,
  };
  const target = `Its calls go to ${definition.baseUrl}.`;
  return { source: { slug, kind: "openapi", name, definition, content }, notes: [target, ...plain, ...notes] };
}

/** Where a document came from, without what may be a key in its address. */
function describeOrigin(document: string): string {
  const url = URL.parse(document);
  if (url === null) return document.split(/[\\/]/).at(-1) ?? "";
  for (const part of ["username", "password", "search", "hash"] as const) url[part] = "";
  return url.href;
}

function findBaseUrl(document: unknown, { baseUrl, document: place, isPrivate }: ApiPlace): URL {
  const given = baseUrl ?? readServer(document);
  const from = /^https?:/i.test(place) ? place : undefined;
  const url = given === undefined ? null : URL.parse(given, from);
  if (given !== undefined && /[{}]/.test(given)) {
    throw invalid(`The document leaves parts of the address ${given} open.`, "Name the whole address with --base-url.");
  }
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) {
    throw invalid("The document does not say where the API is.", "Name its address with --base-url.");
  }
  if (url.username || url.password || url.search || url.hash) {
    throw invalid(
      `${url.origin}${url.pathname} is to be the address alone.`,
      "Leave out user, password, query and fragment.",
    );
  }
  if (url.protocol === "http:" && !isPrivate) {
    throw invalid(
      `${url.origin} is not encrypted.`,
      "Use https; a server of your own network may use http with --private.",
    );
  }
  return url;
}

/** Address of the first server, its variables filled with their defaults. */
function readServer(document: unknown): string | undefined {
  const [server] = isObject(document) && Array.isArray(document.servers) ? document.servers : [];
  if (!isObject(server) || typeof server.url !== "string") return undefined;
  const variables = isObject(server.variables) ? server.variables : {};
  return server.url.replaceAll(/\{([^{}]+)\}/g, (whole, name: string) => {
    const variable = variables[name];
    return isObject(variable) && typeof variable.default === "string" ? variable.default : whole;
  });
}

function invalid(message: string, hint: string): SvcError {
  return new SvcError("invalid_config", message, { field: "--base-url", hint });
}
