import { pipeline, type Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";

const DECODERS: Readonly<Record<string, () => NodeJS.ReadWriteStream & Readable>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** The bytes as they were before they were packed, which some servers do unasked. How many they are is up to the reader. */
export function decodeBody(body: Readable, encoding: unknown): Readable {
  const name = String(encoding ?? "")
    .trim()
    .toLowerCase();
  const create = Object.hasOwn(DECODERS, name) ? DECODERS[name] : undefined;
  if (create === undefined) return body;
  const decoder = create();
  // The reader sees the error of either.
  pipeline(body, decoder, () => {});
  return decoder;
}

/** The bytes of a body; undefined when it has more than `max`: the rest is not read then. */
export async function readBody(body: AsyncIterable<Uint8Array>, max: number): Promise<Buffer | undefined> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.length;
    if (size > max) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** The same as text. */
export async function readText(body: AsyncIterable<Uint8Array>, max: number): Promise<string | undefined> {
  return (await readBody(body, max))?.toString("utf8");
}

/** The text of bytes by the `charset` of their content type, or by the mark that they begin with; UTF-8 without either. */
export function decodeByType(bytes: Uint8Array, contentType = ""): string {
  const [, named = "utf-8"] = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType) ?? [];
  const mark = Buffer.from(bytes.subarray(0, 2)).toString("hex");
  const charset = mark === "fffe" ? "utf-16le" : mark === "feff" ? "utf-16be" : named;
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    // A name that nobody knows.
    return new TextDecoder().decode(bytes);
  }
}
