import { sanitiseFileName } from "../files/file-name.ts";

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
