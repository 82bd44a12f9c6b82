import type { ResultReceiver } from "../../tools/pipeline.ts";
import { type FileSource, findResultFiles, type ResultFile } from "./find-result-files.ts";
import { loadMediaStore, type MediaStore, type StoredMedia } from "./media-store.ts";

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
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "too-large" || code === "max_bytes") return "it is larger than 25 MiB";
  return code === "fetch_failed" || code === "http_error"
    ? "its link could not be fetched"
    : "the host did not take it";
}
