import { SvcError } from "../../../errors.ts";
import { isPublicHost } from "../../fetch/address-rules.ts";
import { createContent } from "../source-content.ts";
import type { NewSource } from "../source-store.ts";
import { convertDocument } from "./convert-document.ts";
import type { OpenApiDefinition } from "./openapi-definition.ts";
import { readDocument } from "./read-document.ts";
import { findServer, readAddressTemplate } from "./server-address.ts";

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
  };
  const target = `Its calls go to ${definition.baseUrl}.`;
  const whole = createContent({ ...content, settingsForm: [...template.fields, ...content.settingsForm] });
  return { source: { slug, kind: "openapi", name, definition, content: whole }, notes: [target, ...plain, ...notes] };
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
function checkAddress(address: string, { isPrivate }: ApiPlace): string {
  const url = URL.parse(address);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) {
    throw unknownPlace();
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
  if (!isPrivate && !isPublicHost(url.hostname)) {
    throw invalid(`${url.hostname} is not a public host.`, "If you mean a server of your own network, add --private.");
  }
  return url.href;
}

function unknownPlace(): SvcError {
  return invalid("The document does not say where the API is.", "Name its address with --base-url.");
}

function invalid(message: string, hint: string): SvcError {
  return new SvcError("invalid_config", message, { field: "--base-url", hint });
}
