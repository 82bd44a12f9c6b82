import { quoteWord } from "../../../shared/base/text.ts";
import type { UploadInstruction } from "../../../shared/wire/execution.ts";
import { INGEST_PATH } from "../../../shared/wire/file.ts";
import { isLoopbackHost } from "../../client/base-url.ts";
import { MAX_HINT_CHARACTERS } from "./redact-hint.ts";
import { findFormOption } from "./upload-form.ts";

/** One upload as it will be sent; holds a single-use token, so show it to nobody. */
export interface UploadPlan {
  readonly url: string;
  readonly method: "POST" | "PUT";
  /** Allowed headers only, names in lower case; no content type. */
  readonly headers: Readonly<Record<string, string>>;
  /** Largest file the token is good for, if the service names a limit. */
  readonly maxBytes?: number;
  /** Name of the part of a form that the file is sent in; undefined where the body is the file. */
  readonly part?: string | undefined;
}

/** A plan, or one plain reason why the instruction is not followed; the reason holds no token. */
export type UploadReading =
  | { readonly ok: true; readonly plan: UploadPlan }
  | { readonly ok: false; readonly reason: string };

/** The service's request to upload a file, and the facts it is checked against. */
export interface UploadHint {
  /** The prose hint of a `missing_file_bytes` failure. */
  readonly hint?: string | undefined;
  /** The structured instruction; if present, the prose is not read. */
  readonly upload?: UploadInstruction | undefined;
  readonly baseUrl: string;
  /** The file's reference exactly as it was sent to the service. */
  readonly reference: string;
}

interface UploadRequest {
  readonly urls: readonly string[];
  readonly methods: readonly string[];
  /** `Name: value` lines. */
  readonly headers: readonly string[];
}

/** More than one command is refused anyway; this bounds the work of reading them. */
const MAX_COMMANDS = 20;

const TOKEN_HEADERS = new Set(["x-svc-upload-token", "x-upload-token", "x-ingest-token"]);
// The plugin sets these itself.
const OWN_HEADERS = new Set(["content-type", "content-md5", "x-file-name"]);
const HEADERS = new Set(["authorization", "accept", ...TOKEN_HEADERS, ...OWN_HEADERS]);
const TOKEN = /^[\x21-\x7e]{16,4096}$/;

const FENCE = /^[ \t]*(`{3,}|~{3,})[^\n]*\n([\s\S]*?)(?:^[ \t]*\1[`~]*[ \t]*$|(?![\s\S]))/gm;
const SPAN = /`[ \t]*(curl[ \t][^`\n]*)`/g;
const LINE = /(?:^[ \t]*(?:(?:[-*•]|\d{1,9}[.)])[ \t]+)?(?:[$%>][ \t]+)?|:[ \t]+)(curl[ \t](?:\\\r?\n|[^\n])*)/gm;

/** A word in one pair of quotes, or bare, without anything a shell would replace. */
const BARE = String.raw`[^\s\p{Cc}'"\\$\x60;&|<>(){}\[\]*?!~#^]`;
const WORD = String.raw`'[^'\p{Cc}]*'|"[^"\\$\x60\p{Cc}]*"|(?!-)${BARE}+`;
const FLAGS = "-[sSfiv]+|--(?:silent|show-error|fail|fail-with-body|include|verbose|compressed)";
const TIMES = String.raw`(?:-m|--(?:max-time|connect-timeout|retry|retry-delay|retry-max-time)) \d{1,6}`;
/** One option with its value, or the address. */
const ITEM = new RegExp(
  `(?:${FLAGS}|${TIMES}|(?:-X ?|--request )(?<method>${WORD})|(?:-H ?|--header )(?<header>${WORD})|(?:--url )?(?<url>${WORD}))(?:[ \\t]+|$)`,
  "uy",
);

/**
 * Reads how to upload the bytes the service is missing ("File rules" 8). A command in the hint is data: it is accepted
 * only if it is nothing but an upload of exactly this file to the ingest endpoint of this service. The bytes never come
 * from a path named here, and no shell is involved.
 */
export function readUploadHint(from: UploadHint): UploadReading {
  const base = URL.parse(from.baseUrl);
  if (base === null) return refuse("the base URL is not a URL");
  if (from.upload !== undefined) return readInstruction(from.upload, from.reference, base);
  if (from.hint === undefined) return refuse("there is no upload instruction");
  if (from.hint.length > MAX_HINT_CHARACTERS) return refuse("the hint is too long");
  const commands = findCommands(from.hint);
  if (commands.length > MAX_COMMANDS) return refuse("there is more than one upload command");
  const readings = commands.map((command) => readCommand(command, from.reference, base));
  const plans = readings.filter((reading) => reading.ok);
  if (plans.length > 1) return refuse("there is more than one upload command");
  return plans[0] ?? readings[0] ?? refuse("there is no upload command");
}

function readInstruction(upload: UploadInstruction, reference: string, base: URL): UploadReading {
  const named = [upload.reference, upload.pointer, upload.path].filter((one) => one !== undefined);
  if (named.some((one) => one !== reference)) return refuse("it is for another file");
  const headers = Object.entries(upload.headers).map(([name, value]) => `${name}: ${value}`);
  const reading = judge({ urls: [upload.url], methods: [upload.method], headers }, "POST", base);
  return reading.ok ? { ok: true, plan: { ...reading.plan, maxBytes: upload.maxBytes } } : reading;
}

/** Fenced blocks as a whole, so that a second line cannot hide; then back-tick spans and lines that start with curl. */
function findCommands(hint: string): string[] {
  const blocks = [...hint.matchAll(FENCE)].map(([, , inner = ""]) => inner.trim().replace(/^\$[ \t]+/, ""));
  const unfenced = hint.replace(FENCE, "");
  const spans = [...unfenced.matchAll(SPAN)].map(([, inner = ""]) => inner);
  const lines = [...unfenced.replace(SPAN, "").matchAll(LINE)].map(([, inner = ""]) => inner);
  return [...blocks.filter((block) => /curl/i.test(block)), ...spans, ...lines];
}

function readCommand(command: string, reference: string, base: URL): UploadReading {
  if (!/^curl[ \t]/.test(command)) return refuse("it is not a plain curl command");
  const joined = command.slice("curl".length).replace(/\\\r?\n/g, " ");
  const form = findFormOption(joined, reference, quote);
  const file = form ?? spellFile(reference).find(({ text }) => joined.includes(text));
  if (file === undefined) return refuse("it is for another file");
  // The rest may name no other file: ITEM has no option for one.
  const at = joined.indexOf(file.text);
  const after = joined.slice(at + file.text.length);
  if (!/^\s|^$/.test(after)) return refuse("it is for another file");
  const request = readItems(`${joined.slice(0, at)}${after}`.trim());
  if (request === undefined) return refuse("it is more than a plain upload");
  if (form === undefined) return judge(request, "method" in file ? file.method : "POST", base);
  const reading = judge(request, "POST", base);
  if (reading.ok && reading.plan.method !== "POST") return refuse("a form must be posted");
  return reading.ok ? { ok: true, plan: { ...reading.plan, part: form.part } } : reading;
}

/** A word as a shell takes it: in quotes, or with escapes. In double quotes a path of Windows may keep its backslashes. */
function quote(text: string): string[] {
  const escaped = `"${text.replaceAll(/["\\$`]/g, "\\$&")}"`;
  const asItIs = /["$`]|\\\\|\\$/.test(text) ? [] : [`"${text}"`];
  return [quoteWord(text), escaped, ...asItIs, text.replaceAll(/[^\w./:=@-]/g, "\\$&")];
}

