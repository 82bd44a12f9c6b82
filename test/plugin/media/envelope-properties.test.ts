import { createHash } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createFilesBody } from "../../../src/plugin/media/send/send-files.ts";
import { FUZZ_FACTOR, fuzzOptions } from "../../fuzz/fuzz-options.ts";
import { createMediaFolder, type MediaFolder } from "./media-folder.ts";

vi.setConfig({ testTimeout: 60_000 * FUZZ_FACTOR });

const KIB = 1024;
let media: MediaFolder;
beforeAll(async () => {
  media = await createMediaFolder();
});
afterAll(() => media.remove());

/** Around the sizes at which the stream takes its next piece or window, or anywhere. */
const size = fc.oneof(
  fc.integer({ min: 1, max: 12 }),
  fc
    .tuple(fc.constantFrom(60, 120, 240, 480, 540, 960), fc.integer({ min: -4, max: 4 }))
    .map(([kib, off]) => kib * KIB + off),
  fc.integer({ min: 1, max: 700 * KIB }),
);

/** Bytes that depend on the place, so that a piece sent twice or left out is noticed. */
function fill(length: number, seed: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let state = seed | 1;
  for (let at = 0; at < length; at += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    bytes[at] = state >>> 24;
  }
  return bytes;
}

describe("files as they are streamed", () => {
  test("are Buffer's base64 with the right digest, as long as announced, each time they are sent", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(size, fc.nat(1e6)), { minLength: 1, maxLength: 3 }), async (parts) => {
        const contents = parts.map(([length, seed]) => fill(length, seed));
        const paths = await Promise.all(contents.map((bytes, index) => media.write(`${index}.custom-type`, bytes)));
        const { args, files } = await media.inspect(...paths, paths[0]);
        const body = createFilesBody({ arguments: args, confirmed: true }, files, media.roots);
        for (let time = 0; time < 2; time += 1) {
          const pieces: Buffer[] = [];
          for await (const piece of body.open()) pieces.push(Buffer.from(piece));
          const sent = Buffer.concat(pieces);
          expect(sent).toHaveLength(body.contentLength);
          const read = JSON.parse(sent.toString("latin1"));
          expect(read.confirmed).toBe(true);
          for (const [index, bytes] of contents.entries()) {
            const { dataBase64, md5 } = read.files[index];
            expect(dataBase64 === bytes.toString("base64")).toBe(true);
            expect(md5).toBe(createHash("md5").update(bytes).digest("hex"));
          }
          expect(read.arguments.files.map((one: { s3key: string }) => one.s3key)).toEqual([
            ...read.files.map((one: { pointer: string }) => one.pointer),
            read.files[0].pointer,
          ]);
        }
      }),
      fuzzOptions({ runs: 60 }),
    );
  });
});
