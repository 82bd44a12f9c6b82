import { errorCode } from "../../../../shared/base/error-code.ts";
import { getOwn, isRecord } from "../../../../shared/base/json.ts";
import type { ResultReceiver } from "../../../calls/pipeline.ts";
import { type LoadSdk, loadSdk } from "../host/load-sdk.ts";

/** Attachments of people lie here too: the one folder that a `media://` reference can name. */
const AREA = "inbound";
const MAX_FILE_BYTES = 25 * 1024 * 1024;
const MAX_TEXT_CHARS = 20_000;
/** Characters decoded at a time. */
const WINDOW = 64 * 1024;
const TEXT_TYPE = /^text\/|[/+](json|xml|yaml|csv)$/;

/**
 * Creates the step that puts the files of a result into the host's media store and leaves a reference in their place.
 * Each file may have 25 MiB. A file that cannot be stored stays in the result, with a note; where the host has no store
 * for plugins nothing changes.
 */
export function createResultSaver(load: LoadSdk = loadSdk): ResultReceiver {
  return async (result, { signal }) => {
    const files = findResultFiles(result);
    const { saveMediaStream, saveMediaSource } = (files.length > 0 && (await load("media-store"))) || {};
    if (typeof saveMediaStream !== "function" || typeof saveMediaSource !== "function") return { result, notes: [] };
    const save = async ({ source, name, mimetype }: ResultFile): Promise<unknown> => {
      if (source.kind === "base64") {
        return saveMediaStream(decode(source.text, signal), mimetype, AREA, MAX_FILE_BYTES, name);
      }
      // The host fetches it without any header of ours, and refuses private addresses. It copies any local file, too.
      if (!source.url.startsWith("https://")) throw new TypeError("Only https links are fetched.");
      return saveMediaSource(source.url, undefined, AREA, MAX_FILE_BYTES);
    };
    let rest = result;
    const notes: string[] = [];
    for (const file of files) {
      signal?.throwIfAborted();
      try {
        rest = replaceAt(rest, file.path, describeSaved(file, await save(file)));
      } catch (error) {
        signal?.throwIfAborted();
        notes.push(`a file of the result (${file.name ?? "no name"}) was not saved: ${explain(error)}`);
      }
    }
    return { result: rest, notes };
  };
}

/** The bytes of a base64 text, window by window; line breaks may be anywhere. */
async function* decode(text: string, signal?: AbortSignal): AsyncGenerator<Buffer> {
  let carried = "";
  for (let at = 0; at < text.length; at += WINDOW) {
    signal?.throwIfAborted();
    const chars = carried + text.slice(at, at + WINDOW).replace(/\s/g, "");
    const whole = at + WINDOW >= text.length ? chars.length : chars.length - (chars.length % 4);
    carried = chars.slice(whole);
    yield Buffer.from(chars.slice(0, whole), "base64");
  }
}

/** Stands in the result instead of the bytes, or the link to them; with the content where it is a short text. */
function describeSaved({ name, source }: ResultFile, saved: unknown) {
  const { id, size, contentType } = isRecord(saved) ? saved : {};
  if (typeof id !== "string" || typeof size !== "number") throw new TypeError("The host's media store gave no id.");
  // By content where that tells, else as declared.
  const mimetype = typeof contentType === "string" ? contentType : undefined;
  const text = source.kind === "base64" && mimetype !== undefined ? readText(source.text, mimetype) : undefined;
  return {
    // The host's tools and the file fields of svc take it.
    media: `media://${AREA}/${encodeURIComponent(id)}`,
    ...(name !== undefined && { name }),
    ...(mimetype !== undefined && { mimetype }),
    size,
    ...(text !== undefined && { text }),
  };
}

function readText(base64: string, mimetype: string): string | undefined {
  if (!TEXT_TYPE.test(mimetype) || base64.length > 2 * MAX_TEXT_CHARS) return undefined;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(base64, "base64"));
    return text.length > MAX_TEXT_CHARS ? undefined : text;
  } catch {
    return undefined;
  }
}

/** A copy with `saved` in place of the value at `path`. */
function replaceAt(value: unknown, [key, ...rest]: Path, saved: object): unknown {
  if (key === undefined) return saved;
  if (Array.isArray(value)) return value.map((item, index) => (index === key ? replaceAt(item, rest, saved) : item));
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([name, item]) => [
    name,
    name === key ? replaceAt(item, rest, saved) : item,
  ]);
  return Object.fromEntries(entries);
}

/** Says no more than a model needs: errors of the host may name links and places. */
function explain(error: unknown): string {
  const code = errorCode(error);
  if (code === "too-large" || code === "max_bytes") return "it is larger than 25 MiB";
  return code === "fetch_failed" || code === "http_error"
    ? "its link could not be fetched"
    : "the host did not take it";
}

