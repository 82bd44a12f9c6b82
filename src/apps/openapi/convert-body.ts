import type { DescribedArgument } from "../../shared/base/credential-name.ts";
import { isRecord } from "../../shared/base/json.ts";
import { FILE_UPLOADABLE_KEYWORD } from "../../shared/wire/file.ts";
import { dropMembers } from "../port/source-content.ts";
import { isJsonType } from "./build-body.ts";
import { describeFileObject, isBinary, propertiesOf, type SchemaConverter } from "./convert-schema.ts";
import type { CredentialUse } from "./credential-plan.ts";
import type { MemberEncoding, OperationCall } from "./openapi-definition.ts";
import { toWriting } from "./write-value.ts";

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
  /** Members that the connection or a security scheme gives. */
  readonly filled: readonly string[];
  /** True when its members are arguments, and it takes others that it does not name. Default false. */
  readonly isOpen?: boolean;
  /** Schema of the names of its members. Default: any name. */
  readonly propertyNames?: unknown;
}

const NO_BODY: ReadBody = { wire: null, properties: {}, required: [], withheld: [], needed: undefined, filled: [] };

interface BodyRules {
  /** Names of arguments beside the body. */
  readonly taken: ReadonlySet<string>;
  judge(argument: DescribedArgument): CredentialUse | undefined;
}

/** Reads one of the bodies that an operation takes ({@link listMedia}); a text says why it cannot be sent. */
export function readBody(
  operation: Json,
  chosen: ChosenMedia | undefined,
  converter: SchemaConverter,
  { taken, judge }: BodyRules,
): ReadBody | string {
  const body = converter.resolve(operation.requestBody);
  if (!isRecord(body) || !isRecord(body.content)) return NO_BODY;
  if (chosen === undefined)
    return `takes only ${Object.keys(body.content).join(", ") || "an unknown body"}, which cannot be sent.`;
  const { type, mimetype } = chosen;
  const resolved = converter.resolve(chosen.schema);
  const isWhole = type === "file" || type === "text";
  const isForm = type === "form" || type === "multipart";
  if (isForm && !mayHaveMembers(resolved)) return `takes ${mimetype} as one value, which cannot be sent.`;
  const schema = type === "file" ? describeFileObject({}) : converter.convertBody(resolved ?? chosen.schema);
  if (schema === undefined)
    return { ...NO_BODY, withheld: listDropped(converter), needed: converter.dropped.at(-1)?.name };
  const secrets = readSecretMembers(resolved, converter, judge);
  const left = secrets.names.filter((name) => Object.hasOwn(propertiesOf(schema), name));
  if (left.length > 0) dropMembers(schema, left);
  const { settings, withheld, needed } = secrets;
  const own = { withheld, needed, filled: secrets.names.filter((name) => !withheld.includes(name)) };
  const members = isWhole ? undefined : findMembers(schema, taken, secrets.names.length > 0);
  const encoding = isForm ? readEncoding(chosen, resolved, converter) : {};
  if (typeof encoding === "string") return encoding;
  const hasFiles = !isWhole && JSON.stringify([schema, converter.definitions]).includes(FILE_MARK);
  if (hasFiles && type === "form") return `takes ${mimetype} with a file in it, which cannot be sent.`;
  const wire = {
    ...{ type, mimetype, ...settings },
    ...(Object.keys(encoding).length > 0 && { encoding }),
    ...(hasFiles && { hasFiles }),
  };
  if (members !== undefined)
    return {
      wire: { ...wire, argument: null, ...(body.required === true && { isRequired: true }) },
      ...own,
      ...members,
      ...(schema.additionalProperties !== false && { isOpen: true, propertyNames: schema.propertyNames }),
      required: body.required === false ? [] : members.required,
    };
  const argument = taken.has("body") ? "request_body" : "body";
  return {
    wire: { ...wire, argument },
    properties: { [argument]: schema },
    required: body.required === true ? [argument] : [],
    ...own,
  };
}

const FILE_MARK = `"${FILE_UPLOADABLE_KEYWORD}":true`;

function listDropped({ dropped }: SchemaConverter): string[] {
  return [...new Set(dropped.map(({ name }) => name))];
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
  const foreign = found.filter(({ use }) => use.kind === "foreign");
  const deeper = converter.dropped.filter(({ owner }) => owner !== schema);
  return {
    names: found.map(({ name }) => name),
    settings: settings.length > 0 ? { settings } : {},
    withheld: [...new Set([...foreign, ...deeper].map(({ name }) => name))],
    needed: foreign.find(({ isRequired }) => isRequired)?.name,
  };
}

/** False for a text, a list or a file: a form is of named members. */
function mayHaveMembers(schema: unknown): boolean {
  if (!isRecord(schema) || schema.type === undefined) return !isBinary(schema);
  return [schema.type].flat().includes("object");
}

