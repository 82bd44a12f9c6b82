import { isRecord } from "../../shared/base/json.ts";
import { SvcError } from "../../shared/errors.ts";
import { type SourceContent, type StoredAction, toDistinctId, toLine } from "../port/source-content.ts";
import type { ApiBase } from "./address-problem.ts";
import { convertOperation, type DocumentOperation, listArguments } from "./convert-operation.ts";
import type { FindReference } from "./convert-schema.ts";
import { type CredentialPlan, createCredentialPlan } from "./credential-plan.ts";
import { type OpenApiDefinition, operationCallSchema, type SecurityScheme } from "./openapi-definition.ts";
import { type ReadSchemes, readSchemes, type SignInFlow } from "./read-schemes.ts";
import { findServer, toPlainAddress } from "./server-address.ts";
import { createSignInForm } from "./sign-in-form.ts";
import { chooseScopes, listScopes } from "./sign-in-scopes.ts";

type Json = Record<string, unknown>;

const METHODS = ["get", "head", "post", "put", "patch", "delete"] as const;
const OTHER_METHODS = ["options", "trace", "query"];
const ID_MAX = 64;
const NAME_MAX = 60;
const DESCRIPTION_MAX = 500;

/** The app made of a document. */
export interface ConvertedDocument extends Pick<OpenApiDefinition, "schemes" | "choice" | "ways"> {
  readonly name: string;
  readonly content: SourceContent;
  /** One sentence for each operation that was left out or renamed. */
  readonly notes: readonly string[];
}

/** Facts of the owner that a document does not have, or has wrong. */
export interface OwnFacts {
  readonly name: string | undefined;
  /** True when calls may carry a bearer token although the document does not say so. */
  readonly takesToken: boolean;
  /** How an account is signed in, in place of what the document says. Default: as it says. */
  readonly signIn?: { readonly flows: readonly SignInFlow[]; readonly scopes: readonly string[] };
}

/**
 * Makes actions of every operation of an OpenAPI 3.0, 3.1 or 3.2 document whose references all lead into itself.
 *
 * @throws SvcError `invalid_config`, field `document`, for anything else
 */
export function convertDocument(
  document: unknown,
  slug: string,
  given: OwnFacts & { readonly base: ApiBase },
): ConvertedDocument {
  if (!isRecord(document) || !/^3\.[012]\./.test(`${document.openapi}.`)) throw notOpenApi(document);
  const find = createFinder(document);
  const { takesToken, signIn, base } = given;
  const flows = signIn?.flows ?? [];
  const declared = readSchemes(document, find, { base, taken: [TOKEN_SCHEME.setting], given: flows });
  const operations = listOperations(document, find, { maxId: ID_MAX - slug.length - 1, aliases: declared.aliases });
  const others = listOtherMethods(document, find);
  const named = operations.map((operation) => listArguments(operation, find));
  const plan = createCredentialPlan({ operations: named, schemes: declared.schemes, takesToken });
  const { actions: found, notes } = convertOperations(operations, document, { find, plan });
  const [own] = flows.length > 0 ? declared.signIns.keys() : [];
  const withSignIn = own === undefined || isNamed(found, own) ? found : found.map((action) => addWay(action, own));
  const actions = takesToken ? withSignIn.map((action) => addWay(action, TOKEN)) : withSignIn;
  if (actions.length === 0) throw nothingToUse(notes);
  const used = new Set(actions.flatMap(({ call }) => operationCallSchema.parse(call).security.flat()));
  const all = Object.entries({ ...declared.schemes, ...(takesToken && { [TOKEN]: TOKEN_SCHEME }) });
  const schemes = Object.fromEntries(all.filter(([title]) => used.has(title)));
  const signIns = scopeSignIns(declared, operations, signIn?.scopes ?? []);
  const form = createSignInForm({ schemes, signIns, actions, more: plan.listFields() });
  return {
    schemes,
    ways: form.ways,
    ...(form.choice !== undefined && { choice: form.choice }),
    notes: [...declared.notes, ...notes, ...others, ...describeUnsupported(declared, used)],
    ...describeApp(document, slug, given.name, { ...form.content, actions }),
  };
}

function describeApp(
  document: Json,
  slug: string,
  given: string | undefined,
  content: Pick<SourceContent, "settingsForm" | "settingsHelp" | "actions">,
): Pick<ConvertedDocument, "name" | "content"> {
  const info = isRecord(document.info) ? document.info : {};
  const title = typeof info.title === "string" && info.title !== "" ? info.title : slug;
  const name = toLine((given ?? title).slice(0, NAME_MAX)) || slug;
  const text = typeof info.description === "string" ? info.description : "";
  const description = `${name}: ${text.split(/\n\s*\n/)[0] || "an HTTP API."}`.slice(0, DESCRIPTION_MAX);
  return { name, content: { description, category: "api", scopes: [], ...content } };
}

function describeUnsupported({ unsupported }: ReadSchemes, used: ReadonlySet<string>): string[] {
  return unsupported
    .filter((title) => used.has(title))
    .map((title) => `The security scheme "${title}" is not supported; calls that need it will fail.`);
}

function scopeSignIns({ signIns }: ReadSchemes, operations: readonly ListedOperation[], picked: readonly string[]) {
  const scoped = [...signIns].map(([title, signIn]) => {
    const scopes = new Map([...listScopes(operations, title).map((name) => [name, ""] as const), ...signIn.scopes]);
    const chosenScopes = picked.length > 0 ? picked : chooseScopes(operations, title);
    return [title, { ...signIn, scopes, chosenScopes }] as const;
  });
  return new Map(scoped);
}

