import type { UploadInstruction } from "../wire/execution.ts";
import { INGEST_PATH } from "../wire/file.ts";
import { type CurlRequest, readCurlArguments } from "./curl-command.ts";
import { findCommands, MAX_HINT_CHARACTERS } from "./find-commands.ts";
import { splitShellWords } from "./shell-words.ts";

/** One upload as we will send it; holds a single-use token, so show it to nobody. */
export interface UploadPlan {
  readonly url: string;
  readonly method: "POST" | "PUT";
  /** Allowed headers only, names in lower case; no content type. */
  readonly headers: Readonly<Record<string, string>>;
  /** Raw bytes, or one part of a form with these text fields before it. */
  readonly form?: { readonly part: string; readonly fields: readonly (readonly [string, string])[] };
  /** Largest file the token is good for, when the service said so. */
  readonly maxBytes?: number;
}

/** A plan, or one plain reason why the instruction is not followed; the reason holds no token. */
export type UploadReading =
  | { readonly ok: true; readonly plan: UploadPlan }
  | { readonly ok: false; readonly reason: string };

/** What {@link readUploadHint} reads. `upload` is looked at first. */
export interface UploadHint {
  /** The prose hint of a `missing_file_bytes` failure. */
  readonly hint?: string | undefined;
  /** Its structured twin, where the service sends one. */
  readonly upload?: UploadInstruction | undefined;
  readonly baseUrl: string;
  /** The file's reference exactly as it was sent to the service. */
  readonly reference: string;
}

const HEADERS = new Set([
  "authorization",
  "content-type",
  "accept",
  "x-svc-upload-token",
  "x-upload-token",
  "x-ingest-token",
  "x-file-name",
  "content-md5",
]);
const TOKEN_HEADERS = new Set(["x-svc-upload-token", "x-upload-token", "x-ingest-token"]);
// Ours say what is sent, whatever the hint says.
const OWN_HEADERS = new Set(["content-type", "content-md5", "x-file-name"]);
const FORM_FIELDS = new Set(["token", "field", "name", "filename", "mimetype", "pointer"]);
const MAX_COMMANDS = 20;
const TOKEN = /^[\x21-\x7e]{16,4096}$/;

/**
 * Reads how to upload the bytes the service is missing ("File rules" 8). The command in the hint is data: it is taken
 * apart and accepted only when it is a plain upload of exactly this file to the ingest endpoint of this service. The
 * bytes never come from a path named here, and no shell is involved.
 */
export function readUploadHint(from: UploadHint): UploadReading {
  const base = URL.parse(from.baseUrl);
  if (base === null) return refuse("the base URL is not a URL");
  if (from.upload !== undefined) return readInstruction(from.upload, from.reference, base);
  if (from.hint === undefined) return refuse("there is no upload instruction");
  if (from.hint.length > MAX_HINT_CHARACTERS) return refuse("the hint is too long to be one");
  const commands = findCommands(from.hint);
  if (commands.length > MAX_COMMANDS) return refuse("there is more than one upload command");
  const readings = commands.map(({ text }) => readCommand(text, from.reference, base));
  const plans = readings.filter((reading) => reading.ok);
  if (plans.length > 1) return refuse("there is more than one upload command");
  return plans[0] ?? readings[0] ?? refuse("there is no upload command");
}

function readInstruction(upload: UploadInstruction, reference: string, base: URL): UploadReading {
  const named = [upload.reference, upload.pointer, upload.path].filter((one) => one !== undefined);
  if (named.some((one) => one !== reference)) return refuse("it is for another file");
  const reading = judge(
    {
      urls: [upload.url],
      methods: [upload.method],
      headers: Object.entries(upload.headers).map(([name, value]) => `${name}: ${value}`),
      fields: [],
      files: [{ path: reference, impliesPut: false }],
    },
    reference,
    base,
  );
  return reading.ok ? { ok: true, plan: { ...reading.plan, maxBytes: upload.maxBytes } } : reading;
}

function readCommand(command: string, reference: string, base: URL): UploadReading {
  const split = splitShellWords(command);
  if (!split.ok) return split;
  const [program, ...words] = split.words;
  if (program !== "curl") return refuse("it is not a plain curl command");
  const request = readCurlArguments(words);
  return typeof request === "string" ? refuse(request) : judge(request, reference, base);
}

