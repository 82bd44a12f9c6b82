import mime from "mime";
import { dropReceivedId } from "./received-copy.ts";

/** What a file reference is: bytes of this machine, a web address, or a key the service gave out earlier. */
export type ReferenceKind = "local" | "url" | "storage_key";

/**
 * Sorts a reference by its text alone. Whatever could mean this machine, or is no usable form at all (`data:`), is
 * `local`: it meets the media checks and is refused there with a reason, instead of being sent on.
 */
export function classifyReference(reference: string): ReferenceKind {
  const text = reference.trim();
  if (/^https?:\/\//i.test(text)) return "url";
  if (text === "" || looksLocal(text)) return "local";
  if (/^[A-Za-z][A-Za-z0-9+.-]*:/.test(text)) return "local";
  return isBareFileName(text) ? "local" : "storage_key";
}

const LOCAL_START = /^\s*(\/|~|\\|\.|[A-Za-z]:[\\/]|MEDIA:|media\/inbound\/)/;
const LOCAL_SCHEME = /^\s*(file:|media:\/\/)/i;

/** True for text that can only be meant as a file of this machine; the proof asked for outside marked fields. */
export function looksLocal(text: string): boolean {
  return LOCAL_START.test(text) || LOCAL_SCHEME.test(text) || text.includes("\\");
}

/** `photo.jpg`: a key of the service has no ending that names a file type unless it has folders too. */
function isBareFileName(reference: string): boolean {
  return !reference.includes("/") && mime.getType(reference) !== null && reference.includes(".");
}

/** Drops the `MEDIA:` mark in front of a web address. */
export function unmarkUrl(reference: string): string {
  const inner = /^MEDIA:\s*["'`]?(https?:\/\/[^"'`\s]+)["'`]?\s*$/i.exec(reference)?.[1];
  return inner !== undefined && reference.startsWith("MEDIA:") ? inner : reference;
}

/** Last component of a path, URL or key, fit to be a file name; undefined when there is none. */
export function nameOfReference(reference: string): string | undefined {
  const isUrl = /^[A-Za-z][A-Za-z0-9+.-]+:\/\//.test(reference);
  const path = isUrl
    ? reference.replace(/[?#].*$/s, "").replace(/^[^:]+:\/\/[^/]*/, "")
    : reference.replace(/["'`]\s*$/, "");
  const last = path.split(/[\\/]/).findLast((part) => part.trim() !== "");
  const name = last === undefined ? undefined : cleanFileName(isUrl ? decodeOrKeep(last) : last);
  return name === undefined || /^https?:/i.test(reference) ? name : dropReceivedId(name);
}

function decodeOrKeep(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const MAX_NAME = 255;

/** Makes one line without folders or invisible characters, at most 255 characters; undefined when nothing is left. */
export function cleanFileName(name: string): string | undefined {
  const last = name.split(/[\\/]/).findLast((part) => part.trim() !== "");
  const clean = last
    ?.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, "")
    .trim()
    .toWellFormed();
  if (clean === undefined || clean === "" || clean === "." || clean === "..") return undefined;
  // A character of two code units is not cut in half.
  return clean.slice(0, MAX_NAME).replace(/[\ud800-\udbff]$/, "");
}
