import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";

const MIB = 1024 * 1024;
const ZEROS = Buffer.alloc(64 * MIB);

/** Answers of a few hundred KiB or less that unpack to 64 MiB or more, with the encoding they claim. */
export function packBombs(): Readonly<Record<string, { readonly encoding: string; readonly bytes: Buffer }>> {
  const gzip = gzipSync(ZEROS, { level: 9 });
  const fast = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
  return {
    gzip: { encoding: "gzip", bytes: gzip },
    "gzip in upper case": { encoding: " GZIP ", bytes: gzip },
    "x-gzip": { encoding: "x-gzip", bytes: gzip },
    "gzip of many members": { encoding: "gzip", bytes: Buffer.concat(Array<Buffer>(20).fill(gzip)) },
    deflate: { encoding: "deflate", bytes: deflateSync(ZEROS, { level: 9 }) },
    "raw deflate": { encoding: "deflate", bytes: deflateRawSync(ZEROS, { level: 9 }) },
    brotli: { encoding: "br", bytes: brotliCompressSync(ZEROS, fast) },
    zstd: { encoding: "zstd", bytes: zstdCompressSync(ZEROS) },
    "gzip in gzip": { encoding: "gzip", bytes: gzipSync(gzip) },
    "gzip in gzip, both named": { encoding: "gzip, gzip", bytes: gzipSync(gzip) },
    "brotli in gzip, both named": { encoding: "br, gzip", bytes: gzipSync(brotliCompressSync(ZEROS, fast)) },
    "gzip that is none": { encoding: "gzip", bytes: Buffer.from('{"ok":true,"result":1}') },
    "an unknown encoding": { encoding: "constructor", bytes: Buffer.from('{"ok":true,"result":1}') },
  };
}
