import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { Readable } from "node:stream";
import { type Dispatcher, request } from "undici";

const PIECE_BYTES = 240 * 1024;
/** As much at once as the engine encodes fastest. */
const WINDOW_BYTES = 60 * 1024;

/** Milliseconds of the work that sending files cannot do without, each kind measured by itself. */
export interface FloorTimes {
  readonly readMs: number;
  readonly md5Ms: number;
  readonly base64Ms: number;
  readonly sendMs: number;
}

/** Reads the files, hashes and encodes as many bytes, and sends as much text, one after the other. */
export async function measureFloor(dispatcher: Dispatcher, url: string, paths: readonly string[]): Promise<FloorTimes> {
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  let bytes = 0;
  const readMs = await time(async () => {
    for (const path of paths) bytes += await readThrough(path, piece);
  });
  const pieces = Math.ceil(bytes / PIECE_BYTES);
  const md5Ms = await time(() => {
    const hash = createHash("md5");
    for (let index = 0; index < pieces; index += 1) hash.update(piece);
    hash.digest("hex");
  });
  const text = Buffer.allocUnsafe((PIECE_BYTES / 3) * 4);
  const base64Ms = await time(() => {
    for (let index = 0; index < pieces; index += 1) encode(piece, text);
  });
  const sendMs = await time(async () => {
    const body = Readable.from(repeat(text, pieces), { objectMode: false });
    const reply = await request(`${url}/api/tools/bench_upload/execute`, { dispatcher, method: "POST", body });
    await reply.body.dump();
  });
  return { readMs, md5Ms, base64Ms, sendMs };
}

async function readThrough(path: string, into: Buffer): Promise<number> {
  await using handle = await open(path);
  let position = 0;
  for (;;) {
    const { bytesRead } = await handle.read(into, 0, into.length, position);
    if (bytesRead === 0) return position;
    position += bytesRead;
  }
}

function encode(piece: Buffer, into: Buffer): void {
  let filled = 0;
  for (let at = 0; at < piece.length; at += WINDOW_BYTES) {
    filled += into.write(piece.toString("base64", at, Math.min(at + WINDOW_BYTES, piece.length)), filled, "latin1");
  }
}

async function* repeat(text: Buffer, times: number): AsyncGenerator<Buffer> {
  for (let index = 0; index < times; index += 1) yield text;
}

async function time(work: () => unknown): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}
