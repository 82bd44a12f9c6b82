import { readFile } from "node:fs/promises";
import { dirname, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { SvcError } from "../../../errors.ts";
import { isPublicHost } from "../../fetch/address-rules.ts";
import { createContent } from "../source-content.ts";
import type { NewSource } from "../source-store.ts";
import { convertDocument } from "./convert-document.ts";
import type { OpenApiDefinition } from "./openapi-definition.ts";
import { readAddress } from "./read-address.ts";
import { findServer, readAddressTemplate } from "./server-address.ts";

/** An API as the owner names it. */
export interface ApiPlace {
  readonly slug: string;
  /** File path or address of the document. */
  readonly document: string;
  /** Display name; default: the document's title. */
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

/** Longest document, bytes: the largest public ones have about 13 MB. */
const MAX_DOCUMENT = 64 * 1024 * 1024;

/**
 * Reads an OpenAPI document and everything it refers to into one value whose references all lead into itself.
 *
 * References may lead only to documents beside it: see {@link createDocumentReader}.
 *
 * @param place path of a file, or http(s) address, of JSON or YAML.
 * @throws SvcError `invalid_config`, field `document`
 */
async function readDocument(place: string): Promise<unknown> {
  const { default: SwaggerParser } = await import("@apidevtools/swagger-parser");
  const reader = createDocumentReader(place, MAX_DOCUMENT);
  try {
    const document: unknown = await SwaggerParser.bundle(place, { resolve: reader.resolvers });
    return checkSize(document);
  } catch (cause) {
    if (cause instanceof SvcError) throw cause;
    throw unreadable(reader.problem ?? firstLine(cause), cause);
  }
}

function checkSize(document: unknown): unknown {
  const { length } = JSON.stringify(document) ?? "";
  if (length <= MAX_DOCUMENT) return document;
  throw new SvcError("invalid_config", `The document has ${length} characters; ${MAX_DOCUMENT} are the most.`, {
    field: "document",
  });
}

function firstLine(cause: unknown): string {
  return cause instanceof Error ? (cause.message.split("\n")[0] ?? "") : "";
}

function unreadable(reason: string, cause: unknown): SvcError {
  return new SvcError("invalid_config", `The document cannot be read: ${reason.replace(/\.?\s*$/, ".")}`, {
    field: "document",
    hint: "Name a file or an address of an OpenAPI 3.0 or 3.1 document, in JSON or YAML.",
    cause,
  });
}

/** One file the parser wants: an address, or a path written as one. */
interface WantedFile {
  readonly url: string;
}

/**
 * A document is text from outside, and what it refers to ends up in schemas that agents are shown. So a document at an
 * address may refer to its own origin only, and one in a file to files below its own folder, hidden ones excepted.
 *
 * @param place path of a file, or http(s) address.
 * @param maxBytes of each file.
 */
function createDocumentReader(place: string, maxBytes: number) {
  const root = /^https?:/i.test(place) ? URL.parse(place) : null;
  const rootPath = /^file:/i.test(place) ? fileURLToPath(place) : resolve(place);
  let problem: string | undefined;

  function allow(isAllowed: boolean, { url }: WantedFile): boolean {
    if (!isAllowed) {
      const own = root === null ? "files below its own folder" : `addresses of ${root.origin}`;
      problem ??= `it refers to ${url}, and may refer only to ${own}; put everything into one document first`;
    }
    return isAllowed;
  }

  const http = {
    order: 1,
    canRead: (file: WantedFile) =>
      isHttp(file) && allow(root !== null && URL.parse(file.url)?.origin === root.origin, file),
    async read(file: WantedFile) {
      const isRoot = withoutFragment(file.url) === withoutFragment(root?.href ?? "");
      const answer = await readAddress(file.url, { maxBytes, redirect: isRoot ? "follow" : "error" });
      if (answer.ok) return answer.bytes;
      problem ??= answer.problem;
      throw new Error(problem, { cause: answer.cause });
    },
  };
  const file = {
    order: 2,
    canRead: (wanted: WantedFile) =>
      !isHttp(wanted) && allow(root === null && isBeside(rootPath, toPath(wanted)), wanted),
    read: (wanted: WantedFile) => readFile(toPath(wanted)),
  };
  return {
    /** For the parser, in place of its own. */
    resolvers: { file, http },
    /** Why something was not read, a sentence; undefined when the parser has its own words for it. */
    get problem() {
      return problem;
    },
  };
}

function isHttp({ url }: WantedFile): boolean {
  return /^https?:/i.test(url);
}

/** Half-written escapes are part of a name. */
function toPath({ url }: WantedFile): string {
  if (/^file:/i.test(url)) return fileURLToPath(url);
  try {
    return resolve(decodeURIComponent(url));
  } catch {
    return resolve(url);
  }
}

function isBeside(rootPath: string, path: string): boolean {
  if (path === rootPath) return true;
  const parts = relative(dirname(rootPath), path).split(sep);
  return parts.every((part) => part !== "" && !part.startsWith("."));
}

function withoutFragment(url: string): string {
  return url.replace(/#.*$/s, "");
}
