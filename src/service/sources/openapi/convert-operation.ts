import { toActionId } from "../action-id.ts";
import type { StoredAction } from "../source-content.ts";
import { describeFileObject, type FindReference, isBinary, isObject, SchemaConverter } from "./convert-schema.ts";
import type { OperationCall, OperationParameter } from "./openapi-definition.ts";

type Json = Record<string, unknown>;

/** One operation as the document has it. */
export interface DocumentOperation {
  readonly method: string;
  readonly path: string;
  readonly operation: Json;
  /** Parameters of the path, which the operation's own ones replace. */
  readonly shared: readonly unknown[];
  /** What the whole document asks for, unless the operation says otherwise. */
  readonly security: unknown;
  /** Longest action id. */
  readonly maxId: number;
}

const LEVELS: Readonly<Record<string, StoredAction["level"]>> = { get: "read", head: "read", delete: "delete" };
const REPEATABLE = new Set(["get", "head", "put", "delete"]);
const LIST_MARKS: Readonly<Record<string, OperationParameter["list"]>> = { spaceDelimited: " ", pipeDelimited: "|" };
const PLACES = new Set(["path", "query", "header", "cookie"]);
/** Headers the sender sets itself. */
const OWN_HEADERS = new Set(["accept", "content-type", "authorization", "host", "content-length", "cookie"]);

/** Makes an action of an operation; a text says why it cannot be one. */
export function convertOperation(o: DocumentOperation, find: FindReference): StoredAction | string {
  const { method, path, operation } = o;
  const converter = new SchemaConverter(find);
  const parameters = readParameters(o, converter);
  const unwritable = findUnwritable(o, converter);
  if (unwritable !== undefined) return `${method.toUpperCase()} ${path}: ${unwritable}`;
  const body = readBody(operation, converter, new Set(parameters.map(({ wire }) => wire.argument)));
  if (typeof body === "string") return `${method.toUpperCase()} ${path}: ${body}`;
  const properties = {
    ...Object.fromEntries(parameters.map(({ wire, schema }) => [wire.argument, schema])),
    ...body.properties,
  };
  const required = [...parameters.filter((p) => p.isRequired).map(({ wire }) => wire.argument), ...body.required];
  const level = LEVELS[method] ?? "write";
  const title = readText(operation.summary) ?? `${method.toUpperCase()} ${path}`;
  const call: OperationCall = {
    method: method.toUpperCase(),
    path,
    parameters: parameters.map(({ wire }) => wire),
    body: body.wire,
    security: readSecurity(operation.security ?? o.security),
  };
  return {
    id: toActionId(readText(operation.operationId) ?? `${method}_${path}`, o.maxId),
    title: title.slice(0, 200),
    description: readText(operation.description) ?? title,
    level,
    requiresConfirmation: level !== "read",
    idempotent: REPEATABLE.has(method),
    inputSchema: {
      type: "object",
      properties,
      ...(required.length > 0 && { required }),
      additionalProperties: false,
      ...(converter.definitions !== undefined && { $defs: converter.definitions }),
    },
    scopes: [],
    call,
  };
}

interface ReadParameter {
  readonly wire: OperationParameter;
  readonly schema: Json;
  readonly isRequired: boolean;
}

function readParameters({ path, operation, shared }: DocumentOperation, converter: SchemaConverter): ReadParameter[] {
  const own = Array.isArray(operation.parameters) ? operation.parameters : [];
  const byPlace = new Map<string, Json>();
  for (const given of [...shared, ...own]) {
    const parameter = converter.resolve(given);
    if (!isObject(parameter) || typeof parameter.name !== "string" || !PLACES.has(String(parameter.in))) continue;
    if (parameter.in === "header" && OWN_HEADERS.has(parameter.name.toLowerCase())) continue;
    byPlace.set(`${parameter.in} ${parameter.name}`, parameter);
  }
  // Some documents forget to declare what stands in the path.
  for (const [, name = ""] of path.matchAll(/\{([^{}]+)\}/g)) {
    if (!byPlace.has(`path ${name}`)) byPlace.set(`path ${name}`, { name, in: "path", schema: { type: "string" } });
  }
  const taken = new Set<string>();
  return [...byPlace.values()].map((parameter) => {
    const name = String(parameter.name);
    const place = parameter.in as OperationParameter["in"];
    // One name may be used in two places, say in the path and in the query.
    const argument = taken.has(name) ? `${place}_${name}` : name;
    taken.add(argument);
    return {
      isRequired: parameter.required === true || place === "path",
      schema: describeParameter(parameter, converter),
      wire: { argument, name, in: place, ...readStyle(parameter, place) },
    };
  });
}

function describeParameter(parameter: Json, converter: SchemaConverter): Json {
  const [media] = isObject(parameter.content) ? Object.values(parameter.content) : [];
  const schema = converter.convert(parameter.schema ?? (isObject(media) ? media.schema : undefined));
  const description = readText(parameter.description);
  return description === undefined || schema.description !== undefined ? schema : { ...schema, description };
}

