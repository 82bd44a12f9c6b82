import { isAscii } from "node:buffer";
import iconv from "iconv-lite";
import libmime from "libmime";

/** Labels that name no charset, or the one that is tried anyway. */
const NONE = /^(?:utf-?8|(?:x-)?unknown(?:-8bit)?|[78]bit|binary|default|)$/;
/** Charsets that programs name when they do not know better. */
const LATIN =
  /^(?:(?:us-)?ascii|ansi_x3.*|(?:x-)?(?:cp|windows-)125[024]|(?:iso[-_]?8859[-_]?|latin-?|l)(?:1|15)(?::1987)?)$/;
/** Charsets in which other characters than those of ASCII are written in its bytes. */
const WIDE = /utf-?(?:7|16|32)|ucs|unicode|2022|10646|hz/;
/** What the codecs know that are no charsets. */
const ENCODINGS = /^(?:base64|hex|utf-?7-?imap)$/;

/** A text, and why it may not be what was written; undefined where that is certain. */
interface DecodedText {
  readonly text: string;
  readonly why?: string;
}

/**
 * The text of bytes that say to be in the charset `label`. Many programs name a wrong one: what is UTF-8 by its bytes is
 * read so, and what can be in no charset of that name is guessed.
 */
export function decodeText(bytes: Uint8Array, label: string): DecodedText {
  const name = label.trim().toLowerCase();
  if (isAscii(bytes) && !WIDE.test(name)) return { text: Buffer.from(bytes).toString("latin1") };
  const utf8 = readUtf8(bytes);
  const says = name === "" ? "It names no charset" : `It says that its charset is "${name.slice(0, 40)}"`;
  if (utf8 !== undefined && NONE.test(name)) return { text: utf8 };
  if (utf8 !== undefined && LATIN.test(name)) return { text: utf8, why: `${says}, but it is UTF-8 and read so.` };
  const text = NONE.test(name) || name.endsWith("ascii") ? undefined : decodeKnown(bytes, name);
  if (text !== undefined) return text.includes("\ufffd") ? { text, why: UNREADABLE } : { text };
  if (utf8 !== undefined) return { text: utf8, why: `${says}, which is not known; it is read as UTF-8.` };
  const lossy = new TextDecoder().decode(bytes);
  const count = (what: RegExp) => lossy.match(what)?.length ?? 0;
  if (count(/[^\p{ASCII}\ufffd]/gu) > count(/\ufffd/g)) return { text: lossy, why: UNREADABLE };
  const guess = "so that letters with accents may be wrong: they are read as Windows-1252.";
  return { text: iconv.decode(bytes, "windows-1252"), why: `${says}, which its bytes are not, ${guess}` };
}

/** Charsets of texts that are not in UTF-8 and can be told by their bytes. */
export type OldCharset = "utf-16le" | "utf-16be" | "windows-1252";

/** What is said of a text whose charset only looks like it. */
export const GUESSED = "It is not in UTF-8 and is read as Windows-1252: letters with accents may be wrong.";

/** The charset of a text by its first bytes, which are not UTF-8; undefined for what is no text. */
export function findCharset(head: Uint8Array): OldCharset | undefined {
  const wide = readMark(head);
  const charset = wide ?? "windows-1252";
  const { text } = decodePiece(head, { charset, isEnd: false });
  const isNone = (wide !== undefined && head.length % 2 === 1) || /(?![\t\n\r\f])\p{Cc}|\p{Cn}|\ufffd/u.test(text);
  return isNone ? undefined : charset;
}

/** A part of a text, without half characters at its end; `used` says how many bytes were read. */
export function decodePiece(
  bytes: Uint8Array,
  { charset, isEnd }: { readonly charset: OldCharset; readonly isEnd: boolean },
): { readonly text: string; readonly used: number } {
  if (charset === "windows-1252") return { text: iconv.decode(bytes, charset), used: bytes.length };
  const whole = bytes.subarray(0, bytes.length & ~1);
  const text = iconv.decode(whole, charset);
  const isCut = !isEnd && /[\ud800-\udbff]$/.test(text);
  if (isCut) return { text: text.slice(0, -1), used: whole.length - 2 };
  return { text, used: isEnd ? bytes.length : whole.length };
}

/** Charsets of texts whose bytes are not those of ASCII, told by the mark at their begin. */
export type WideCharset = Exclude<OldCharset, "windows-1252">;

function readMark([first, second]: Uint8Array): WideCharset | undefined {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : undefined;
}

/** A text in UTF-16 as UTF-8, with its mark; undefined for one that is not, or would not come back as it was. */
export function decodeWide(bytes: Buffer): { readonly charset: WideCharset; readonly utf8: Buffer } | undefined {
  const charset = readMark(bytes);
  if (charset === undefined) return undefined;
  const utf8 = Buffer.from(iconv.decode(bytes, charset, { stripBOM: false }));
  return encodeWide(utf8, charset).equals(bytes) ? { charset, utf8 } : undefined;
}

/** Inverse of {@link decodeWide}. */
export function encodeWide(utf8: Buffer, charset: WideCharset): Buffer {
  return iconv.encode(utf8.toString(), charset);
}

const UNREADABLE = 'Some of its characters cannot be read and are shown as "\ufffd".';

/** UTF-8; what was cut may end within a character. */
function readUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
  } catch {
    return undefined;
  }
}

/** Undefined for a charset that nobody knows. */
function decodeKnown(bytes: Uint8Array, name: string): string | undefined {
  // Whoever names a part of Unicode means UTF-16, and the first bytes say which end comes first.
  const canonical = /^(?:iso-10646-)?ucs-?2$|^(?:cs)?unicode$/.test(name) ? "utf-16" : libmime.normalizeCharset(name);
  for (const one of [canonical, name])
    if (iconv.encodingExists(one) && !ENCODINGS.test(one)) return iconv.decode(bytes, one);
  try {
    // The codecs lack those of Japan that switch by escapes.
    return new TextDecoder(canonical).decode(bytes);
  } catch {
    return undefined;
  }
}
