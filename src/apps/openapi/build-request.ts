import type { ActionContext } from "../port/integration.ts";
import { buildBody, lackOf, refuse } from "./build-body.ts";
import type { OpenApiDefinition, OperationCall, OperationParameter } from "./openapi-definition.ts";
import { fillAddress } from "./server-address.ts";
import { encodeForPath, encoderOf, encodeStrictly, writePairs, writeSimple } from "./write-value.ts";

type Values = Readonly<Record<string, unknown>>;

/** A request ready to be sent. */
export interface ApiRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Record<string, string>;
  readonly body: string | AsyncIterable<Uint8Array> | undefined;
}

/** Pairs of a query by their written names. */
type Query = [name: string, text: string][];

/** Builds the request of an operation. Throws ServiceError 400 for a value that cannot be written, 401 without a key. */
export function buildRequest(
  definition: OpenApiDefinition,
  call: OperationCall,
  args: Values,
  context: Pick<ActionContext, "connection" | "file">,
): ApiRequest {
  const headers: Record<string, string> = { accept: "application/json, */*;q=0.5", "accept-encoding": "identity" };
  const cookies = new Set<string>();
  const query: Query = [];
  let path = call.path;
  const { settings } = context.connection;
  const baseUrl = fillAddress(definition, settings);
  for (const parameter of call.parameters) {
    const value = readValue(parameter, args, settings);
    if (value === undefined) continue;
    if (parameter.in === "path") {
      const text = encodePathPart(parameter, value);
      path = path.replaceAll(`{${parameter.name}}`, () => text);
    } else if (parameter.in === "query") {
      query.push(...writePairs(parameter.name, value, parameter, encoderOf(parameter)));
    } else if (parameter.in === "cookie") {
      const text = writeCookie(parameter, value);
      if (text !== "") cookies.add(text);
    } else {
      const text = writeSimple(value, parameter, (part) => part);
      if (text !== undefined) headers[parameter.name.toLowerCase()] = toHeaderText(parameter, text);
    }
  }
  const body = buildBody(call, args, context);
  if (body?.type !== undefined) headers["content-type"] = body.type;
  signRequest(definition, call, settings, { headers, cookies, query });
  if (cookies.size > 0) headers.cookie = [...cookies].join("; ");
  const url = new URL(baseUrl + path);
  url.search = [url.search.slice(1), ...query.map((pair) => pair.join("="))].filter((text) => text !== "").join("&");
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
  const { argument, allowReserved = false } = parameter;
  const text = writeSimple(value, parameter, allowReserved ? encodeForPath : encodeStrictly);
  if (text === undefined) throw refuse(argument, "has no value, and the address needs one.");
  const parts = allowReserved ? text.split("/") : [text];
  if (parts.some((part) => /^\.{0,2}$/.test(part))) throw refuse(argument, "cannot be a part of a path.");
  return text;
}

/** The pairs of a cookie are joined as those of a query, but in the style that cookies have for themselves. */
function writeCookie(parameter: OperationParameter, value: unknown): string {
  const isOwnStyle = parameter.style === "cookie";
  const pairs = writePairs(parameter.name, value, parameter, isOwnStyle ? (text) => text : encodeStrictly);
  const texts = pairs.map((pair) => pair.join("="));
  // RFC 6265, section 4.1.1.
  const isSendable = texts.every((text) => /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/.test(text));
  if (isOwnStyle && !isSendable) throw refuse(parameter.argument, "holds characters that no cookie can carry.");
  return texts.join(isOwnStyle ? "; " : "&");
}

function toHeaderText({ argument }: OperationParameter, text: string): string {
  if (/^[\t\x20-\x7e\x80-\xff]*$/.test(text)) return text;
  throw refuse(argument, "holds characters that no header can carry.");
}

/** Adds the keys of the first alternative whose settings are all there. */
function signRequest(
  { schemes }: OpenApiDefinition,
  { security }: OperationCall,
  settings: Values,
  to: { headers: Record<string, string>; cookies: Set<string>; query: Query },
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
    else if (scheme.as === "query") replacePair(to.query, encodeStrictly(scheme.name), encodeStrictly(secret));
    else if (scheme.as === "cookie") to.cookies.add(`${scheme.name}=${encodeURIComponent(secret)}`);
    else if (scheme.as === "bearer") to.headers.authorization = `Bearer ${secret}`;
    else {
      const user = String(settings[`${scheme.setting}_user`] ?? "");
      to.headers.authorization = `Basic ${Buffer.from(`${user}:${secret}`, "utf8").toString("base64")}`;
    }
  }
}

/** A member of an argument must not stand for the key. */
function replacePair(query: Query, name: string, text: string): void {
  const others = query.filter((pair) => pair[0] !== name);
  query.splice(0, query.length, ...others, [name, text]);
}
