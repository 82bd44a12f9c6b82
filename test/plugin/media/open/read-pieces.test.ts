import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { PIECE_BYTES, readPieces, tagPiece } from "../../../../src/plugin/media/open/open-media-file.ts";

/** A file in memory; `read` may be given another behaviour. */
function createFile(content: Buffer, read?: (into: Uint8Array, at: number) => Promise<number>) {
  const copy = async (into: Uint8Array, at: number) => content.copy(into, 0, at, at + into.length);
  return { size: content.length, read: read ?? copy };
}

async function collect(file: ReturnType<typeof createFile>) {
  const pieces: { bytes: Buffer; tag: string }[] = [];
  for await (const piece of readPieces(file)) {
    if (typeof piece === "string") return { pieces, failure: piece };
    pieces.push({ bytes: Buffer.from(piece.bytes), tag: piece.tag });
  }
  return { pieces };
}

describe("the pieces of a file", () => {
  const around = (size: number) => [size - 1, size, size + 1];
  test.each([0, 1, ...around(PIECE_BYTES), ...around(2 * PIECE_BYTES), ...around(5 * PIECE_BYTES)])(
    "of %i bytes make up the file, each with its tag",
    async (size) => {
      const content = randomBytes(size);
      const { pieces } = await collect(createFile(content));
      expect(Buffer.concat(pieces.map(({ bytes }) => bytes)).equals(content)).toBe(true);
      expect(pieces.slice(0, -1).every(({ bytes }) => bytes.length === PIECE_BYTES)).toBe(true);
      for (const { bytes, tag } of pieces) expect(tag).toBe(tagPiece(bytes));
    },
  );

  test("end with a word when the file cannot be read on, or has become shorter", async () => {
    const content = randomBytes(3 * PIECE_BYTES);
    const broken = createFile(content, async (into, at) => {
      if (at > 0) throw new Error("EIO");
      return into.length;
    });
    expect(await collect(broken)).toMatchObject({ failure: "unreadable", pieces: [{}] });
    const shorter = createFile(content, async (into, at) => (at > PIECE_BYTES ? 5 : into.length));
    expect(await collect(shorter)).toMatchObject({ failure: "shortened", pieces: [{}, {}] });
  });

  test("are given up only after the reading under way has ended", async () => {
    const slow = Promise.withResolvers<number>();
    const file = createFile(Buffer.alloc(2 * PIECE_BYTES), async (into, at) => (at === 0 ? into.length : slow.promise));
    const pieces = readPieces(file);
    await pieces.next();
    let isOver = false;
    const ending = pieces.return(undefined).then(() => {
      isOver = true;
    });
    await new Promise(setImmediate);
    expect(isOver).toBe(false);
    slow.resolve(PIECE_BYTES);
    await ending;
    expect(isOver).toBe(true);
  });

  test("take two buffers, whatever the size, and the next reading the same ones", async () => {
    const memories = new Set<ArrayBufferLike>();
    const seen = createFile(Buffer.alloc(7 * PIECE_BYTES), async (into) => {
      memories.add(into.buffer);
      return into.length;
    });
    for (let time = 0; time < 3; time += 1) await collect(seen);
    expect(memories.size).toBe(2);
  });

  test("of files that are read at the same time do not mix", async () => {
    const contents = Array.from({ length: 4 }, () => randomBytes(5 * PIECE_BYTES + 1));
    const lists = await Promise.all(contents.map((content) => collect(createFile(content))));
    for (const [index, { pieces }] of lists.entries()) {
      expect(Buffer.concat(pieces.map(({ bytes }) => bytes)).equals(contents[index] ?? Buffer.alloc(0))).toBe(true);
    }
  });

  test("leave memory to nobody else while they still read into it", async () => {
    const slow = Promise.withResolvers<number>();
    const memories = new Set<ArrayBufferLike>();
    const pieces = readPieces(
      createFile(Buffer.alloc(2 * PIECE_BYTES), async (into, at) => {
        memories.add(into.buffer);
        return at === 0 ? into.length : slow.promise;
      }),
    );
    await pieces.next();
    const ending = pieces.return(undefined);
    const others = new Set<ArrayBufferLike>();
    const other = createFile(Buffer.alloc(2 * PIECE_BYTES), async (into) => {
      others.add(into.buffer);
      return into.length;
    });
    await collect(other);
    expect(memories.isDisjointFrom(others)).toBe(true);
    slow.resolve(PIECE_BYTES);
    await ending;
  });
});
