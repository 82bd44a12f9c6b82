import { SvcError } from "../../../errors.ts";
import { toDistinctId } from "../action-id.ts";
import type { SourceContent, StoredAction } from "../source-content.ts";
import { listApiSettings } from "./api-settings.ts";
import { convertOperation } from "./convert-operation.ts";
import { type FindReference, isObject } from "./convert-schema.ts";
import { type OpenApiDefinition, operationCallSchema, type SecurityScheme } from "./openapi-definition.ts";

type Json = Record<string, unknown>;

const METHODS = ["get", "head", "post", "put", "patch", "delete"] as const;
const ID_MAX = 64;
const NAME_MAX = 60;
const DESCRIPTION_MAX = 500;

/** What a document was made into. */
export interface ConvertedDocument {
  readonly name: string;
  readonly content: SourceContent;
  readonly schemes: OpenApiDefinition["schemes"];
  /** One sentence for each operation that was left out or renamed. */
  readonly notes: readonly string[];
}

/**
 * Makes actions of every operation of an OpenAPI 3.0 or 3.1 document whose references all lead into itself.
 *
 * @throws SvcError `invalid_config`, field `document`, for anything else
 */
export function convertDocument(
  document: unknown,
  slug: string,
  given: { readonly name: string | undefined; readonly takesToken: boolean },
): ConvertedDocument {
  if (!isObject(document) || !/^3\.[01]\./.test(`${document.openapi}.`)) throw notOpenApi(document);
  const find = createFinder(document);
  const { actions: found, notes } = convertOperations(document, find, ID_MAX - slug.length - 1);
  const actions = given.takesToken ? found.map(addToken) : found;
  if (actions.length === 0) throw invalid("The document has no operation that can be used.");
  const used = new Set(actions.flatMap(({ call }) => operationCallSchema.parse(call).security.flat()));
  const { schemes: declared, notes: schemeNotes } = readSchemes(document, used, find);
  const schemes = given.takesToken ? { ...declared, [TOKEN]: TOKEN_SCHEME } : declared;
  const info = isObject(document.info) ? document.info : {};
  const title = typeof info.title === "string" && info.title !== "" ? info.title : slug;
  const name = (given.name ?? title).slice(0, NAME_MAX);
  const description = typeof info.description === "string" ? info.description : "";
  return {
    name,
    schemes,
    notes: [...notes, ...schemeNotes],
    content: {
      description: `${name}: ${description.split(/\n\s*\n/)[0] || "an HTTP API."}`.slice(0, DESCRIPTION_MAX),
      category: "api",
      scopes: [],
      ...listApiSettings(schemes, actions),
      actions,
    },
  };
}

/** Some documents do not say that their API takes a token. */
const TOKEN = "Access token";
const TOKEN_SCHEME: SecurityScheme = { setting: "access_token", as: "bearer", name: "" };

function addToken(action: StoredAction): StoredAction {
  const call = operationCallSchema.parse(action.call);
  const others = call.security.length === 0 ? [[]] : call.security;
  return { ...action, call: { ...call, security: [[TOKEN], ...others] } };
}

function convertOperations(document: Json, find: FindReference, maxId: number) {
  const actions = new Map<string, StoredAction>();
  const notes: string[] = [];
  for (const [path, given] of Object.entries(isObject(document.paths) ? document.paths : {})) {
    const item = isObject(given) && typeof given.$ref === "string" ? find(given.$ref) : given;
    if (!isObject(item)) continue;
    const shared = Array.isArray(item.parameters) ? item.parameters : [];
    for (const method of METHODS) {
      const operation = item[method];
      if (!isObject(operation)) continue;
      const action = convertOperation({ method, path, operation, shared, security: document.security, maxId }, find);
      const elsewhere = findOtherServer(operation.servers ?? item.servers, document.servers);
      if (elsewhere !== undefined) {
        notes.push(
          `${method.toUpperCase()} ${path}: the document has it at ${elsewhere}; it is called like the others.`,
        );
      }
      if (typeof action === "string") notes.push(action);
      else if (!actions.has(action.id)) actions.set(action.id, action);
      else {
        const id = toDistinctId(`${method} ${path}`, maxId);
        notes.push(`${method.toUpperCase()} ${path} is called ${id}: another operation is called ${action.id} too.`);
        actions.set(id, { ...action, id });
      }
    }
  }
  return { actions: [...actions.values()], notes };
}

