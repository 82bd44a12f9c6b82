import type { FileHandle } from "node:fs/promises";

/** Bytes that are written at a time. */
const BLOCK_BYTES = 256 * 1024;
/** Most blocks kept for the next file: those of four large bodies. */
const MAX_SPARE = 8;

/** Blocks of finished files: fresh memory costs a page fault for each page, and waits for a collection. */
const spare: Buffer[] = [];

function takeBlock(): Buffer {
  return spare.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES);
}

function keepBlock(block: Buffer): void {
  if (spare.length < MAX_SPARE) spare.push(block);
}

/**
 * Writes to an open file in blocks of 256 KiB. A block is on its way to the disk, on another thread, while `look` sees it
 * and the next one is filled: two blocks of memory for a file of any size.
 */
export function createBlockWriter(handle: FileHandle, look: (block: Uint8Array) => void) {
  let block: Buffer | undefined;
  let filled = 0;
  let writing: Promise<void> | undefined;

  async function send(full: Buffer, length: number): Promise<void> {
    await writing;
    const bytes = full.subarray(0, length);
    writing = handle.writeFile(bytes).finally(() => keepBlock(full));
    // Thrown by the next write, or at the end.
    writing.catch(() => undefined);
    look(bytes);
  }

  async function flush(): Promise<void> {
    const full = block;
    if (full === undefined) return;
    const length = filled;
    [block, filled] = [undefined, 0];
    await send(full, length);
  }

  return {
    /** Copies the bytes; waits when two blocks are full. Throws what the disk said about this or an earlier block. */
    async write(bytes: Uint8Array): Promise<void> {
      for (let at = 0; at < bytes.length; ) {
        block ??= takeBlock();
        const part = bytes.subarray(at, at + BLOCK_BYTES - filled);
        block.set(part, filled);
        filled += part.length;
        at += part.length;
        if (filled === BLOCK_BYTES) await flush();
      }
    },
    /** Waits until everything is written; the file stays open. */
    async end(): Promise<void> {
      await flush();
      await writing;
    },
    /** Drops what is not written yet and waits for what is on its way. Never rejects. */
    async stop(): Promise<void> {
      if (block !== undefined) keepBlock(block);
      [block, filled] = [undefined, 0];
      await writing?.catch(() => undefined);
    },
  };
}
