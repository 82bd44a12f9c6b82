import { isRecord } from "../../../base/json.ts";
import type { DescribedArgument } from "../../secrets/credential-name.ts";
import { dropMembers } from "../source-content.ts";
import { describeFileObject, isBinary, type SchemaConverter } from "./convert-schema.ts";
import type { CredentialUse } from "./credential-plan.ts";
import type { OperationCall } from "./openapi-definition.ts";

type Json = Record<string, unknown>;

/** The body of an operation as arguments. */
export interface ReadBody {
  readonly wire: OperationCall["body"];
  readonly properties: Json;
  readonly required: readonly string[];
  /** Members that hold credentials and belong to no connection. */
  readonly withheld: readonly string[];
  /** One of them without which the operation cannot be called. */
  readonly needed: string | undefined;
}

const NO_BODY: ReadBody = { wire: null, properties: {}, required: [], withheld: [], needed: undefined };

interface BodyRules {
  /** Names of arguments beside the body. */
  readonly taken: ReadonlySet<string>;
  judge(argument: DescribedArgument): CredentialUse | undefined;
}

/** Reads the body of an operation; a text says why it cannot be sent. */
export function readBody(operation: Json, converter: SchemaConverter, { taken, judge }: BodyRules): ReadBody | string {
  const body = converter.resolve(operation.requestBody);
  if (!isRecord(body) || !isRecord(body.content)) return NO_BODY;
  const chosen = chooseMedia(body.content);
  if (chosen === undefined)
    return `takes only ${Object.keys(body.content).join(", ") || "an unknown body"}, which cannot be sent.`;
  const { type, mimetype, media } = chosen;
  const given = isRecord(media) ? media.schema : undefined;
  const resolved = converter.resolve(given);
  const isWhole = type === "file" || type === "text" || (type === "multipart" && isBinary(resolved));
  const schema = type === "file" ? describeFileObject({}) : converter.convert(isRecord(resolved) ? resolved : given);
  const secrets = readSecretMembers(resolved, converter, judge);
  const known = isRecord(schema.properties) ? schema.properties : {};
  const left = secrets.names.filter((name) => Object.hasOwn(known, name));
  if (left.length > 0) dropMembers(schema, left);
  const { settings, withheld, needed } = secrets;
  const own = { withheld, needed };
  const members = isWhole ? undefined : findMembers(schema, taken, secrets.names.length > 0);
  const deep = type === "form" ? findDeepMembers(media) : [];
  if (members !== undefined)
    return {
      wire: { type, mimetype, argument: null, ...settings, ...(deep.length > 0 && { deep }) },
      ...own,
      ...members,
      required: body.required === false ? [] : members.required,
    };
  const argument = taken.has("body") ? "request_body" : "body";
  const wire = { type, mimetype, argument, ...settings, ...(deep.length > 0 && { deep }) };
  return { wire, properties: { [argument]: schema }, required: body.required === true ? [argument] : [], ...own };
}

/** Members of the body that hold credentials, at its top and deeper in it. */
function readSecretMembers(schema: unknown, converter: SchemaConverter, judge: BodyRules["judge"]) {
  const found = listMembers(schema, converter).flatMap((argument) => {
    const use = judge(argument);
    return use === undefined ? [] : [{ use, name: argument.name, isRequired: argument.isRequired === true }];
  });
  const settings = found.flatMap(({ use, name, isRequired }) =>
    use.kind === "setting" ? [{ member: name, setting: use.setting, isNeeded: isRequired }] : [],
  );
  const deeper = converter.dropped.filter(({ owner }) => owner !== schema);
  const foreign = [...found.filter(({ use }) => use.kind === "foreign"), ...deeper];
  return {
    names: found.map(({ name }) => name),
    settings: settings.length > 0 ? { settings } : {},
    withheld: [...new Set(foreign.map(({ name }) => name))],
    needed: foreign.find(({ isRequired }) => isRequired)?.name,
  };
}

/** Members of a form whose encoding says `deepObject`. */
function findDeepMembers(media: unknown): string[] {
  const encoding = isRecord(media) && isRecord(media.encoding) ? media.encoding : {};
  return Object.keys(encoding).filter((name) => isRecord(encoding[name]) && encoding[name].style === "deepObject");
}

/** The members of a plain object, when they can stand beside the parameters. */
function findMembers(
  schema: Json,
  taken: ReadonlySet<string>,
  mayBeEmpty: boolean,
): Pick<ReadBody, "properties" | "required"> | undefined {
  const { properties, required, additionalProperties } = schema;
  if (!isRecord(properties) || isRecord(additionalProperties) || additionalProperties === true) return undefined;
  if (["allOf", "anyOf", "oneOf", "not", "if", "$ref"].some((keyword) => schema[keyword] !== undefined))
    return undefined;
  const names = Object.keys(properties);
  if ((names.length === 0 && !mayBeEmpty) || names.some((name) => taken.has(name))) return undefined;
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
  const schema = isRecord(media) ? media.schema : undefined;
  return mimetype === "application/octet-stream" || isBinary(schema) ? "file" : undefined;
}

/** The members of a body, as far as they tell whether they hold a credential. */
export function listBodyMembers(operation: Json, converter: SchemaConverter): DescribedArgument[] {
  const body = converter.resolve(operation.requestBody);
  const media = isRecord(body) && isRecord(body.content) ? chooseMedia(body.content)?.media : undefined;
  return listMembers(converter.resolve(isRecord(media) ? media.schema : undefined), converter);
}

function listMembers(schema: unknown, converter: SchemaConverter): DescribedArgument[] {
  if (!isRecord(schema) || !isRecord(schema.properties)) return [];
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(schema.properties).map(([name, given]) => {
    const part = converter.resolve(given);
    const description = isRecord(part) ? part.description : undefined;
    return { name, place: "body", description, schema: part, isRequired: required.includes(name) };
  });
}