/** Address of an operation that has a server of its own. */
function findOtherServer(own: unknown, shared: unknown): string | undefined {
  const [first] = Array.isArray(own) ? own : [];
  const [usual] = Array.isArray(shared) ? shared : [];
  if (!isObject(first) || typeof first.url !== "string") return undefined;
  return isObject(usual) && usual.url === first.url ? undefined : first.url;
}

function readSchemes(document: Json, used: ReadonlySet<string>, find: FindReference) {
  const components = isObject(document.components) ? document.components : {};
  const declared = isObject(components.securitySchemes) ? components.securitySchemes : {};
  const schemes: Record<string, SecurityScheme> = {};
  const notes: string[] = [];
  for (const [title, given] of Object.entries(declared)) {
    if (!used.has(title)) continue;
    const scheme = isObject(given) && typeof given.$ref === "string" ? find(given.$ref) : given;
    const read = isObject(scheme) ? readScheme(title, scheme) : undefined;
    if (read === undefined)
      notes.push(`The security scheme "${title}" is not supported; calls that need it will fail.`);
    else schemes[title] = { ...read, setting: chooseSetting(read.setting, schemes) };
  }
  return { schemes, notes };
}

/** Two schemes may differ only in signs that a setting's name cannot have. */
function chooseSetting(wanted: string, schemes: Readonly<Record<string, SecurityScheme>>): string {
  const taken = new Set([TOKEN_SCHEME, ...Object.values(schemes)].map(({ setting }) => setting));
  let name = wanted;
  for (let count = 2; taken.has(name); count += 1) name = `${wanted}_${count}`;
  return name;
}

function readScheme(title: string, scheme: Json): SecurityScheme | undefined {
  const setting = title.replaceAll(/[^A-Za-z0-9]+/g, "_").toLowerCase();
  const type = String(scheme.type);
  if (type === "apiKey" && typeof scheme.name === "string") {
    const place = scheme.in === "query" || scheme.in === "cookie" ? scheme.in : "header";
    return { setting, as: place, name: scheme.name };
  }
  if (type === "http" && /^basic$/i.test(String(scheme.scheme))) return { setting, as: "basic", name: "" };
  // For OAuth the owner gets a token where the API gives them out, and pastes it.
  const isBearer = type === "http" && /^bearer$/i.test(String(scheme.scheme));
  if (isBearer || type === "oauth2" || type === "openIdConnect") return { setting, as: "bearer", name: "" };
  return undefined;
}

/** Finds by JSON pointer (RFC 6901) below the document. */
function createFinder(document: Json): FindReference {
  return (pointer) => {
    if (!pointer.startsWith("#/")) return undefined;
    let found: unknown = document;
    for (const part of pointer.slice(1).split("/").slice(1)) {
      const key = decode(part).replaceAll("~1", "/").replaceAll("~0", "~");
      if (Array.isArray(found)) found = found[Number(key)];
      else found = isObject(found) && Object.hasOwn(found, key) ? found[key] : undefined;
    }
    return found;
  };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function notOpenApi(document: unknown): SvcError {
  const version = isObject(document) ? (document.openapi ?? document.swagger) : undefined;
  if (version === undefined) return invalid("This is not an OpenAPI document.");
  return invalid(`OpenAPI ${String(version)} cannot be read; 3.0 and 3.1 can.`);
}

function invalid(message: string): SvcError {
  return new SvcError("invalid_config", message, {
    field: "document",
    hint: "Name a file or an address of an OpenAPI 3.0 or 3.1 document, in JSON or YAML.",
  });
}
