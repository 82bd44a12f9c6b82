import { randomUUID } from "node:crypto";
import { isRecord } from "../../../base/json.ts";
import type { ActionContext, HeldFile } from "../../integrations/integration.ts";
import { ServiceError } from "../../service-error.ts";
import type { OpenApiDefinition, OperationCall, OperationParameter } from "./openapi-definition.ts";
import { fillAddress } from "./server-address.ts";

type Values = Readonly<Record<string, unknown>>;

/** A request ready to be sent. */
export interface ApiRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Record<string, string>;
  readonly body: string | AsyncIterable<Uint8Array> | undefined;
}

/** Builds the request of an operation. Throws ServiceError 400 for a value that cannot be written, 401 without a key. */
export function buildRequest(
  definition: OpenApiDefinition,
  call: OperationCall,
  args: Values,
  context: Pick<ActionContext, "connection" | "file">,
): ApiRequest {
  const headers: Record<string, string> = { accept: "application/json, */*;q=0.5", "accept-encoding": "identity" };
  const cookies = new Set<string>();
  let path = call.path;
  const query = new URLSearchParams();
  const { settings } = context.connection;
  const baseUrl = fillAddress(definition, settings);
  for (const parameter of call.parameters) {
    const value = readValue(parameter, args, settings);
    if (value === undefined) continue;
    if (parameter.in === "path") path = path.replaceAll(`{${parameter.name}}`, encodePathPart(parameter, value));
    else if (parameter.in === "query") writeQuery(query, parameter, value);
    else if (parameter.in === "cookie")
      cookies.add(`${parameter.name}=${encodeURIComponent(joinValue(parameter, value))}`);
    else headers[parameter.name.toLowerCase()] = toHeaderText(parameter, joinValue(parameter, value));
  }
  const body = buildBody(call, args, context);
  if (body?.type !== undefined) headers["content-type"] = body.type;
  signRequest(definition, call, settings, { headers, cookies, query });
  if (cookies.size > 0) headers.cookie = [...cookies].join("; ");
  const url = new URL(baseUrl + path);
  for (const [name, value] of query) url.searchParams.append(name, value);
  // A value of the path must not lead out of the API.
  if (!url.href.startsWith(new URL(`${baseUrl}/`).href)) throw refuse("path", "leads out of this API.");
  return { method: call.method, url, headers, body: body?.bytes };
}

/** A credential comes from the connection, whatever the arguments hold. */
function readValue({ argument, setting, needsSetting }: OperationParameter, args: Values, settings: Values): unknown {
  if (setting === undefined) return args[argument];
  const value = settings[setting];
  if (typeof value === "string" && value !== "") return value;
  if (needsSetting === true) throw lackOf(setting, argument);
  return undefined;
}

function encodePathPart(parameter: OperationParameter, value: unknown): string {
  const text = joinValue(parameter, value);
  const parts = parameter.keepsSlashes ? text.split("/") : [text];
  if (parts.some((part) => /^\.{0,2}$/.test(part))) throw refuse(parameter.argument, "cannot be a part of a path.");
  return parts.map(encodeURIComponent).join("/");
}

function writeQuery(query: URLSearchParams, parameter: OperationParameter, value: unknown): void {
  if (parameter.deep) writeDeep(query, parameter.name, value);
  else if (Array.isArray(value) && parameter.list === "repeat") {
    for (const part of value) query.append(parameter.name, toText(part));
  } else if (isRecord(value) && parameter.object === "members") {
    for (const [key, part] of Object.entries(value)) query.append(key, toText(part));
  } else query.append(parameter.name, joinValue(parameter, value));
}

/** `name[key]=value`, and so on for what is inside: the way servers read it that offer the style at all. */
function writeDeep(fields: URLSearchParams, name: string, value: unknown): void {
  if (typeof value !== "object" || value === null) fields.append(name, toText(value));
  else for (const [key, part] of Object.entries(value)) writeDeep(fields, `${name}[${key}]`, part);
}

function joinValue({ list, object }: OperationParameter, value: unknown): string {
  if (object === "json") return JSON.stringify(value);
  if (Array.isArray(value)) return value.map(toText).join(list === "repeat" ? "," : list);
  if (isRecord(value))
    return Object.entries(value)
      .flatMap(([key, part]) => [key, toText(part)])
      .join(",");
  return toText(value);
}

function toText(value: unknown): string {
  return typeof value === "object" && value !== null ? JSON.stringify(value) : String(value);
}

function toHeaderText({ argument }: OperationParameter, text: string): string {
  if (/^[\t\x20-\x7e\x80-\xff]*$/.test(text)) return text;
  throw refuse(argument, "holds characters that no header can carry.");
}

function buildBody(
  call: OperationCall,
  args: Values,
  context: Pick<ActionContext, "connection" | "file">,
): { type: string; bytes: string | AsyncIterable<Uint8Array> } | undefined {
  if (call.body === null) return undefined;
  const { type, mimetype, argument } = call.body;
  const given = argument === null ? pickMembers(call, args) : args[argument];
  const value = addSettings(given, call.body.settings, context.connection.settings);
  if (value === undefined) return undefined;
  switch (type) {
    case "json":
      return { type: mimetype === "*/*" ? "application/json" : mimetype, bytes: JSON.stringify(value) };
    case "text":
      return { type: `${mimetype}; charset=utf-8`, bytes: toText(value) };
    case "form":
      return { type: mimetype, bytes: writeFields(value, call.body.deep).toString() };
    case "multipart":
      return writeForm(isRecord(value) ? value : {}, (part) => findFile(context, part));
    case "file": {
      const file = findFile(context, value);
      if (file === undefined) throw refuse(argument ?? "body", "is not a file.");
      return { type: file.mimetype, bytes: file.open() };
    }
  }
}