/** Every spelling of the option that names the file: in quotes, with escapes, or with the `@` before the quotes. */
function spellFile(reference: string): { text: string; method: "POST" | "PUT" }[] {
  const data = [...quote(`@${reference}`), ...quote(reference).map((text) => `@${text}`)];
  const paths = quote(reference);
  return [
    ...data.map((text) => ({ text: ` --data-binary ${text}`, method: "POST" as const })),
    ...paths.map((text) => ({ text: ` --upload-file ${text}`, method: "PUT" as const })),
    ...paths.map((text) => ({ text: ` -T ${text}`, method: "PUT" as const })),
  ];
}

function readItems(text: string): UploadRequest | undefined {
  const request = { urls: [] as string[], methods: [] as string[], headers: [] as string[] };
  for (let at = 0; at < text.length; at = ITEM.lastIndex) {
    ITEM.lastIndex = at;
    const found = ITEM.exec(text)?.groups;
    if (found === undefined) return undefined;
    const { url, method, header } = found;
    if (url !== undefined) request.urls.push(unquote(url));
    if (method !== undefined) request.methods.push(unquote(method));
    if (header !== undefined) request.headers.push(unquote(header));
  }
  return request;
}

function unquote(word: string): string {
  return /^["']/.test(word) ? word.slice(1, -1) : word;
}

function judge(request: UploadRequest, usual: "POST" | "PUT", base: URL): UploadReading {
  const [address, ...others] = request.urls;
  if (address === undefined || others.length > 0) return refuse("it must name exactly one address");
  const [method = usual, ...more] = request.methods;
  if (more.length > 0 || (method !== "POST" && method !== "PUT")) return refuse("the method must be POST or PUT");
  const url = judgeAddress(address, base);
  if (typeof url === "string") return refuse(url);
  const headers = readHeaders(request.headers);
  if (typeof headers === "string") return refuse(headers);
  const problem = judgeTokens(url, headers);
  if (problem !== undefined) return refuse(problem);
  const sent = Object.fromEntries([...headers].filter(([name]) => !OWN_HEADERS.has(name)));
  return { ok: true, plan: { url: url.href, method, headers: sent } };
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
  if (url.protocol !== "https:" && !isLoopbackHost(url.hostname)) return "the address is not https";
  return [...url.searchParams.keys()].every((key) => key === "token") ? url : "the address has unknown parameters";
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

function judgeTokens(url: URL, headers: ReadonlyMap<string, string>): string | undefined {
  const bearer = headers.get("authorization");
  const tokens = [
    ...(bearer === undefined ? [] : [/^Bearer +(\S+)$/i.exec(bearer)?.[1] ?? ""]),
    ...[...headers].filter(([name]) => TOKEN_HEADERS.has(name)).map(([, value]) => value),
    ...url.searchParams.getAll("token"),
  ];
  if (tokens.length !== 1) return "it must carry exactly one token";
  return TOKEN.test(tokens[0] ?? "") ? undefined : "the token is malformed";
}

function refuse(reason: string): UploadReading {
  return { ok: false, reason };
}