function judge(request: CurlRequest, reference: string, base: URL): UploadReading {
  const [address, ...others] = request.urls;
  if (address === undefined || others.length > 0) return refuse("it must name exactly one address");
  const [file, ...more] = request.files;
  if (file === undefined || more.length > 0) return refuse("it must name exactly one file");
  if (file.path !== reference) return refuse("it is for another file");
  const method = readMethod(request.methods, file.impliesPut);
  if (method === undefined) return refuse("the method must be POST or PUT");
  const url = judgeAddress(address, base);
  if (typeof url === "string") return refuse(url);
  const headers = readHeaders(request.headers);
  if (typeof headers === "string") return refuse(headers);
  const fields = request.fields;
  if (fields.length > 0 && file.part === undefined) return refuse("it mixes a form with plain bytes");
  const problem = judgeForm(file.part, fields) ?? judgeTokens(url, headers, fields);
  if (problem !== undefined) return refuse(problem);
  const sent = Object.fromEntries([...headers].filter(([name]) => !OWN_HEADERS.has(name)));
  const form = file.part === undefined ? {} : { form: { part: file.part, fields } };
  return { ok: true, plan: { url: url.href, method, headers: sent, ...form } };
}

function readMethod(methods: readonly string[], impliesPut: boolean): "POST" | "PUT" | undefined {
  if (methods.length > 1) return undefined;
  const method = methods[0] ?? (impliesPut ? "PUT" : "POST");
  return method === "POST" || method === "PUT" ? method : undefined;
}

function judgeAddress(address: string, base: URL): URL | string {
  if (/[^\x21-\x7e]|[\\{}[\]<>"'`#]/.test(address)) return "the address holds unusual characters";
  const url = URL.parse(address);
  if (url === null) return "the address is not a URL";
  if (url.origin !== base.origin || url.username !== "" || url.password !== "" || address.includes("@")) {
    return "the address is not on this service";
  }
  const path = base.pathname.replace(/\/+$/, "") + INGEST_PATH;
  const written = /^https?:\/\/[^/?]+([^?]*)/i.exec(address)?.[1];
  if (url.pathname !== path || written !== path) return "the address is not the ingest endpoint";
  if (url.protocol !== "https:" && !isLoopback(url)) return "the address is not https";
  return [...url.searchParams.keys()].every((key) => key === "token") ? url : "the address has unknown parameters";
}

function isLoopback(url: URL): boolean {
  return url.protocol === "http:" && /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(url.hostname);
}

function readHeaders(lines: readonly string[]): Map<string, string> | string {
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [, name, rest = ""] = /^([A-Za-z0-9-]+):([\t\x20-\x7e]*)$/.exec(line) ?? [];
    const value = rest.trim();
    if (name === undefined || !/^[\x20-\x7e]{1,8192}$/.test(value)) return "a header is malformed";
    const key = name.toLowerCase();
    if (!HEADERS.has(key)) return `the header ${key} is not allowed`;
    if (headers.has(key)) return `the header ${key} is there twice`;
    headers.set(key, value);
  }
  return headers;
}

function judgeForm(part: string | undefined, fields: readonly (readonly [string, string])[]): string | undefined {
  if (part !== undefined && !/^[A-Za-z0-9_.-]{1,64}$/.test(part)) return "the form part has an unusual name";
  const allowed = fields.every(([name, value]) => FORM_FIELDS.has(name) && /^[^\p{Cc}]{0,4096}$/u.test(value));
  return allowed ? undefined : "a form field is not allowed";
}

/** Exactly one token, in a header, the query or a form field. */
function judgeTokens(
  url: URL,
  headers: ReadonlyMap<string, string>,
  fields: readonly (readonly [string, string])[],
): string | undefined {
  const bearer = headers.get("authorization");
  const tokens = [
    ...(bearer === undefined ? [] : [/^Bearer +(\S+)$/i.exec(bearer)?.[1] ?? ""]),
    ...[...headers].filter(([name]) => TOKEN_HEADERS.has(name)).map(([, value]) => value),
    ...url.searchParams.getAll("token"),
    ...fields.filter(([name]) => name === "token").map(([, value]) => value),
  ];
  if (tokens.length !== 1) return "it must carry exactly one token";
  return TOKEN.test(tokens[0] ?? "") ? undefined : "the token is malformed";
}

function refuse(reason: string): UploadReading {
  return { ok: false, reason };
}
