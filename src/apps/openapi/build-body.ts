import { randomUUID } from "node:crypto";
import { readBody } from "../../service/fetch/read-body.ts";
import { ServiceError } from "../../service/service-error.ts";
import { isRecord } from "../../shared/base/json.ts";
import { MAX_FILE_BYTES } from "../../shared/wire/constants.ts";
import type { ActionContext, HeldFile } from "../port/integration.ts";
import type { MemberEncoding, OperationCall } from "./openapi-definition.ts";
import { encoderOf, encodeStrictly, toText, writePairs } from "./write-value.ts";

type Values = Readonly<Record<string, unknown>>;
type WireBody = NonNullable<OperationCall["body"]>;
type FindFile = (value: unknown) => HeldFile | undefined;

/** The body of a call with its type; undefined for none. Throws ServiceError 400 for a value that cannot be written. */
export function buildBody(
  call: OperationCall,
  args: Values,
  { connection, file }: Pick<ActionContext, "connection" | "file">,
): { type: string; bytes: string | AsyncIterable<Uint8Array> } | undefined {
  const { body } = call;
  if (body === null) return undefined;
  const given = body.argument === null ? pickMembers(call, args) : args[body.argument];
  const value = addSettings(given, body.settings, connection.settings);
  if (value === undefined) return undefined;
  const { mimetype, encoding = {} } = body;
  const findFile: FindFile = (part) =>
    isRecord(part) && typeof part.s3key === "string" ? file(part.s3key) : undefined;
  switch (body.type) {
    case "json": {
      const type = mimetype === "*/*" ? "application/json" : mimetype;
      return { type, bytes: body.hasFiles ? writeJsonWithFiles(value, findFile) : JSON.stringify(value) };
    }
    case "text": {
      const bytes = toText(value);
      const isTold = /;\s*charset=/i.test(mimetype) || isAscii(bytes);
      return { type: isTold ? mimetype : `${mimetype}; charset=utf-8`, bytes };
    }
    case "form":
      return { type: mimetype, bytes: writeForm(toMembers(value, body), encoding) };
    case "multipart":
      return writeMultipart(toMembers(value, body), encoding, { findFile, hasFiles: body.hasFiles === true });
    case "file": {
      const found = findFile(value);
      if (found === undefined) throw refuse(body.argument ?? "body", "is not a file.");
      return { type: toFileType(found, mimetype), bytes: found.open() };
    }
  }
}

const BYTES = "application/octet-stream";

/** The type of a file, unless the document asks for plain bytes, or nobody knows the file's and the document names one. */
function toFileType({ mimetype }: HeldFile, named: string): string {
  return named === BYTES || (mimetype === BYTES && /^[\w.+-]+\/[\w.+-]+$/.test(named)) ? named : mimetype;
}

function isAscii(text: string): boolean {
  return /^\p{ASCII}*$/u.test(text);
}

function toMembers(value: unknown, { argument }: WireBody): Values {
  if (isRecord(value)) return value;
  throw refuse(argument ?? "body", "is to be an object.");
}

/** Every argument that is not a parameter; undefined without any, unless a body has to be sent. */
function pickMembers({ parameters, body }: OperationCall, args: Values): Values | undefined {
  const names = new Set(parameters.map(({ argument }) => argument));
  const members = Object.entries(args).filter(([name]) => !names.has(name));
  return members.length === 0 && body?.isRequired !== true ? undefined : Object.fromEntries(members);
}

/** The body with the credentials of the connection among its members. */
function addSettings(given: unknown, wanted: WireBody["settings"], settings: Values): unknown {
  const parts = (wanted ?? []).flatMap(({ member, setting, isNeeded }) => {
    const value = settings[setting];
    if (typeof value === "string" && value !== "") return [[member, value] as const];
    if (isNeeded) throw lackOf(setting, member);
    return [];
  });
  if (parts.length === 0 || (given !== undefined && !isRecord(given))) return given;
  return { ...given, ...Object.fromEntries(parts) };
}

async function* writeJsonWithFiles(value: unknown, findFile: FindFile): AsyncGenerator<Uint8Array> {
  yield encode(await toJsonWithFiles(value, findFile));
}