function readStyle(
  parameter: Json,
  place: OperationParameter["in"],
): Pick<OperationParameter, "list" | "deep" | "object"> {
  if (isObject(parameter.content)) return { list: ",", deep: false, object: "json" };
  const isForm = place === "query" || place === "cookie";
  const style = readText(parameter.style) ?? (isForm ? "form" : "simple");
  const isExploded = typeof parameter.explode === "boolean" ? parameter.explode : style === "form";
  if (style === "deepObject") return { list: "repeat", deep: true };
  const list = isForm && isExploded ? "repeat" : (LIST_MARKS[style] ?? ",");
  return { list, deep: false, ...(place === "query" && isExploded && { object: "members" }) };
}

/** Styles of a path that are rarely used; a value written in another one would mean something else. */
function findUnwritable({ operation, shared }: DocumentOperation, converter: SchemaConverter): string | undefined {
  const own = Array.isArray(operation.parameters) ? operation.parameters : [];
  for (const given of [...shared, ...own]) {
    const parameter = converter.resolve(given);
    if (!isObject(parameter) || (parameter.style !== "label" && parameter.style !== "matrix")) continue;
    return `"${String(parameter.name)}" is to be written in the style "${parameter.style}", which is not supported.`;
  }
  return undefined;
}

interface ReadBody {
  readonly wire: OperationCall["body"];
  readonly properties: Json;
  readonly required: readonly string[];
}

const NO_BODY: ReadBody = { wire: null, properties: {}, required: [] };

function readBody(operation: Json, converter: SchemaConverter, taken: ReadonlySet<string>): ReadBody | string {
  const body = converter.resolve(operation.requestBody);
  if (!isObject(body) || !isObject(body.content)) return NO_BODY;
  const chosen = chooseMedia(body.content);
  if (chosen === undefined)
    return `takes only ${Object.keys(body.content).join(", ") || "an unknown body"}, which cannot be sent.`;
  const { type, mimetype, media } = chosen;
  const given = isObject(media) ? media.schema : undefined;
  const resolved = converter.resolve(given);
  const isWhole = type === "file" || type === "text" || (type === "multipart" && isBinary(resolved));
  const schema = type === "file" ? describeFileObject({}) : converter.convert(isObject(resolved) ? resolved : given);
  const members = isWhole ? undefined : findMembers(schema, taken);
  const deep = type === "form" ? findDeepMembers(media) : [];
  if (members !== undefined)
    return {
      wire: { type, mimetype, argument: null, ...(deep.length > 0 && { deep }) },
      ...members,
      required: body.required === false ? [] : members.required,
    };
  const argument = taken.has("body") ? "request_body" : "body";
  const wire = { type, mimetype, argument, ...(deep.length > 0 && { deep }) };
  return { wire, properties: { [argument]: schema }, required: body.required === true ? [argument] : [] };
}

/** Members of a form whose encoding says `deepObject`. */
function findDeepMembers(media: unknown): string[] {
  const encoding = isObject(media) && isObject(media.encoding) ? media.encoding : {};
  return Object.keys(encoding).filter((name) => isObject(encoding[name]) && encoding[name].style === "deepObject");
}

/** The members of a plain object, when they can stand beside the parameters. */
function findMembers(schema: Json, taken: ReadonlySet<string>): Pick<ReadBody, "properties" | "required"> | undefined {
  const { properties, required, additionalProperties } = schema;
  if (!isObject(properties) || isObject(additionalProperties) || additionalProperties === true) return undefined;
  if (["allOf", "anyOf", "oneOf", "not", "if", "$ref"].some((keyword) => schema[keyword] !== undefined))
    return undefined;
  const names = Object.keys(properties);
  if (names.length === 0 || names.some((name) => taken.has(name))) return undefined;
  return { properties, required: Array.isArray(required) ? required.filter((name) => typeof name === "string") : [] };
}

/** The first media type that can be sent, JSON before everything else. */
function chooseMedia(
  content: Json,
): { type: NonNullable<OperationCall["body"]>["type"]; mimetype: string; media: unknown } | undefined {
  const found = Object.entries(content).flatMap(([given, media]) => {
    const mimetype = given.split(";")[0]?.trim().toLowerCase() ?? "";
    const type = readBodyType(mimetype, media);
    return type === undefined ? [] : [{ type, mimetype, media }];
  });
  return found.find(({ type }) => type === "json") ?? found[0];
}

function readBodyType(mimetype: string, media: unknown): NonNullable<OperationCall["body"]>["type"] | undefined {
  if (mimetype === "application/json" || mimetype.endsWith("+json") || mimetype === "*/*") return "json";
  if (mimetype === "application/x-www-form-urlencoded") return "form";
  if (mimetype === "multipart/form-data") return "multipart";
  if (mimetype.startsWith("text/")) return "text";
  const schema = isObject(media) ? media.schema : undefined;
  return mimetype === "application/octet-stream" || isBinary(schema) ? "file" : undefined;
}

function readSecurity(security: unknown): string[][] {
  if (!Array.isArray(security)) return [];
  return security.filter(isObject).map((needed) => Object.keys(needed));
}

function readText(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}
