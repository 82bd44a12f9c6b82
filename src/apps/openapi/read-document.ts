import { readFile } from "node:fs/promises";
import { dirname, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { isRecord, parseJson } from "../../shared/base/json.ts";
import { SvcError } from "../../shared/errors.ts";
import { convertDiscovery, isDiscovery } from "./convert-discovery.ts";
import { readAddress } from "./read-address.ts";

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
export async function readDocument(place: string): Promise<unknown> {
  const { $RefParser, JSONParserErrorGroup, MissingPointerError } = await import("@apidevtools/json-schema-ref-parser");
  const reader = createDocumentReader(place, MAX_DOCUMENT);
  const parser = new $RefParser();
  const options = {
    resolve: reader.resolvers,
    // One reference that leads nowhere is no reason to do without all other operations.
    continueOnError: true,
    resolveExcludedPathMatcher: isData,
    bundle: { excludedPathMatcher: isData },
  };
  try {
    await parser.bundle(place, options).catch((cause: unknown) => {
      const errors = cause instanceof JSONParserErrorGroup ? cause.errors : [cause];
      const fatal = errors.find((error) => !(error instanceof MissingPointerError));
      if (fatal !== undefined) throw fatal;
    });
    return await upgrade(checkSize(parser.schema));
  } catch (cause) {
    if (cause instanceof SvcError) throw cause;
    throw unreadable(reader.problem ?? firstLine(cause), cause);
  }
}

/** Members whose names are names of the document, not words of OpenAPI. */
const NAMED = new Set([
  ...[
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
    "dependentSchemas",
    "schemas",
    "parameters",
    "headers",
  ],
  ...["paths", "webhooks", "responses", "requestBodies", "securitySchemes", "links", "callbacks", "pathItems"],
  ...["content", "encoding", "variables", "mapping", "examples"],
]);
/** Members that hold values, not schemas: what looks like a reference there is none. */
const DATA = new Set(["example", "default", "const", "enum", "value", "dataValue"]);

/** True for a place of a document, as a JSON pointer, whose value is an example or another piece of data. */
function isData(pointer: string): boolean {
  let isName = false;
  for (const part of pointer.split("/").slice(1)) {
    const isWord: boolean = !isName;
    if (isWord && (DATA.has(part) || part.startsWith("x-"))) return true;
    isName = isWord && NAMED.has(part);
  }
  return false;
}

/** A document of Swagger 2.0 as one of OpenAPI 3.0; any other as it is. */
async function upgrade(document: unknown): Promise<unknown> {
  if (!isRecord(document) || document.swagger === undefined) return document;
  if (!String(document.swagger).startsWith("2."))
    throw new Error(`Swagger ${document.swagger} is too old; 2.0 can be read`);
  const { upgradeFromTwoToThree } = await import("@scalar/openapi-upgrader/2.0-to-3.0");
  const { schemes, host } = document;
  const isPlain = Array.isArray(schemes) && schemes.length > 0 && !schemes.includes("https");
  markCollections(document);
  return upgradeFromTwoToThree({
    // Without a host the API is where its document is.
    ...(host === undefined && { basePath: "/" }),
    ...document,
    schemes: isPlain ? schemes : ["https"],
  });
}

/** Keeps how lists are joined ("collectionFormat"), of which the upgrade loses the default and some of the rest. */
function markCollections(document: Record<string, unknown>): void {
  const items = Object.values(isRecord(document.paths) ? document.paths : {}).filter(isRecord);
  const holders = [...items, ...items.flatMap((item) => Object.values(item)).filter(isRecord)];
  const lists = holders.flatMap(({ parameters }) => (Array.isArray(parameters) ? parameters : []));
  for (const parameter of [...lists, ...Object.values(isRecord(document.parameters) ? document.parameters : {})]) {
    if (!isRecord(parameter) || parameter.type !== "array") continue;
    const isNested = isRecord(parameter.items) && parameter.items.type === "array";
    parameter["x-collection-format"] = isNested ? "lists in lists" : (parameter.collectionFormat ?? "csv");
  }
}

/** The bytes of a document that Google wrote as bytes that the parser knows; any others as they are. */
function readGoogle(bytes: Buffer): Buffer {
  const document = bytes.includes("discovery#restDescription") ? parseJson(bytes.toString("utf8")) : undefined;
  return isDiscovery(document) ? Buffer.from(JSON.stringify(convertDiscovery(document)), "utf8") : bytes;
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
    hint: "Name a file or an address of an OpenAPI 3, Swagger 2.0 or Google Discovery document.",
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
      if (answer.ok) return isRoot ? readGoogle(answer.bytes) : answer.bytes;
      problem ??= answer.problem;
      throw new Error(problem, { cause: answer.cause });
    },
  };
  const file = {
    order: 2,
    canRead: (wanted: WantedFile) =>
      !isHttp(wanted) && allow(root === null && isBeside(rootPath, toPath(wanted)), wanted),
    read: async (wanted: WantedFile) => readGoogle(await readFile(toPath(wanted))),
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