/** Bytes have no place in JSON: a file stands there as base64. */
async function toJsonWithFiles(value: unknown, findFile: FindFile): Promise<string> {
  const inline = async (part: unknown): Promise<unknown> => {
    const found = isRecord(part) && typeof part.mimetype === "string" ? findFile(part) : undefined;
    if (found !== undefined) return (await readBody(found.open(), MAX_FILE_BYTES))?.toString("base64");
    if (Array.isArray(part)) return Promise.all(part.map(inline));
    if (!isRecord(part)) return part;
    const members = Object.entries(part).map(async ([name, one]) => [name, await inline(one)] as const);
    return Object.fromEntries(await Promise.all(members));
  };
  return JSON.stringify(await inline(value));
}

/** `application/x-www-form-urlencoded`: without a style, lists are repeated, and objects are JSON. */
function writeForm(members: Values, encoding: Readonly<Record<string, MemberEncoding>>): string {
  const pairs = Object.entries(members).flatMap(([name, value]) => {
    const how = encoding[name];
    if (how?.writing !== undefined) return writePairs(name, value, how.writing, encoderOf(how.writing));
    return listParts(name, value, how).map((part) => [encodeStrictly(name), encodeStrictly(toPartText(part))]);
  });
  return pairs.map((pair) => pair.join("=")).join("&");
}

interface Part {
  readonly name: string;
  readonly value: unknown;
  /** Content type that the document names; undefined for that of the value. */
  readonly type: string | undefined;
}

/** A member without a style of its own: a list as one part for each item, unless it is JSON. */
function listParts(name: string, value: unknown, how: MemberEncoding | undefined): Part[] {
  // A type that leaves a choice is one of files.
  const type = /^[\w.+-]+\/[\w.+-]+(;[^,\r\n]*)?$/.test(how?.contentType ?? "") ? how?.contentType : undefined;
  const values = Array.isArray(value) && !isJsonType(type) ? value : [value];
  return values.filter((one) => one !== null && one !== undefined).map((one) => ({ name, value: one, type }));
}

function toPartText({ value, type }: Part): string {
  return isJsonType(type) ? JSON.stringify(value) : toText(value);
}

/** Writes a form (RFC 7578): members that are files as file parts, objects and lists of them as JSON. */
function writeMultipart(
  members: Values,
  encoding: Readonly<Record<string, MemberEncoding>>,
  { findFile, hasFiles }: { findFile: FindFile; hasFiles: boolean },
): { type: string; bytes: AsyncIterable<Uint8Array> } {
  const boundary = `svc-${randomUUID()}`;
  const parts = Object.entries(members).flatMap(([name, value]): Part[] => {
    const how = encoding[name];
    if (how?.writing === undefined) return listParts(name, value, how);
    const pairs = writePairs(name, value, how.writing, (text) => text);
    return pairs.map(([key, text]) => ({ name: key, value: text, type: undefined }));
  });
  async function* write(): AsyncGenerator<Uint8Array> {
    for (const { name, value, type } of parts) {
      const file = findFile(value);
      if (file === undefined) {
        const ofPart = type ?? (isRecord(value) || Array.isArray(value) ? "application/json" : undefined);
        const line = ofPart === undefined ? "" : `\r\ncontent-type: ${ofPart}`;
        const isJson = hasFiles && isJsonType(ofPart);
        const text = isJson ? await toJsonWithFiles(value, findFile) : toPartText({ name, value, type: ofPart });
        yield encode(
          `--${boundary}\r\ncontent-disposition: form-data; name="${quote(name)}"${line}\r\n\r\n${text}\r\n`,
        );
        continue;
      }
      const place = `content-disposition: form-data; name="${quote(name)}"; filename="${quote(file.name)}"`;
      yield encode(`--${boundary}\r\n${place}\r\ncontent-type: ${toFileType(file, type ?? "")}\r\n\r\n`);
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

/** True for `application/json`, any `+json`, and their parameters. */
export function isJsonType(type: string | undefined): boolean {
  return type !== undefined && /^[\w.+-]+\/([\w.-]+\+)?json\s*(;|$)/i.test(type);
}

/** The refusal of a call whose connection has no value for a setting: 422 `integration_misconfigured`. */
export function lackOf(setting: string | undefined, needed: string): ServiceError {
  return new ServiceError(422, "integration_misconfigured", `This connection lacks the key for it: ${needed}.`, {
    type: "configuration",
    hint: "The owner gives it in the dashboard: Connections, Change settings.",
    extra: { setting },
  });
}

/** The refusal of an argument that cannot be written: 400 `invalid_arguments`. */
export function refuse(argument: string, problem: string): ServiceError {
  return new ServiceError(400, "invalid_arguments", `arguments.${argument} ${problem}`, {
    type: "validation",
    extra: { invalidFields: [`arguments.${argument}`] },
  });
}
