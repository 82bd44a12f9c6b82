import { makeOnce } from "../../shared/base/concurrency.ts";

const UNKNOWN = "application/octet-stream";
/** Types by extension; its tables are loaded for the first file. */
const getTypes = makeOnce(async () => (await import("mime")).default);

/** MIME type by the extension of a name; null for one that is not known. */
export async function typeByName(name: string): Promise<string | null> {
  return (await getTypes()).getType(name);
}

/** Damaged containers could keep the detection busy. */
const SNIFF_LIMIT_MS = 250;
/** Types that stand for a family of formats; the extension tells the member. */
const CONTAINERS = new Set(["application/zip", "application/x-cfb", "application/xml", "application/gzip"]);
const CONTAINERS_OF_TEXT: ReadonlySet<string> = new Set(["application/xml", "image/svg+xml", "application/rtf"]);

/**
 * MIME type of a file from its first 64 KiB, then from its extension, then from the declared type. Never fails:
 * the last answer is `application/octet-stream`.
 */
export async function sniffMimetype(head: Uint8Array, name: string, declared?: string): Promise<string> {
  const byName = await typeByName(name);
  const { fileTypeFromBuffer } = await import("file-type");
  const limit = { signal: AbortSignal.timeout(SNIFF_LIMIT_MS) };
  const found = await fileTypeFromBuffer(head, limit).catch(() => undefined);
  const sniffed = found?.mime.split(";")[0];
  if (sniffed !== undefined && !(CONTAINERS.has(sniffed) && byName !== null)) return sniffed;
  // Bytes of these kinds are always recognised, so the extension is wrong (".ts" is rarely a video).
  if (byName !== null && /^(?:image|audio|video)\//.test(byName) && byName !== "image/svg+xml")
    return (await looksLikeText(head)) ? "text/plain" : UNKNOWN;
  const said = bareType(declared);
  return byName ?? (said && /^[\w.+-]+\/[\w.+-]+$/.test(said) ? said : UNKNOWN);
}

/** A MIME type without parameters, in lower case; empty for anything but text. */
export function bareType(mimetype: unknown): string {
  return typeof mimetype === "string" ? (mimetype.split(";")[0] ?? "").trim().toLowerCase() : "";
}

/** Whether the first bytes of a file read as UTF-8 text: no known binary format, no NUL, no broken character. */
export async function looksLikeText(head: Uint8Array): Promise<boolean> {
  if (head.includes(0)) return false;
  const { fileTypeFromBuffer } = await import("file-type");
  const found = await fileTypeFromBuffer(head).catch(() => undefined);
  if (found !== undefined && !found.mime.startsWith("text/") && !CONTAINERS_OF_TEXT.has(found.mime)) return false;
  try {
    // With `stream` a character cut at the end is waited for, not refused.
    new TextDecoder("utf-8", { fatal: true }).decode(head, { stream: true });
    return true;
  } catch {
    return false;
  }
}