/** A file inside the result of a tool. */
interface ResultFile {
  /** Keys and indexes from the result to the bytes or the link. */
  readonly path: Path;
  readonly source: FileSource;
  /** As the result names it, unchecked. */
  readonly name?: string;
  /** As the result declares it, unchecked. */
  readonly mimetype?: string;
}

/** The bytes themselves in base64 (either alphabet, line breaks allowed), or a public link to them. */
type FileSource = { readonly kind: "base64"; readonly text: string } | { readonly kind: "link"; readonly url: string };

type Holder = Readonly<Record<string, unknown>>;
type Path = readonly (string | number)[];

const MOST_FILES = 20;
const MAX_DEPTH = 40;
/** Shorter texts are no files, and could be words by chance. */
const MIN_CHARS = 64;
const BASE64 = /^[A-Za-z0-9+/_\-\r\n]+={0,2}\s*$/;
const DATA_URL = /^data:([a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+)[^,]{0,200};base64,/i;

/**
 * Members that hold a file, and when. `dataBase64` is the API document's own; `s3url`, `file_content_bytes` and
 * `content` with its encoding are what tools of the hosted service describe; `contentBytes` comes from mail providers,
 * `data` and `blob` from MCP servers.
 */
const FORMS: Readonly<Record<string, (holder: Holder) => boolean>> = {
  dataBase64: () => true,
  file_content_bytes: () => true,
  contentBytes: () => true,
  content: ({ encoding }) => encoding === "base64",
  data: ({ type, mimeType }) => typeof mimeType === "string" && (type === "image" || type === "audio"),
  blob: ({ uri }) => typeof uri === "string",
};

/** Finds at most 20 files in a result. Only the known forms count: a text that merely looks like base64 is no file. */
export function findResultFiles(result: unknown): readonly ResultFile[] {
  const files: ResultFile[] = [];
  visit(result, [], files);
  return files;
}

function visit(value: unknown, path: Path, files: ResultFile[]): void {
  if (path.length > MAX_DEPTH || files.length === MOST_FILES) return;
  const data = typeof value === "string" ? readDataUrl(value) : undefined;
  if (data !== undefined) files.push({ path, ...data });
  if (Array.isArray(value)) for (const [index, item] of value.entries()) visit(item, [...path, index], files);
  else if (isRecord(value)) visitHolder(value, path, files);
}

function visitHolder(holder: Holder, path: Path, files: ResultFile[]): void {
  for (const [member, value] of Object.entries(holder)) {
    const source = readSource(holder, member, value);
    if (source === undefined) visit(value, [...path, member], files);
    else if (files.length < MOST_FILES) files.push({ path: [...path, member], source, ...describe(holder) });
  }
}

function readSource(holder: Holder, member: string, value: unknown): FileSource | undefined {
  if (typeof value !== "string") return undefined;
  if (member === "s3url") return isPublicLink(value) ? { kind: "link", url: value } : undefined;
  const isForm = Object.hasOwn(FORMS, member) && FORMS[member]?.(holder) === true;
  return isForm && value.length >= MIN_CHARS && BASE64.test(value) ? { kind: "base64", text: value } : undefined;
}

function readDataUrl(text: string): Omit<ResultFile, "path"> | undefined {
  const [head, mimetype] = DATA_URL.exec(text.slice(0, 400)) ?? [];
  if (head === undefined || mimetype === undefined) return undefined;
  const base64 = text.slice(head.length);
  if (base64.length < MIN_CHARS || !BASE64.test(base64)) return undefined;
  return { source: { kind: "base64", text: base64 }, mimetype };
}

function isPublicLink(text: string): boolean {
  const url = URL.parse(text);
  return url?.protocol === "https:" && url.username === "" && url.password === "";
}

function describe(holder: Holder): Pick<ResultFile, "name" | "mimetype"> {
  const name = firstText(holder, ["name", "filename", "file_name", "fileName", "path", "uri"]);
  const mimetype = firstText(holder, ["mimetype", "mimeType", "mime_type", "contentType", "content_type"]);
  const last = name
    ?.replace(/[?#].*$/s, "")
    .split(/[\\/]/)
    .findLast((part) => part !== "");
  return { ...(last !== undefined && { name: last }), ...(mimetype !== undefined && { mimetype }) };
}

function firstText(holder: Holder, members: readonly string[]): string | undefined {
  return members
    .map((member) => getOwn(holder, member))
    .find((text): text is string => typeof text === "string" && text.trim() !== "");
}
