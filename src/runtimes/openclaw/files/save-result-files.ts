import { errorCode } from "../../../base/disk.ts";
import type { ResultReceiver } from "../../../calls/pipeline.ts";
import { loadSdk } from "../host/load-sdk.ts";
import { type FileSource, findResultFiles, type ResultFile } from "./find-result-files.ts";

const MAX_FILE_BYTES = 25 * 1024 * 1024;
const MAX_TEXT_CHARS = 20_000;
/** Characters decoded at a time. */
const WINDOW = 64 * 1024;
const TEXT_TYPE = /^text\/|[/+](json|xml|yaml|csv)$/;

/** What stands in the result where the bytes, or the link to them, stood. */
interface SavedFile {
  /** `media://inbound/…`: the host's tools and the file fields of svc take it. */
  readonly media: string;
  readonly name?: string;
  readonly mimetype?: string;
  /** Bytes. */
  readonly size: number;
  /** The content, where it is a short text. */
  readonly text?: string;
}

/**
 * Creates the step that puts the files of a result into the host's media store and leaves a reference in their place.
 * Each file may have 25 MiB. A file that cannot be stored stays in the result, with a note;
 * where the host has no store for plugins nothing changes.
 */
export function createResultSaver(load: () => Promise<MediaStore | undefined> = loadMediaStore): ResultReceiver {
  return async (result, { signal }) => {
    const files = findResultFiles(result);
    const store = files.length === 0 ? undefined : await load();
    if (store === undefined) return { result, notes: [] };
    let rest = result;
    const notes: string[] = [];
    for (const file of files) {
      signal?.throwIfAborted();
      try {
        const stored = await save(store, file, signal);
        rest = replaceAt(rest, file.path, describeSaved(file, stored));
      } catch (error) {
        signal?.throwIfAborted();
        notes.push(`a file of the result (${file.name ?? "no name"}) was not saved: ${explain(error)}`);
      }
    }
    return { result: rest, notes };
  };
}

function save(store: MediaStore, { source, name, mimetype }: ResultFile, signal: AbortSignal | undefined) {
  if (source.kind === "link") return store.saveLink(source.url, MAX_FILE_BYTES);
  return store.saveStream(decode(source.text, signal), { name, mimetype, maxBytes: MAX_FILE_BYTES });
}

/** The bytes of a base64 text, window by window; line breaks may stand anywhere. */
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

function describeSaved({ name, source }: ResultFile, stored: StoredMedia): SavedFile {
  const { contentType, size } = stored;
  const text = source.kind === "base64" && contentType !== undefined ? readText(source, contentType) : undefined;
  return {
    media: `media://inbound/${encodeURIComponent(stored.id)}`,
    ...(name !== undefined && { name }),
    ...(contentType !== undefined && { mimetype: contentType }),
    size,
    ...(text !== undefined && { text }),
  };
}

function readText(source: FileSource & { readonly kind: "base64" }, contentType: string): string | undefined {
  if (!TEXT_TYPE.test(contentType) || source.text.length > 2 * MAX_TEXT_CHARS) return undefined;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(source.text, "base64"));
    return text.length > MAX_TEXT_CHARS ? undefined : text;
  } catch {
    return undefined;
  }
}

/** A copy in which the value at `path` gave way to `saved`. */
function replaceAt(value: unknown, [key, ...rest]: ResultFile["path"], saved: SavedFile): unknown {
  if (key === undefined) return saved;
  if (Array.isArray(value)) return value.map((item, index) => (index === key ? replaceAt(item, rest, saved) : item));
  if (typeof value !== "object" || value === null) return value;
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

/** A file the host stored. */
interface StoredMedia {
  /** Name in the store, ending in a random id. */
  readonly id: string;
  /** Bytes. */
  readonly size: number;
  /** By content where that tells, else as declared. */
  readonly contentType: string | undefined;
}

/** The host's own store of received files. */
export interface MediaStore {
  /** Stores the bytes under a name the host makes safe; stops at `maxBytes`. */
  saveStream(bytes: AsyncIterable<Uint8Array>, file: NewMedia): Promise<StoredMedia>;
  /** Lets the host fetch a public https link, without any header of ours; private addresses are refused by the host. */
  saveLink(url: string, maxBytes: number): Promise<StoredMedia>;
}

/** A file to be stored. */
export interface NewMedia {
  readonly name: string | undefined;
  readonly mimetype: string | undefined;
  readonly maxBytes: number;
}

/** Attachments of people lie here too: the one folder that a `media://` reference can name. */
const AREA = "inbound";

/** The store of the host this runs in; undefined when it lends none to plugins. */
async function loadMediaStore(): Promise<MediaStore | undefined> {
  const { saveMediaStream, saveMediaSource } = (await loadSdk("media-store")) ?? {};
  if (typeof saveMediaStream !== "function" || typeof saveMediaSource !== "function") return undefined;
  return {
    saveStream: async (bytes, { name, mimetype, maxBytes }) =>
      readStored(await saveMediaStream(bytes, mimetype, AREA, maxBytes, name)),
    async saveLink(url, maxBytes) {
      // The same function copies any local file it is given.
      if (!url.startsWith("https://")) throw new TypeError("Only https links are fetched.");
      return readStored(await saveMediaSource(url, undefined, AREA, maxBytes));
    },
  };
}

function readStored(saved: unknown): StoredMedia {
  if (typeof saved === "object" && saved !== null && "id" in saved && "size" in saved) {
    const { id, size } = saved;
    const contentType = "contentType" in saved && typeof saved.contentType === "string" ? saved.contentType : undefined;
    if (typeof id === "string" && typeof size === "number") return { id, size, contentType };
  }
  throw new TypeError("The host's media store gave no id.");
}
