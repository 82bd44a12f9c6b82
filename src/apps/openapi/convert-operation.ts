import { type DescribedArgument, toWords } from "../../shared/base/credential-name.ts";
import { isRecord } from "../../shared/base/json.ts";
import { dropMembers, type StoredAction, toActionId, toFreeName } from "../port/source-content.ts";
import { isJsonType } from "./build-body.ts";
import { type ChosenMedia, listBodyMembers, listMedia, readBody } from "./convert-body.ts";
import { type FindReference, isBinary, SchemaConverter } from "./convert-schema.ts";
import type { CredentialPlan, JudgedCall } from "./credential-plan.ts";
import type { OperationCall, OperationParameter } from "./openapi-definition.ts";
import { toWriting, type Writing } from "./write-value.ts";

type Json = Record<string, unknown>;

/** One operation as the document has it. */
export interface DocumentOperation {
  readonly method: string;
  readonly path: string;
  readonly operation: Json;
  /** Parameters of the path, which the operation's own ones replace. */
  readonly shared: readonly unknown[];
  /** Alternatives: scopes by the security schemes that are needed together. */
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  /** Longest action id. */
  readonly maxId: number;
}

const LEVELS: Readonly<Record<string, StoredAction["level"]>> = { get: "read", head: "read", delete: "delete" };
const REPEATABLE = new Set(["get", "head", "put", "delete"]);
const PLACES = new Set(["path", "query", "header", "cookie"]);
/** Types whose values are the same in any media type of text. */
const WORDS = new Set(["string", "number", "integer", "boolean"]);
/** Headers that the sender sets itself, or that are of the connection and not of the request (RFC 9110, 7.6.1). */
const OWN_HEADERS = new Set([
  ...["accept", "content-type", "host", "content-length", "cookie", "accept-encoding", "expect", "connection"],
  ...["keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"],
]);

/** An operation made into an action. */
export interface ConvertedOperation {
  readonly action: StoredAction;
  /** Names of arguments that the document has and the action has not: they hold credentials. */
  readonly withheld: readonly string[];
  /** References of its schemas that lead nowhere. */
  readonly missing: readonly string[];
}

/**
 * Makes an action of an operation, and a second one where its body can be sent in a second way that alone takes files; a text
 * says why there is none.
 */
export function convertOperation(
  o: DocumentOperation,
  find: FindReference,
  plan: CredentialPlan,
): (ConvertedOperation | string)[] {
  const [first, second] = listMedia(o.operation, new SchemaConverter(find));
  const plain = convertWith(o, { find, plan, media: first, suffix: "" });
  return second === undefined ? [plain] : [plain, convertWith(o, { find, plan, media: second, suffix: "_with_file" })];
}

interface Choice {
  readonly find: FindReference;
  readonly plan: CredentialPlan;
  readonly media: ChosenMedia | undefined;
  /** End of the id of the action. */
  readonly suffix: string;
}

