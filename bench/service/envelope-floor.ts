import { createHash } from "node:crypto";
import { open, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { announceServer } from "../processes/announce-server.ts";

/*
 * What no service can do without when it takes an envelope, each step by itself: `node envelope-floor.ts FOLDER`. It
 * reads the body of a POST and drops it; then it decodes, hashes and writes as many bytes, so many files of so many MB
 * by the query, and answers with the milliseconds of each step.
 */

const PIECE_BYTES = 240 * 1024;
/** As much at once as the engine decodes fastest. */
const WINDOW_CHARS = 64 * 1024;
const [folder = "."] = process.argv.slice(2);

/** Milliseconds of each step. */
export interface FloorSteps {
  readonly readMs: number;
  readonly base64Ms: number;
  readonly md5Ms: number;
  readonly sha256Ms: number;
  readonly writeMs: number;
  readonly fsyncMs: number;
}

async function measure(incoming: AsyncIterable<Uint8Array>, { files, mb }: { files: number; mb: number }) {
  const readMs = await time(async () => {
    for await (const _ of incoming);
  });
  const piece = Buffer.alloc(PIECE_BYTES, "0123456789abcdef");
  const text = Buffer.from(piece.toString("base64"));
  const pieces = Math.ceil((files * mb * 1024 * 1024) / PIECE_BYTES);
  const repeat = (work: () => void) =>
    time(() => {
      for (let index = 0; index < pieces; index += 1) work();
    });
  const base64Ms = await repeat(() => decode(text, piece));
  const hash = (name: string) => {
    const running = createHash(name);
    return repeat(() => running.update(piece));
  };
  const [md5Ms, sha256Ms] = [await hash("md5"), await hash("sha256")];
  return { readMs, base64Ms, md5Ms, sha256Ms, ...(await writeFiles(piece, files, Math.ceil(pieces / files))) };
}

function decode(text: Buffer, into: Buffer): void {
  let filled = 0;
  for (let at = 0; at < text.length; at += WINDOW_CHARS) {
    filled += into.write(text.toString("latin1", at, Math.min(at + WINDOW_CHARS, text.length)), filled, "base64");
  }
}

async function writeFiles(piece: Buffer, files: number, pieces: number): Promise<{ writeMs: number; fsyncMs: number }> {
  let [writeMs, fsyncMs] = [0, 0];
  for (let file = 0; file < files; file += 1) {
    const path = join(folder, `floor-${file}`);
    await using handle = await open(path, "w");
    writeMs += await time(async () => {
      for (let index = 0; index < pieces; index += 1) await handle.write(piece);
    });
    // Of several files the service keeps only those that the call uses, which is one.
    if (file === 0) fsyncMs += await time(() => handle.sync());
    await rm(path);
  }
  return { writeMs, fsyncMs };
}

async function time(work: () => unknown): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

announceServer(
  createServer(async (request, response) => {
    const query = new URL(request.url ?? "/", "http://localhost").searchParams;
    const size = { files: Number(query.get("files")), mb: Number(query.get("mb")) };
    const steps = request.method === "POST" ? await measure(request, size) : {};
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(steps));
  }),
);
