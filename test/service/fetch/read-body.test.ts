import { Readable } from "node:stream";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { decodeBody, readBody, readText } from "../../../src/service/fetch/read-body.ts";

it("unpacks what a server packed unasked, and keeps to the limit of what comes out", async () => {
  const packed = { gzip: gzipSync("Grüße"), deflate: deflateSync("Grüße"), br: brotliCompressSync("Grüße") };
  for (const [encoding, bytes] of Object.entries(packed))
    expect(await readText(decodeBody(Readable.from([bytes]), encoding), 100)).toBe("Grüße");
  expect(await readText(decodeBody(Readable.from([Buffer.from("Grüße")]), undefined), 100)).toBe("Grüße");
  const bomb = gzipSync(Buffer.alloc(1024 * 1024));
  expect(await readBody(decodeBody(Readable.from([bomb]), "gzip"), 1000)).toBeUndefined();
  await expect(readBody(decodeBody(Readable.from([Buffer.from("no gzip")]), "gzip"), 100)).rejects.toThrow();
});