function convertWith(o: DocumentOperation, { find, plan, media, suffix }: Choice): ConvertedOperation | string {
  const { method, path, operation } = o;
  const name = `${method.toUpperCase()} ${path}`;
  const converter = new SchemaConverter(find);
  const ways = o.security.map((needed) => Object.keys(needed));
  // Alternatives may differ in their scopes only.
  const security = [...new Map(ways.map((way) => [JSON.stringify(way), way])).values()];
  const call = { security, signsIn: SIGNS_IN.test(`${toWords(path)} ${toWords(String(operation.operationId ?? ""))}`) };
  const given = readParameters(o, converter);
  if (typeof given === "string") return `${name}: ${given}`;
  const separated = separateCredentials(given, plan, call);
  const judge = (argument: DescribedArgument) => plan.judge(argument, call);
  const taken = new Set(separated.open.map(({ wire }) => wire.argument));
  const body = readBody(operation, media, converter, { taken, judge });
  if (typeof body === "string") return `${name}: ${body}`;
  const needed = separated.needed ?? body.needed;
  if (needed !== undefined) return `${name}: it needs a secret as its argument "${needed}", and no model is given one.`;
  const parameters = separated.open;
  const title = `${readText(operation.summary) ?? name}${suffix === "" ? "" : " (with a file)"}`;
  const level = LEVELS[method] ?? "write";
  const isDeprecated = operation.deprecated === true ? "Deprecated. " : "";
  const inputSchema: Json = {
    type: "object",
    properties: {
      ...Object.fromEntries(parameters.map(({ wire, schema }) => [wire.argument, schema])),
      ...body.properties,
    },
    ...withRequired([...parameters.filter((p) => p.isRequired).map(({ wire }) => wire.argument), ...body.required]),
    ...(body.isOpen !== true && { additionalProperties: false }),
    ...(body.propertyNames !== undefined && { propertyNames: body.propertyNames }),
    ...(converter.definitions !== undefined && { $defs: converter.definitions }),
  };
  const withheld = [...separated.withheld, ...body.withheld];
  const closed = new Set([...separated.closed, ...body.withheld, ...body.filled]);
  if (body.isOpen === true && closed.size > 0) dropMembers(inputSchema, [...closed]);
  const wire: OperationCall = {
    method: method.toUpperCase(),
    path,
    parameters: [...parameters.map((parameter) => parameter.wire), ...separated.filled],
    body: body.wire,
    security,
  };
  const action: StoredAction = {
    id: toActionId((readText(operation.operationId) ?? `${method}_${path}`) + suffix, o.maxId),
    title: title.slice(0, 200),
    description: isDeprecated + (readText(operation.description) ?? title),
    level,
    requiresConfirmation: level !== "read",
    idempotent: REPEATABLE.has(method),
    inputSchema,
    scopes: [],
    call: wire,
  };
  return { action, withheld, missing: [...converter.missing] };
}

function withRequired(required: readonly string[]) {
  return required.length > 0 ? { required } : {};
}

/** Paths and ids of operations in which a caller says who it is. */
const SIGNS_IN = /(?:^|[_ ])(?:log_?in|sign_?in|authenticate|authorize|oauth2?|sessions?|access_token)(?: |$)/;

/** Every argument of an operation, as far as it tells whether it holds a credential. */
export function listArguments(o: DocumentOperation, find: FindReference): DescribedArgument[] {
  const converter = new SchemaConverter(find);
  const parameters = readParameters(o, converter);
  if (typeof parameters === "string") return [];
  return [...parameters.map(({ argument }) => argument), ...listBodyMembers(o.operation, converter)];
}

interface ReadParameter {
  readonly argument: DescribedArgument;
  readonly wire: OperationParameter;
  readonly schema: Json;
  readonly isRequired: boolean;
}

/**
 * What the model gives (`open`), what the connection gives (`filled`), the names of what nobody gives (`withheld`) and of all that
 * the model does not give (`closed`), and one of the withheld without which the operation cannot be called.
 */
function separateCredentials(parameters: readonly ReadParameter[], plan: CredentialPlan, call: JudgedCall) {
  const open: ReadParameter[] = [];
  const filled: OperationParameter[] = [];
  const withheld: string[] = [];
  const closed: string[] = [];
  let needed: string | undefined;
  for (const parameter of parameters) {
    const { argument, wire, isRequired } = parameter;
    const use = plan.judge(argument, call);
    if (use === undefined) {
      open.push(parameter);
      continue;
    }
    closed.push(wire.argument);
    if (use.kind === "setting") filled.push({ ...wire, setting: use.setting, needsSetting: isRequired });
    if (use.kind === "foreign" && isRequired) needed ??= argument.name;
    if (use.kind === "foreign") withheld.push(argument.name);
  }
  return { open, filled, withheld, closed, needed };
}

