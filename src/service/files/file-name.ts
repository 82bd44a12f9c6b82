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

/** A host controls the header, and the pattern runs over all of it. */
const MAX_HEADER_LENGTH = 2048;
const PARAMETER = /;\s*([\w!#$%&'*+.^`|~-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/g;

function decodeOr<T>(fallback: T, decode: () => string): string | T {
  try {
    return decode();
  } catch {
    return fallback;
  }
}

/** `UTF-8'en'a%20b` (RFC 8187); undefined when it is malformed or of another charset. */
function decodeExtended(value: string): string | undefined {
  const [, charset, encoded] = /^(utf-8|iso-8859-1)'[\w-]*'((?:[\w!#$&+.^`|~-]|%[0-9a-f]{2})*)$/i.exec(value) ?? [];
  if (charset === undefined || encoded === undefined) return undefined;
  if (charset.toLowerCase() === "utf-8") return decodeOr(undefined, () => decodeURIComponent(encoded));
  return encoded.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Header bytes arrive as Latin-1; many hosts send UTF-8. */
function repairText(value: string): string {
  if (!/[\u00c2-\u00f4]/.test(value)) return value;
  return decodeOr(value, () => new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(value, "latin1")));
}

function readDisposition(header: string): string | undefined {
  let plain: string | undefined;
  let extended: string | undefined;
  for (const [, name, quoted, token] of header.slice(0, MAX_HEADER_LENGTH).matchAll(PARAMETER)) {
    const value = quoted?.replace(/\\(.)/g, "$1") ?? token ?? "";
    if (name?.toLowerCase() === "filename") plain ??= repairText(value);
    if (name?.toLowerCase() === "filename*") extended ??= decodeExtended(value);
  }
  return extended || plain;
}

/**
 * File name of an answer: `filename*`, then `filename` of its Content-Disposition (RFC 6266), then the last part of the
 * path, then "file". Always one plain name without folders or control characters.
 */
export function readResponseName(disposition: string | undefined, url: URL): string {
  const named = disposition === undefined ? undefined : readDisposition(disposition);
  const last = url.pathname.split("/").findLast((part) => part !== "") ?? "";
  const fromPath = sanitiseFileName(decodeOr(last, () => decodeURIComponent(last)));
  return named === undefined ? fromPath : sanitiseFileName(named, fromPath);
}
