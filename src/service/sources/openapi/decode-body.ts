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
