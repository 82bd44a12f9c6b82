import { isUtf8 } from "node:buffer";
import { Readable } from "node:stream";
import { Headers, type MimeNode, Splitter, type SplitterChunk } from "@zone-eu/mailsplit";
import { decodeText } from "../../text/decode-text.ts";

/** Longer headers, in bytes, lose the fields that no action shows. */
const MAX_HEAD = 256 * 1024;
/** Characters of one field of those. */
const MAX_FIELD = 32 * 1024;
const SHOWN_FIELD =
  /^(?:from|sender|to|cc|bcc|reply-to|subject|date|message-id|references|in-reply-to|content-[\w-]+|mime-version):/i;
/** Bytes in which the names of charsets are looked for. */
const MAX_LOOKED = 8 * 1024 * 1024;
const LABEL =
  /charset\*?\s{0,9}=\s{0,9}["']?([^\s"';]{1,60})|=\?([^?\s*]{1,60})[^?\s]{0,20}\?[bq]\?|\*=([\w.:-]{1,60})'/gi;
/** Charsets that the parser of messages reads right where they are named rightly. */
const PLAIN =
  /^(?:utf-?8|(?:us-)?ascii|iso-8859-\d{1,2}|windows-125\d|koi8-[ru]|gbk|gb2312|gb18030|big5|euc-(?:jp|kr)|shift_jis|iso-2022-jp)$/i;
/** UTF-8 that was taken for Windows-1252, and what could not be read. */
const WRONG = /\ufffd|[\u00c2-\u00f4][\u0080-\u00bf\u0152-\u0192\u02c6\u02dc\u2013-\u203a\u20ac\u2122]/;
const WORDS = /=\?[^?\s]+\?[BQ]\?[^?]*\?=(?:\s+=\?[^?\s]+\?[BQ]\?[^?]*\?=)*/gi;
const WORD = /=\?([^?\s*]+)(?:\*[^?\s]*)?\?([BQ])\?([^?]*)\?=/gi;
const EXTENDED = /\*=([\w.:-]+)'([^'\s]*)'([^;\s]*)/g;

/** What a message says about its texts, whose parsed form looks wrong where a charset is not known or another than it says. */
export function lookAtCharsets(bytes: Uint8Array, texts: readonly (string | undefined)[]) {
  const raw = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, MAX_LOOKED)).toString("latin1");
  const [, label = ""] = /charset\s{0,9}=\s{0,9}["']?([^\s"';]{1,60})/i.exec(raw) ?? [];
  const isKnown = (labels: readonly (string | undefined)[]) => PLAIN.test(labels.find(Boolean) ?? "utf-8");
  const isWrong =
    texts.some((text) => text !== undefined && WRONG.test(text)) ||
    [...raw.matchAll(LABEL)].some(([, ...labels]) => !isKnown(labels));
  return { isWrong, label, hasChoice: /multipart\/alternative/i.test(raw) };
}

/**
 * A message whose texts, headers and names of files are in UTF-8, with a sentence for each thing that was guessed.
 *
 * @param label charset of headers that are in bytes of no UTF-8
 */
export async function recodeMessage(
  bytes: Uint8Array,
  label: string,
): Promise<{ readonly bytes: Buffer; readonly notes: string[] }> {
  const parts: { readonly node?: MimeNode; readonly content: Uint8Array[] }[] = [];
  const splitter = new Splitter({ maxHeadSize: 2 * 1024 * 1024, maxChildNodes: 10_000 });
  const splits: AsyncIterable<SplitterChunk> = Readable.from([bytes]).pipe(splitter);
  for await (const piece of splits) {
    const last = parts.at(-1);
    if (piece.type === "node") parts.push({ node: piece, content: [] });
    else if (last !== undefined && (piece.type === "body" || last.node === undefined)) last.content.push(piece.value);
    else parts.push({ content: [piece.value] });
  }
  const notes = new Set<string>();
  const pieces: Uint8Array[] = [];
  for (const { node, content } of parts) {
    if (node?.headers) node.headers = recodeHeaders(node.headers, label);
    const text = node === undefined || !isText(node) ? undefined : await readText(node, content);
    if (text?.why !== undefined) notes.add(text.why);
    if (node !== undefined) pieces.push(node.getHeaders());
    if (text === undefined) pieces.push(...content);
    else pieces.push(Buffer.from(Buffer.from(text.text).toString("base64").replaceAll(/.{76}/g, "$&\r\n")));
  }
  return { bytes: Buffer.concat(pieces), notes: [...notes] };
}