/** How members of a form are written that have a way of their own ("Encoding Object"); a text names one that cannot be. */
function readEncoding({ type, encodings }: ChosenMedia, schema: unknown, converter: SchemaConverter) {
  // OpenAPI 3.0 has no styles in multipart bodies.
  const hasStyles = type === "form" || !String(converter.resolve({ $ref: "#/openapi" })).startsWith("3.0");
  const found: Record<string, MemberEncoding> = {};
  const members = propertiesOf(schema);
  for (const name of new Set([...Object.keys(members), ...Object.keys(encodings)])) {
    const encoding = isRecord(encodings[name]) ? encodings[name] : {};
    const member = converter.resolve(members[name]);
    const needed = type === "multipart" ? findNeededHeader(encoding.headers, converter) : undefined;
    if (needed !== undefined) return `its part "${name}" needs the header "${needed}", which cannot be sent.`;
    const { style = "form", explode = style === "form", allowReserved, contentType } = encoding;
    const hasOwn = hasStyles && ["style", "explode", "allowReserved"].some((word) => encoding[word] !== undefined);
    const collection = isRecord(member) ? member["x-collection-format"] : undefined;
    const writing =
      hasOwn || collection !== undefined ? toWriting(collection ?? style, { explode, allowReserved }) : undefined;
    if (typeof writing === "string")
      return `"${name}" is to be written in the style "${writing}", which is not supported.`;
    const ofType = typeof contentType === "string" ? { contentType } : {};
    if (writing !== undefined || typeof contentType === "string")
      found[name] = { ...(writing && { writing }), ...ofType };
  }
  return found;
}

function findNeededHeader(headers: unknown, converter: SchemaConverter): string | undefined {
  const needed = Object.entries(isRecord(headers) ? headers : {}).find(([name, given]) => {
    const header = converter.resolve(given);
    return name.toLowerCase() !== "content-type" && isRecord(header) && header.required === true;
  });
  return needed?.[0];
}

/** The members of a plain object, when they can stand beside the parameters. */
function findMembers(
  schema: Json,
  taken: ReadonlySet<string>,
  mayBeEmpty: boolean,
): Pick<ReadBody, "properties" | "required"> | undefined {
  const { properties, required, additionalProperties } = schema;
  if (!isRecord(properties) || isRecord(additionalProperties) || additionalProperties === true) return undefined;
  if (
    ["allOf", "anyOf", "oneOf", "not", "if", "$ref", "patternProperties"].some(
      (keyword) => schema[keyword] !== undefined,
    )
  )
    return undefined;
  const names = Object.keys(properties);
  if ((names.length === 0 && !mayBeEmpty) || names.some((name) => taken.has(name))) return undefined;
  return { properties, required: Array.isArray(required) ? required.filter((name) => typeof name === "string") : [] };
}

/** A type of body that can be sent. */
export interface ChosenMedia {
  readonly type: NonNullable<OperationCall["body"]>["type"];
  /** As the document writes it. */
  readonly mimetype: string;
  readonly schema: unknown;
  /** How its members are written, by their names. */
  readonly encodings: Json;
}

/**
 * The types of body of an operation that can be sent: the first one, JSON before everything else, and a second one where only
 * that takes files.
 */
export function listMedia(operation: Json, converter: SchemaConverter): ChosenMedia[] {
  const body = converter.resolve(operation.requestBody);
  const content = isRecord(body) && isRecord(body.content) ? body.content : {};
  const found = Object.entries(content).flatMap(([given, media]): ChosenMedia[] => {
    const { schema, encoding }: Json = isRecord(media) ? media : {};
    const type = readBodyType(given, converter.resolve(schema));
    const mimetype = given === "text/*" ? "text/plain" : given.trim();
    return type === undefined ? [] : [{ type, mimetype, schema, encodings: isRecord(encoding) ? encoding : {} }];
  });
  const usable = found.filter((one) => one.type !== "form" || !takesFiles(one, converter));
  const first = usable.find(({ type }) => type === "json") ?? usable[0] ?? found[0];
  const second = usable.find((one) => one !== first && takesFiles(one, converter));
  if (first === undefined) return [];
  return second === undefined || takesFiles(first, converter) ? [first] : [first, second];
}

function takesFiles({ type, schema }: ChosenMedia, converter: SchemaConverter): boolean {
  if (type === "file") return true;
  const parts = Object.values(propertiesOf(converter.resolve(schema))).map((part) => converter.resolve(part));
  return parts.some((part) => isBinary(part) || (isRecord(part) && isBinary(converter.resolve(part.items))));
}

function readBodyType(given: string, schema: unknown): ChosenMedia["type"] | undefined {
  const mimetype = given.split(";")[0]?.trim().toLowerCase() ?? "";
  if (mimetype === "*/*") return isBinary(schema) ? "file" : "json";
  if (isJsonType(mimetype)) return "json";
  if (mimetype === "application/x-www-form-urlencoded") return "form";
  if (mimetype === "multipart/form-data") return "multipart";
  if (mimetype.startsWith("text/") && !isBinary(schema)) {
    const charset = /;\s*charset=\s*"?([^";\s]+)/i.exec(given)?.[1];
    return charset === undefined || /^(?:utf-8|us-ascii)$/i.test(charset) ? "text" : undefined;
  }
  // Without a schema a body is its bytes ("Considerations for File Uploads", OpenAPI 3.1).
  const isOpen = !isRecord(schema) || Object.keys(schema).length === 0;
  const isMultipart = mimetype.startsWith("multipart/");
  return mimetype === "application/octet-stream" || isBinary(schema) || (isOpen && !isMultipart) ? "file" : undefined;
}

/** The members of a body, as far as they tell whether they hold a credential. */
export function listBodyMembers(operation: Json, converter: SchemaConverter): DescribedArgument[] {
  return listMedia(operation, converter).flatMap(({ schema }) => listMembers(converter.resolve(schema), converter));
}

function listMembers(schema: unknown, converter: SchemaConverter): DescribedArgument[] {
  const required = isRecord(schema) && Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(propertiesOf(schema)).map(([name, given]) => {
    const part = converter.resolve(given);
    const description = isRecord(part) ? part.description : undefined;
    return { name, place: "body", description, schema: part, isRequired: required.includes(name) };
  });
}