/** Every argument that is not a parameter; undefined without any. */
function pickMembers({ parameters }: OperationCall, args: Values): Values | undefined {
  const names = new Set(parameters.map(({ argument }) => argument));
  const members = Object.entries(args).filter(([name]) => !names.has(name));
  return members.length === 0 ? undefined : Object.fromEntries(members);
}

/** The body with the credentials of the connection among its members. */
function addSettings(
  given: unknown,
  wanted: NonNullable<OperationCall["body"]>["settings"],
  settings: Values,
): unknown {
  const parts = (wanted ?? []).flatMap(({ member, setting, isNeeded }) => {
    const value = settings[setting];
    if (typeof value === "string" && value !== "") return [[member, value] as const];
    if (isNeeded) throw lackOf(setting, member);
    return [];
  });
  if (parts.length === 0 || (given !== undefined && !isRecord(given))) return given;
  return { ...given, ...Object.fromEntries(parts) };
}

function writeFields(value: unknown, deep: readonly string[] = []): URLSearchParams {
  const fields = new URLSearchParams();
  for (const [name, part] of Object.entries(isRecord(value) ? value : {})) {
    if (deep.includes(name)) writeDeep(fields, name, part);
    else for (const one of Array.isArray(part) ? part : [part]) fields.append(name, toText(one));
  }
  return fields;
}

function findFile({ file }: Pick<ActionContext, "file">, value: unknown): HeldFile | undefined {
  return isRecord(value) && typeof value.s3key === "string" ? file(value.s3key) : undefined;
}

/** Adds the keys of the first alternative whose settings are all there. */
function signRequest(
  { schemes }: OpenApiDefinition,
  { security }: OperationCall,
  settings: Values,
  to: { headers: Record<string, string>; cookies: Set<string>; query: URLSearchParams },
): void {
  if (security.length === 0) return;
  const has = (title: string) => schemes[title] !== undefined && typeof settings[schemes[title].setting] === "string";
  // Without a key before with one: an API that can be used without still gives more to those it knows.
  const chosen = security.filter((needed) => needed.length > 0).find((needed) => needed.every(has));
  if (chosen === undefined) {
    if (security.some((needed) => needed.length === 0)) return;
    // Not 401: the keys it has are good, and the other operations go on working with them.
    const needed = security.map((titles) => titles.join(" and ")).join(", or ");
    throw lackOf(
      security.flat().find((title) => !has(title)),
      needed,
    );
  }
  for (const title of chosen) {
    const scheme = schemes[title];
    if (scheme === undefined) continue;
    const secret = String(settings[scheme.setting]);
    if (scheme.as === "header") to.headers[scheme.name.toLowerCase()] = secret;
    else if (scheme.as === "query") to.query.set(scheme.name, secret);
    else if (scheme.as === "cookie") to.cookies.add(`${scheme.name}=${encodeURIComponent(secret)}`);
    else if (scheme.as === "bearer") to.headers.authorization = `Bearer ${secret}`;
    else {
      const user = String(settings[`${scheme.setting}_user`] ?? "");
      to.headers.authorization = `Basic ${Buffer.from(`${user}:${secret}`, "utf8").toString("base64")}`;
    }
  }
}

function lackOf(setting: string | undefined, needed: string): ServiceError {
  return new ServiceError(422, "integration_misconfigured", `This connection lacks the key for it: ${needed}.`, {
    type: "configuration",
    hint: "The owner gives it in the dashboard: Connections, Change settings.",
    extra: { setting },
  });
}

function refuse(argument: string, problem: string): ServiceError {
  return new ServiceError(400, "invalid_arguments", `arguments.${argument} ${problem}`, {
    type: "validation",
    extra: { invalidFields: [`arguments.${argument}`] },
  });
}

/** Writes a form (RFC 7578): members that are files as file parts, objects and lists of them as JSON. */
function writeForm(
  members: Readonly<Record<string, unknown>>,
  findFile: (value: unknown) => HeldFile | undefined,
): { type: string; bytes: AsyncIterable<Uint8Array> } {
  const boundary = `svc-${randomUUID()}`;
  const parts = Object.entries(members).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one) => ({ name, one })),
  );
  async function* write(): AsyncGenerator<Uint8Array> {
    for (const { name, one } of parts) {
      const file = findFile(one);
      if (file === undefined) {
        const isJson = typeof one === "object" && one !== null;
        const type = isJson ? "\r\ncontent-type: application/json" : "";
        yield encode(`--${boundary}\r\ncontent-disposition: form-data; name="${quote(name)}"${type}\r\n\r\n`);
        yield encode(`${isJson ? JSON.stringify(one) : String(one)}\r\n`);
        continue;
      }
      const place = `content-disposition: form-data; name="${quote(name)}"; filename="${quote(file.name)}"`;
      yield encode(`--${boundary}\r\n${place}\r\ncontent-type: ${file.mimetype}\r\n\r\n`);
      for await (const bytes of file.open()) yield bytes;
      yield encode("\r\n");
    }
    yield encode(`--${boundary}--\r\n`);
  }
  return { type: `multipart/form-data; boundary=${boundary}`, bytes: write() };
}

function encode(text: string): Uint8Array {
  return Buffer.from(text, "utf8");
}

function quote(text: string): string {
  return text.replaceAll('"', "%22").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}