function isText({ contentType, disposition }: MimeNode): boolean {
  return (contentType === "text/plain" || contentType === "text/html") && disposition !== "attachment";
}

/** The text of a part, which gets the headers of UTF-8 in base64. */
async function readText(node: MimeNode, content: readonly Uint8Array[]) {
  const decoder = node.getDecoder();
  decoder.end(Buffer.concat(content));
  const decoded = decodeText(Buffer.concat(await decoder.toArray()), node.charset || "");
  node.setCharset("utf-8");
  if (node.headers) node.headers.update("Content-Transfer-Encoding", "base64");
  return decoded;
}

/** @param label charset of bytes that are not UTF-8 */
function recodeHeaders(headers: Headers, label: string): Headers {
  const fixed = headers.getList().map(({ key, line }) => {
    const words = line.replaceAll(WORDS, recodeWords).replaceAll(EXTENDED, (_, name, language, value) => {
      const { text } = decodeText(decodeQuoted(value, "%"), name);
      return `*=utf-8'${language}'${encodeURIComponent(text)}`;
    });
    const bytes = Buffer.from(words, "latin1");
    if (isUtf8(bytes)) return { key, line: words };
    return { key, line: Buffer.from(decodeText(bytes, /utf|ucs/i.test(label) ? "" : label).text).toString("latin1") };
  });
  return new Headers(fixed);
}

/** Words one behind the other are one text: a character may be cut by them. */
function recodeWords(words: string): string {
  const runs: { readonly charset: string; readonly bytes: Buffer[] }[] = [];
  for (const [, charset = "", how = "", content = ""] of words.matchAll(WORD)) {
    const bytes = how.toUpperCase() === "B" ? Buffer.from(content, "base64") : decodeQuoted(content, "=");
    const last = runs.at(-1);
    if (last?.charset === charset) last.bytes.push(bytes);
    else runs.push({ charset, bytes: [bytes] });
  }
  const text = runs.map(({ charset, bytes }) => decodeText(Buffer.concat(bytes), charset).text).join("");
  return `=?utf-8?B?${Buffer.from(text).toString("base64")}?=`;
}

/** The bytes of a text in which two digits behind a mark are one. */
function decodeQuoted(text: string, mark: "=" | "%"): Buffer {
  const plain = mark === "=" ? text.replaceAll("_", " ") : text;
  const bytes = plain.replaceAll(new RegExp(`${mark}([\\da-f]{2})`, "gi"), (_, code) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  return Buffer.from(bytes, "latin1");
}

/** Without the fields that no action shows, where the headers are long: the parser reads them line by line. */
export function cutHead(bytes: Uint8Array): Uint8Array {
  const raw = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const ends = ["\r\n\r\n", "\n\n"].map((end) => raw.indexOf(end)).filter((end) => end >= 0);
  const length = Math.min(raw.length, ...ends);
  if (length <= MAX_HEAD) return bytes;
  const fields = raw.toString("latin1", 0, length).split(/\r?\n(?![ \t])/);
  const shown = fields.filter((one) => SHOWN_FIELD.test(one)).map((one) => one.slice(0, MAX_FIELD));
  return Buffer.concat([Buffer.from(shown.join("\r\n"), "latin1"), raw.subarray(length)]);
}