/** Some documents do not say that their API takes a token. */
const TOKEN = "Access token";
const TOKEN_SCHEME: SecurityScheme = { setting: "access_token", as: "bearer", name: "" };

function isNamed(actions: readonly StoredAction[], title: string): boolean {
  return actions.some(({ call }) => operationCallSchema.parse(call).security.flat().includes(title));
}

function addWay(action: StoredAction, title: string): StoredAction {
  const call = operationCallSchema.parse(action.call);
  const others = call.security.length === 0 ? [[]] : call.security;
  return { ...action, call: { ...call, security: [[title], ...others] } };
}

interface ListedOperation extends DocumentOperation {
  /** Where it is called, when it has servers of its own: calls of an app go to one address. */
  readonly servers: unknown;
}

function listOperations(
  document: Json,
  find: FindReference,
  { maxId, aliases }: { maxId: number; aliases: ReadSchemes["aliases"] },
): ListedOperation[] {
  const found: ListedOperation[] = [];
  for (const [path, item] of listPaths(document, find)) {
    if (!isRecord(item)) continue;
    const shared = Array.isArray(item.parameters) ? item.parameters : [];
    for (const method of METHODS) {
      const operation = item[method];
      if (!isRecord(operation)) continue;
      const servers = operation.servers ?? item.servers;
      const security = readSecurity(operation.security ?? document.security, aliases);
      found.push({ method, path, operation, shared, security, maxId, servers });
    }
  }
  return found;
}

function listPaths(document: Json, find: FindReference): [path: string, item: unknown][] {
  const given = Object.entries(isRecord(document.paths) ? document.paths : {});
  return given.map(([path, item]) => [path, isRecord(item) && typeof item.$ref === "string" ? find(item.$ref) : item]);
}

/** One sentence for each operation of a method that is not used. */
function listOtherMethods(document: Json, find: FindReference): string[] {
  return listPaths(document, find).flatMap(([path, item]) => {
    if (!isRecord(item)) return [`${path} is left out: it cannot be read.`];
    const more = isRecord(item.additionalOperations) ? Object.keys(item.additionalOperations) : [];
    const names = [...OTHER_METHODS.filter((method) => isRecord(item[method])), ...more];
    return names.map((name) => `${name.toUpperCase()} ${path} is left out: this method is not used.`);
  });
}

function convertOperations(
  operations: readonly ListedOperation[],
  document: Json,
  { find, plan }: { find: FindReference; plan: CredentialPlan },
) {
  const actions = new Map<string, StoredAction>();
  const notes: string[] = [];
  const withheld = new Map<string, number>();
  const usual = findServer(document)?.url;
  for (const operation of operations) {
    const name = `${operation.method.toUpperCase()} ${operation.path}`;
    const elsewhere = findOtherServer(operation.servers, usual);
    if (elsewhere !== undefined) {
      notes.push(`${name} is left out: the document has it at ${elsewhere}.`);
      continue;
    }
    for (const converted of convertOperation(operation, find, plan)) {
      if (typeof converted === "string") {
        notes.push(converted);
        continue;
      }
      const { action, missing } = converted;
      for (const one of converted.withheld) withheld.set(one, (withheld.get(one) ?? 0) + 1);
      for (const one of missing)
        notes.push(`${name}: it refers to ${one}, which is not there; any value is taken for it.`);
      if (!actions.has(action.id)) actions.set(action.id, action);
      else {
        const id = toDistinctId(name, operation.maxId);
        notes.push(`${name} is called ${id}: another operation is called ${action.id} too.`);
        actions.set(id, { ...action, id });
      }
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

/** Address of an operation that is not called where all others are. */
function findOtherServer(own: unknown, usual: string | undefined): string | undefined {
  const urls = (Array.isArray(own) ? own : [])
    .filter(isRecord)
    .flatMap(({ url }) => (typeof url === "string" ? [url] : []));
  const [first] = urls;
  if (first === undefined || usual === undefined) return undefined;
  return urls.some((url) => toPlainAddress(url) === toPlainAddress(usual)) ? undefined : first;
}

function readSecurity(security: unknown, aliases: ReadSchemes["aliases"]): Record<string, string[]>[] {
  if (!Array.isArray(security)) return [];
  return security.filter(isRecord).map((needed) => {
    const read: Record<string, string[]> = {};
    for (const [title, given] of Object.entries(needed)) {
      const scopes = Array.isArray(given) ? given.filter((scope) => typeof scope === "string") : [];
      const name = aliases.get(title) ?? title;
      read[name] = [...new Set([...(read[name] ?? []), ...scopes])];
    }
    return read;
  });
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
  return invalid(`OpenAPI ${String(version)} cannot be read; 2.0 and 3.0 to 3.2 can.`);
}

function nothingToUse([first]: readonly string[]): SvcError {
  return invalid(`The document has no operation that can be used.${first === undefined ? "" : ` ${first}`}`);
}

function invalid(message: string): SvcError {
  return new SvcError("invalid_config", message, {
    field: "document",
    hint: "Name a file or an address of an OpenAPI 3, Swagger 2.0 or Google Discovery document.",
  });
}