/** The parameters as the document has them, those of the operation in place of those of its path. */
function listParameters({ operation, shared, path }: DocumentOperation, converter: SchemaConverter): Json[] {
  const own = Array.isArray(operation.parameters) ? operation.parameters : [];
  const byPlace = new Map<string, Json>();
  for (const parameter of [...shared, ...own].map((given) => converter.resolve(given)).filter(isRecord)) {
    const { name, in: place } = parameter;
    if (typeof name !== "string" || typeof place !== "string") continue;
    if (place === "header" && OWN_HEADERS.has(name.toLowerCase())) continue;
    byPlace.set(`${place} ${name}`, parameter);
  }
  // Some documents do not declare the parameters of the path.
  for (const [, name = ""] of path.matchAll(/\{([^{}]+)\}/g)) {
    if (!byPlace.has(`path ${name}`)) byPlace.set(`path ${name}`, { name, in: "path", schema: { type: "string" } });
  }
  return [...byPlace.values()];
}

/** The arguments that stand for parameters; a text names one that cannot be written: another style would mean something else. */
function readParameters(o: DocumentOperation, converter: SchemaConverter): ReadParameter[] | string {
  const listed = listParameters(o, converter);
  const names = listed.map(({ name }) => String(name));
  const taken = new Set<string>();
  const read: ReadParameter[] = [];
  for (const parameter of listed) {
    const name = String(parameter.name);
    const place = parameter.in as OperationParameter["in"];
    // One name may be used in two places, say in the path and in the query.
    const isFree = (free: string) => !taken.has(free) && (free === name || !names.includes(free));
    const argument = isFree(name) ? name : toFreeName(`${place}_${name}`, (free) => !isFree(free));
    taken.add(argument);
    const schema = converter.resolve(parameter.schema);
    const isRequired = parameter.required === true || place === "path";
    const writing = readWriting(parameter, place, converter);
    if (typeof writing === "string")
      return `"${name}" is to be written in the style "${writing}", which is not supported.`;
    read.push({
      argument: { name, place, description: parameter.description, schema, isRequired, isId: isIdIn(o.path, name) },
      isRequired,
      schema: describeParameter(parameter, converter),
      wire: { argument, name, in: place, ...writing },
    });
  }
  return read;
}

/** True for a part of a path that names one of the things before it, as in `keys/{access_key}`. */
function isIdIn(path: string, name: string): boolean {
  const parts = path.split("/");
  const before = toWords(parts[parts.indexOf(`{${name}}`) - 1] ?? "").replace(/s$/, "");
  const words = toWords(name);
  return before !== "" && (words === before || words.endsWith(`_${before}`) || before.endsWith(`_${words}`));
}

function describeParameter(parameter: Json, converter: SchemaConverter): Json {
  const [[, given] = []] = listContent(parameter);
  const described = parameter.schema ?? given;
  // A parameter has no place for a file; some documents say so of any text.
  const schema = isBinary(converter.resolve(described)) ? { type: "string" } : converter.convert(described);
  const told = readText(parameter.description);
  const description = parameter.deprecated === true ? `Deprecated. ${told ?? ""}`.trim() : told;
  return description === undefined || schema.description !== undefined ? schema : { ...schema, description };
}

/** Media types of a parameter with their schemas. */
function listContent({ content }: Json): [type: string, schema: unknown][] {
  const entries = Object.entries(isRecord(content) ? content : {});
  return entries.map(([type, media]) => [type, isRecord(media) ? media.schema : undefined]);
}

/** How a parameter is written; a text is the style that cannot be ("label" and "matrix" in a path, say). */
function readWriting(parameter: Json, place: OperationParameter["in"], converter: SchemaConverter): Writing | string {
  if (!PLACES.has(place)) return place;
  const [[media, described] = []] = listContent(parameter);
  if (media !== undefined) {
    const schema = converter.resolve(described);
    const isText = media.startsWith("text/") || (isRecord(schema) && WORDS.has(String(schema.type)));
    return isJsonType(media) || isText ? { style: isJsonType(media) ? "json" : "text", explode: false } : media;
  }
  const isForm = place === "query" || place === "cookie";
  const given = readText(parameter.style) ?? (isForm ? "form" : "simple");
  const { explode = given === "form" || given === "cookie", allowReserved } = parameter;
  return toWriting(parameter["x-collection-format"] ?? given, { explode, allowReserved });
}

function readText(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}
