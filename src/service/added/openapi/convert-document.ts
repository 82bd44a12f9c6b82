import { isRecord } from "../../../base/json.ts";
import { SvcError } from "../../../errors.ts";
import { type SourceContent, type StoredAction, toDistinctId, toFreeName, toLine } from "../source-content.ts";
import { convertOperation, type DocumentOperation, listArguments } from "./convert-operation.ts";
import type { FindReference } from "./convert-schema.ts";
import { type CredentialPlan, createCredentialPlan, listApiSettings } from "./credential-plan.ts";
import { type OpenApiDefinition, operationCallSchema, type SecurityScheme } from "./openapi-definition.ts";

type Json = Record<string, unknown>;

const METHODS = ["get", "head", "post", "put", "patch", "delete"] as const;
const ID_MAX = 64;
const NAME_MAX = 60;
const DESCRIPTION_MAX = 500;

/** The app made of a document. */
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
  if (!isRecord(document) || !/^3\.[01]\./.test(`${document.openapi}.`)) throw notOpenApi(document);
  const find = createFinder(document);
  const operations = listOperations(document, find, ID_MAX - slug.length - 1);
  const declared = readSchemes(document, find);
  const { takesToken } = given;
  const named = operations.map((operation) => listArguments(operation, find));
  const plan = createCredentialPlan({ operations: named, schemes: declared.schemes, takesToken });
  const { actions: found, notes } = convertOperations(operations, document, { find, plan });
  const actions = takesToken ? found.map(addToken) : found;
  if (actions.length === 0) throw nothingToUse(notes);
  const used = new Set(actions.flatMap(({ call }) => operationCallSchema.parse(call).security.flat()));
  const ofUse = Object.entries(declared.schemes).filter(([title]) => used.has(title));
  const schemes = { ...Object.fromEntries(ofUse), ...(takesToken ? { [TOKEN]: TOKEN_SCHEME } : {}) };
  const schemeNotes = declared.unsupported
    .filter((title) => used.has(title))
    .map((title) => `The security scheme "${title}" is not supported; calls that need it will fail.`);
  const form = listApiSettings(schemes, actions, plan.listFields());
  const info = isRecord(document.info) ? document.info : {};
  const title = typeof info.title === "string" && info.title !== "" ? info.title : slug;
  const name = toLine((given.name ?? title).slice(0, NAME_MAX)) || slug;
  const description = typeof info.description === "string" ? info.description : "";
  return {
    name,
    schemes,
    notes: [...notes, ...schemeNotes],
    content: {
      description: `${name}: ${description.split(/\n\s*\n/)[0] || "an HTTP API."}`.slice(0, DESCRIPTION_MAX),
      category: "api",
      scopes: [],
      ...form,
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

interface ListedOperation extends DocumentOperation {
  /** Where it is called, when it has servers of its own. */
  readonly servers: unknown;
}

function listOperations(document: Json, find: FindReference, maxId: number): ListedOperation[] {
  const found: ListedOperation[] = [];
  for (const [path, given] of Object.entries(isRecord(document.paths) ? document.paths : {})) {
    const item = isRecord(given) && typeof given.$ref === "string" ? find(given.$ref) : given;
    if (!isRecord(item)) continue;
    const shared = Array.isArray(item.parameters) ? item.parameters : [];
    for (const method of METHODS) {
      const operation = item[method];
      if (!isRecord(operation)) continue;
      const servers = operation.servers ?? item.servers;
      found.push({ method, path, operation, shared, security: document.security, maxId, servers });
    }
  }
  return found;
}

function convertOperations(
  operations: readonly ListedOperation[],
  document: Json,
  { find, plan }: { find: FindReference; plan: CredentialPlan },
) {
  const actions = new Map<string, StoredAction>();
  const notes: string[] = [];
  const withheld = new Map<string, number>();
  for (const operation of operations) {
    const { method, path, maxId } = operation;
    const converted = convertOperation(operation, find, plan);
    const elsewhere = findOtherServer(operation.servers, document.servers);
    if (elsewhere !== undefined) {
      notes.push(`${method.toUpperCase()} ${path}: the document has it at ${elsewhere}; it is called like the others.`);
    }
    if (typeof converted === "string") {
      notes.push(converted);
      continue;
    }
    const { action } = converted;
    for (const name of converted.withheld) withheld.set(name, (withheld.get(name) ?? 0) + 1);
    if (!actions.has(action.id)) actions.set(action.id, action);
    else {
      const id = toDistinctId(`${method} ${path}`, maxId);
      notes.push(`${method.toUpperCase()} ${path} is called ${id}: another operation is called ${action.id} too.`);
      actions.set(id, { ...action, id });
    }
  }
  return { actions: [...actions.values()], notes: [...notes, ...describeWithheld(withheld)] };
}

function describeWithheld(withheld: ReadonlyMap<string, number>): string[] {
  return [...withheld].map(([name, count]) => {
    const who = count === 1 ? "One action does" : `${count} actions do`;
    return `${who} without the argument "${name}": it holds a secret, and no model is given one.`;
  });
}

/** Address of an operation that has a server of its own. */
function findOtherServer(own: unknown, shared: unknown): string | undefined {
  const [first] = Array.isArray(own) ? own : [];
  const [usual] = Array.isArray(shared) ? shared : [];
  if (!isRecord(first) || typeof first.url !== "string") return undefined;
  return isRecord(usual) && usual.url === first.url ? undefined : first.url;
}

function readSchemes(document: Json, find: FindReference) {
  const components = isRecord(document.components) ? document.components : {};
  const declared = isRecord(components.securitySchemes) ? components.securitySchemes : {};
  const schemes: Record<string, SecurityScheme> = {};
  const unsupported: string[] = [];
  for (const [title, given] of Object.entries(declared)) {
    const scheme = isRecord(given) && typeof given.$ref === "string" ? find(given.$ref) : given;
    const read = isRecord(scheme) ? readScheme(title, scheme) : undefined;
    if (read === undefined) unsupported.push(title);
    else {
      // Two schemes may differ only in signs that a setting's name cannot have.
      const taken = new Set([TOKEN_SCHEME, ...Object.values(schemes)].map(({ setting }) => setting));
      schemes[title] = { ...read, setting: toFreeName(read.setting, (name) => taken.has(name)) };
    }
  }
  return { schemes, unsupported };
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
      else found = isRecord(found) && Object.hasOwn(found, key) ? found[key] : undefined;
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
  const version = isRecord(document) ? (document.openapi ?? document.swagger) : undefined;
  if (version === undefined) return invalid("This is not an OpenAPI document.");
  return invalid(`OpenAPI ${String(version)} cannot be read; 3.0 and 3.1 can.`);
}

function nothingToUse([first]: readonly string[]): SvcError {
  return invalid(`The document has no operation that can be used.${first === undefined ? "" : ` ${first}`}`);
}

function invalid(message: string): SvcError {
  return new SvcError("invalid_config", message, {
    field: "document",
    hint: "Name a file or an address of an OpenAPI 3.0 or 3.1 document, in JSON or YAML.",
  });
}
