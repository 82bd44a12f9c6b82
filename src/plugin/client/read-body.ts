import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate } from "node:zlib";
import { parseExactly } from "../../shared/base/exact-number.ts";
import { shortenText } from "../../shared/base/text.ts";
import { RequestStopped } from "./failure.ts";
import { redact } from "./redact.ts";

/** Longest piece of a foreign body that a message may quote. */
const EXCERPT_LENGTH = 120;

/** Shorter secrets could be words of any answer. */
const MIN_SECRET = 16;
const HIDDEN = "[redacted]";

/** Deeper JSON is no answer of an API, and recursive code could not walk through it. */
const MAX_DEPTH = 500;

/** A letter written as a code, as nobody does without a reason, or a slash behind one more, as some services write it. */
const CODED_LETTER = /\\(?:u00[2-7]|\/)/i;

/**
 * Parses a body as JSON, whatever its content type says; otherwise gives a short, clean excerpt for a message. Secrets that
 * the service echoes are hidden in every member.
 */
export function readJson(bytes: Uint8Array, secrets: readonly string[]): { json: unknown; excerpt: string } {
  if (bytes.length === 0) return { json: undefined, excerpt: "" };
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (isTooDeep(text)) return { json: undefined, excerpt: `"JSON nested deeper than ${MAX_DEPTH} levels"` };
    return { json: hideSecrets(text, secrets), excerpt: "" };
  } catch {
    return { json: undefined, excerpt: makeExcerpt(bytes, secrets) };
  }
}

const QUOTE = 34;
const OPENING: ReadonlySet<number> = new Set([91, 123]);
const CLOSING: ReadonlySet<number> = new Set([93, 125]);

function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) index = findStringEnd(text, index);
    else if (OPENING.has(code)) depth += 1;
    else if (CLOSING.has(code)) depth -= 1;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

/** Where the text that begins at `start` ends, or the end of everything. */
function findStringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text[end - escapes - 1] === "\\") escapes += 1;
    if (escapes % 2 === 0) return end;
  }
  return text.length;
}

function hideSecrets(text: string, secrets: readonly string[]): unknown {
  const json: unknown = parseExactly(text);
  const plain = CODED_LETTER.test(text) ? JSON.stringify(json) : text;
  const hidden = secrets
    .filter(({ length }) => length >= MIN_SECRET)
    .reduce((clean, secret) => clean.replaceAll(secret, HIDDEN), plain);
  return hidden === plain ? json : parseExactly(hidden);
}

function makeExcerpt(bytes: Uint8Array, secrets: readonly string[]): string {
  const head = new TextDecoder().decode(bytes.subarray(0, 4096));
  const text = redact(head, secrets)
    .replace(/<(script|style)\b[\s\S]*?<\/\1>/gi, " ")
    .replace(/<[^>]*>/g, " ")
    .replace(/[^\p{L}\p{N}\p{P}\p{S}]+/gu, " ")
    .trim();
  return JSON.stringify(text === "" ? `${bytes.length} bytes` : shortenText(text, EXCERPT_LENGTH));
}

/** Value of `Accept-Encoding`: the encodings that {@link decodeContent} decodes. */
export const ACCEPTED_ENCODINGS = "gzip, deflate, br";

const DECODERS: ReadonlyMap<string, (bytes: Uint8Array, options: { maxOutputLength: number }) => Promise<Uint8Array>> =
  new Map([
    ["gzip", promisify(gunzip)],
    ["x-gzip", promisify(gunzip)],
    ["deflate", promisify(inflate)],
    ["br", promisify(brotliDecompress)],
  ]);

/**
 * Undoes one `Content-Encoding`. The decoded size is limited too, so that a small answer cannot unpack to a huge one.
 *
 * @throws RequestStopped `too_large` or `undecodable`
 */
export async function decodeContent(
  bytes: Uint8Array,
  encoding: string | undefined,
  maxBytes: number,
): Promise<Uint8Array> {
  const name = encoding?.trim().toLowerCase() ?? "";
  if (name === "" || name === "identity" || bytes.length === 0) return bytes;
  const decode = DECODERS.get(name);
  if (decode === undefined) throw new RequestStopped("undecodable", "an unknown content encoding");
  try {
    return await decode(bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    if (error instanceof RangeError) throw new RequestStopped("too_large", `over ${maxBytes} bytes`);
    throw new RequestStopped("undecodable", `damaged ${name} data`);
  }
}
