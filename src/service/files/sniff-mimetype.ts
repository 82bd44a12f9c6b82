import { fileTypeFromBuffer } from "file-type";
import mime from "mime";

const UNKNOWN = "application/octet-stream";
const SNIFF_LIMIT_MS = 250;
/** What the bytes say about a whole family of formats; the extension knows the member. */
const CONTAINERS = new Set(["application/zip", "application/x-cfb", "application/xml", "application/gzip"]);

/**
 * MIME type of a file from its first 64 KiB, then from its extension, then from what the sender declared. Never fails:
 * the last answer is `application/octet-stream`.
 */
export async function sniffMimetype(head: Uint8Array, name: string, declared?: string): Promise<string> {
  const byName = mime.getType(name);
  const limit = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => limit.resolve(undefined), SNIFF_LIMIT_MS);
  try {
    const found = await Promise.race([fileTypeFromBuffer(head).catch(() => undefined), limit.promise]);
    const sniffed = found?.mime.split(";")[0];
    if (sniffed !== undefined && !(CONTAINERS.has(sniffed) && byName !== null)) return sniffed;
  } finally {
    clearTimeout(timer);
  }
  const said = declared?.split(";")[0]?.trim().toLowerCase();
  return byName ?? (said && /^[\w.+-]+\/[\w.+-]+$/.test(said) ? said : UNKNOWN);
}
