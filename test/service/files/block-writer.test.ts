import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { expect, it } from "vitest";
import { createBlockWriter } from "../../../src/service/files/block-writer.ts";

const BLOCK = 256 * 1024;

/** A file whose writes end when the test says so. */
function createSlowFile() {
  const pending: { end: () => void; fail: (error: Error) => void }[] = [];
  const blocks: Buffer[] = [];
  const handle = {
    writeFile(bytes: Buffer) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const end = () => {
        blocks.push(Buffer.from(bytes));
        resolve();
      };
      pending.push({ end, fail: reject });
      return promise;
    },
  } as unknown as FileHandle;
  return { handle, pending, blocks };
}

it("writes every byte in order, and shows the same ones", async () => {
  const { handle, pending, blocks } = createSlowFile();
  const seen = createHash("sha256");
  const writer = createBlockWriter(handle, (block) => seen.update(block));
  const bytes = Buffer.from(Array.from({ length: 2 * BLOCK + 5 }, (_, at) => (at * 7919) & 255));
  const done = (async () => {
    for (let at = 0; at < bytes.length; at += 50_001) {
      const piece = Buffer.from(bytes.subarray(at, at + 50_001));
      await writer.write(piece);
      piece.fill(0);
    }
    await writer.end();
  })();
  while (blocks.length < 3) {
    pending.shift()?.end();
    await new Promise(setImmediate);
  }
  await done;
  expect(blocks.map(({ length }) => length)).toEqual([BLOCK, BLOCK, 5]);
  expect(Buffer.concat(blocks).equals(bytes)).toBe(true);
  expect(seen.digest("hex")).toBe(createHash("sha256").update(bytes).digest("hex"));
});

it("takes no more than two blocks from a caller before the disk has the first", async () => {
  const { handle, pending } = createSlowFile();
  const writer = createBlockWriter(handle, () => undefined);
  let taken = 0;
  const done = (async () => {
    for (; taken < 4; taken += 1) await writer.write(Buffer.alloc(BLOCK));
    await writer.end();
  })();
  await new Promise(setImmediate);
  expect({ taken, begun: pending.length }).toEqual({ taken: 1, begun: 1 });
  for (let index = 0; index < 4; index += 1) {
    while (pending[index] === undefined) await new Promise(setImmediate);
    pending[index]?.end();
  }
  await done;
});

it.each(["write", "end"] as const)("tells of a failed block at the next %s", async (step) => {
  const { handle, pending } = createSlowFile();
  const writer = createBlockWriter(handle, () => undefined);
  await writer.write(Buffer.alloc(BLOCK));
  pending[0]?.fail(new Error("disk full"));
  await expect(step === "end" ? writer.end() : writer.write(Buffer.alloc(BLOCK))).rejects.toThrow("disk full");
  await writer.stop();
});

it("waits for the block on its way when it is stopped", async () => {
  const { handle, pending } = createSlowFile();
  const writer = createBlockWriter(handle, () => undefined);
  await writer.write(Buffer.alloc(BLOCK + 1));
  let isStopped = false;
  const stopped = writer.stop().then(() => {
    isStopped = true;
  });
  await new Promise(setImmediate);
  expect(isStopped).toBe(false);
  pending[0]?.end();
  await stopped;
  expect(pending).toHaveLength(1);
});
