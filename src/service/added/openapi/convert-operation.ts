import { isRecord } from "../../../base/json.ts";
import type { DescribedArgument } from "../../secrets/credential-name.ts";
import { type StoredAction, toActionId } from "../source-content.ts";
import { listBodyMembers, readBody } from "./convert-body.ts";
import { type FindReference, SchemaConverter } from "./convert-schema.ts";
import type { CredentialPlan } from "./credential-plan.ts";
import type { OperationCall, OperationParameter } from "./openapi-definition.ts";

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
const LIST_MARKS: Readonly<Record<string, OperationParameter["list"]>> = { spaceDelimited: " ", pipeDelimited: "|" };
const PLACES = new Set(["path", "query", "header", "cookie"]);
/** Headers the sender sets itself. */
const OWN_HEADERS = new Set(["accept", "content-type", "host", "content-length", "cookie"]);

/** An operation made into an action. */
export interface ConvertedOperation {
  readonly action: StoredAction;
  /** Names of arguments that the document has and the action has not: they hold credentials. */
  readonly withheld: readonly string[];
}

/** Makes an action of an operation; a text says why it cannot be one. */
export function convertOperation(
  o: DocumentOperation,
  find: FindReference,
  plan: CredentialPlan,
): ConvertedOperation | string {
  const { method, path, operation } = o;
  const name = `${method.toUpperCase()} ${path}`;
  const converter = new SchemaConverter(find);
  const ways = o.security.map((needed) => Object.keys(needed));
  // Alternatives may differ in their scopes only.
  const security = [...new Map(ways.map((way) => [JSON.stringify(way), way])).values()];
  const separated = separateCredentials(readParameters(o, converter), plan, security);
  const unwritable = findUnwritable(o, converter);
  if (unwritable !== undefined) return `${name}: ${unwritable}`;
  const judge = (argument: DescribedArgument) => plan.judge(argument, security);
  const taken = new Set(separated.open.map(({ wire }) => wire.argument));
  const body = readBody(operation, converter, { taken, judge });
  if (typeof body === "string") return `${name}: ${body}`;
  const needed = separated.needed ?? body.needed;
  if (needed !== undefined) return `${name}: it needs a secret as its argument "${needed}", and no model is given one.`;
  const parameters = separated.open;
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
    parameters: [...parameters.map(({ wire }) => wire), ...separated.filled],
    body: body.wire,
    security,
  };
  const action: StoredAction = {
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
  return { action, withheld: [...separated.withheld, ...body.withheld] };
}

/** Every argument of an operation, as far as it tells whether it holds a credential. */
export function listArguments(o: DocumentOperation, find: FindReference): DescribedArgument[] {
  const converter = new SchemaConverter(find);
  return [...readParameters(o, converter).map(({ argument }) => argument), ...listBodyMembers(o.operation, converter)];
}

interface ReadParameter {
  readonly argument: DescribedArgument;
  readonly wire: OperationParameter;
  readonly schema: Json;
  readonly isRequired: boolean;
}

/**
 * What the model gives (`open`), what the connection gives (`filled`), the names of what nobody gives (`withheld`), and one of
 * these without which the operation cannot be called.
 */
function separateCredentials(parameters: readonly ReadParameter[], plan: CredentialPlan, security: string[][]) {
  const open: ReadParameter[] = [];
  const filled: OperationParameter[] = [];
  const withheld: string[] = [];
  let needed: string | undefined;
  for (const parameter of parameters) {
    const { argument, wire, isRequired } = parameter;
    const use = plan.judge(argument, security);
    if (use === undefined) {
      open.push(parameter);
      continue;
    }
    if (use.kind === "setting") filled.push({ ...wire, setting: use.setting, needsSetting: isRequired });
    if (use.kind === "foreign" && isRequired) needed ??= argument.name;
    if (use.kind === "foreign") withheld.push(argument.name);
  }
  return { open, filled, withheld, needed };
}

/** The parameters as the document has them; those of the operation replace those of its path. */
function listParameters({ operation, shared }: DocumentOperation, converter: SchemaConverter): Json[] {
  const own = Array.isArray(operation.parameters) ? operation.parameters : [];
  return [...shared, ...own].map((given) => converter.resolve(given)).filter(isRecord);
}

function readParameters(o: DocumentOperation, converter: SchemaConverter): ReadParameter[] {
  const byPlace = new Map<string, Json>();
  for (const parameter of listParameters(o, converter)) {
    if (typeof parameter.name !== "string" || !PLACES.has(String(parameter.in))) continue;
    if (parameter.in === "header" && OWN_HEADERS.has(parameter.name.toLowerCase())) continue;
    byPlace.set(`${parameter.in} ${parameter.name}`, parameter);
  }
  // Some documents do not declare the parameters of the path.
  for (const [, name = ""] of o.path.matchAll(/\{([^{}]+)\}/g)) {
    if (!byPlace.has(`path ${name}`)) byPlace.set(`path ${name}`, { name, in: "path", schema: { type: "string" } });
  }
  const taken = new Set<string>();
  return [...byPlace.values()].map((parameter) => {
    const name = String(parameter.name);
    const place = parameter.in as OperationParameter["in"];
    // One name may be used in two places, say in the path and in the query.
    const argument = taken.has(name) ? `${place}_${name}` : name;
    taken.add(argument);
    const schema = converter.resolve(parameter.schema);
    const isRequired = parameter.required === true || place === "path";
    const keepsSlashes = place === "path" && parameter.allowReserved === true;
    return {
      argument: { name, place, description: parameter.description, schema, isRequired },
      isRequired,
      schema: describeParameter(parameter, converter),
      wire: { argument, name, in: place, ...readStyle(parameter, place), ...(keepsSlashes && { keepsSlashes }) },
    };
  });
}

function describeParameter(parameter: Json, converter: SchemaConverter): Json {
  const [media] = isRecord(parameter.content) ? Object.values(parameter.content) : [];
  const schema = converter.convert(parameter.schema ?? (isRecord(media) ? media.schema : undefined));
  const description = readText(parameter.description);
  return description === undefined || schema.description !== undefined ? schema : { ...schema, description };
}

function readStyle(
  parameter: Json,
  place: OperationParameter["in"],
): Pick<OperationParameter, "list" | "deep" | "object"> {
  if (isRecord(parameter.content)) return { list: ",", deep: false, object: "json" };
  const isForm = place === "query" || place === "cookie";
  const style = readText(parameter.style) ?? (isForm ? "form" : "simple");
  const isExploded = typeof parameter.explode === "boolean" ? parameter.explode : style === "form";
  if (style === "deepObject") return { list: "repeat", deep: true };
  const list = isForm && isExploded ? "repeat" : (LIST_MARKS[style] ?? ",");
  return { list, deep: false, ...(place === "query" && isExploded && { object: "members" }) };
}

/** Styles of a path that are rarely used; a value written in another one would mean something else. */
function findUnwritable(o: DocumentOperation, converter: SchemaConverter): string | undefined {
  const found = listParameters(o, converter).find(({ style }) => style === "label" || style === "matrix");
  if (found === undefined) return undefined;
  return `"${String(found.name)}" is to be written in the style "${found.style}", which is not supported.`;
}

function readText(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}
