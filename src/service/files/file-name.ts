/** Below the 255 of file systems, so that " (2)" still fits. */
const MAX_NAME_LENGTH = 200;
const MAX_NAME_BYTES = 240;

/** Control characters, bidirectional overrides and the separators of every platform. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it removes
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** Cuts `name` before its extension so that it fits, never inside a character. */
function shorten(name: string): string {
  const dot = name.lastIndexOf(".");
  const extension = dot > 0 && name.length - dot <= 20 ? name.slice(dot) : "";
  const stem = [...name.slice(0, name.length - extension.length)];
  while (
    stem.length + extension.length > MAX_NAME_LENGTH ||
    Buffer.byteLength(stem.join("") + extension) > MAX_NAME_BYTES
  )
    stem.pop();
  return stem.join("") + extension;
}

/**
 * The last path component of `raw` without control characters, at most 200 characters and 240 bytes.
 * A name of which nothing is left becomes `fallback`.
 */
export function sanitiseFileName(raw: string, fallback = "file"): string {
  const last =
    raw
      .replace(UNSAFE, "")
      .split(/[/\\]/)
      .findLast((part) => part.trim() !== "") ?? "";
  const name = last.trim().replace(/^\.+$/, "");
  return name === "" ? fallback : shorten(name.toWellFormed());
}
