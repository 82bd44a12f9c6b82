import { isRecord } from "../../../base/json.ts";

/** A file that stands in the result of a tool. */
export interface ResultFile {
  /** Keys and indexes from the result to the bytes or the link. */
  readonly path: readonly (string | number)[];
  readonly source: FileSource;
  /** As the result names it, unchecked. */
  readonly name?: string;
  /** As the result declares it, unchecked. */
  readonly mimetype?: string;
}

/** The bytes themselves in base64 (either alphabet, line breaks allowed), or a public link to them. */
export type FileSource =
  | { readonly kind: "base64"; readonly text: string }
  | { readonly kind: "link"; readonly url: string };

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
  const texts = members.map((member) => (Object.hasOwn(holder, member) ? holder[member] : undefined));
  return texts.find((text): text is string => typeof text === "string" && text.trim() !== "");
}
