import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createBlobStore } from "../../../src/service/files/blob-store.ts";
import { readExecuteBody } from "../../../src/service/files/read-execute-body.ts";

const MIB = 1024 * 1024;
/** Base64 of 48 KiB that is not all the same. */
const bytes = Buffer.from(Array.from({ length: 48 * 1024 }, (_, at) => (at * 7919) & 255));
const text = Buffer.from(bytes.toString("base64"));

// Sampled: resourceUsage().maxRSS would start at the parent's peak.
let peak = 0;
function sample(): void {
  peak = Math.max(peak, process.memoryUsage.rss());
}

async function* envelope(files: number, sizeMib: number): AsyncGenerator<Uint8Array> {
  const rounds = Math.floor((sizeMib * MIB) / bytes.length);
  const hash = createHash("md5");
  for (let n = 0; n < rounds; n++) hash.update(bytes);
  const md5 = hash.digest("hex");
  yield Buffer.from('{"arguments":{},"files":[');
  for (let file = 0; file < files; file++) {
    yield Buffer.from(`${file ? "," : ""}{"pointer":"${file}","name":"n","mimetype":"a/b","dataBase64":"`);
    for (let n = 0; n < rounds; n++) {
      sample();
      // A copy, as every piece from a socket is memory of its own.
      yield Buffer.from(text);
    }
    yield Buffer.from(`","md5":"${md5}"}`);
  }
  yield Buffer.from("]}");
}

const dir = await mkdtemp(join(tmpdir(), "svc-memory-"));
const blobs = createBlobStore({ dir, now: Date.now });
const read = async (files: number, sizeMib: number) => {
  const request = await readExecuteBody(envelope(files, sizeMib), { blobs, account: "1" });
  const total = request.files?.reduce((sum, file) => sum + file.size, 0) ?? 0;
  await request.dispose();
  return total;
};
await read(1, 2);
const before = process.memoryUsage.rss();
const total = await read(4, 25);
sample();
const growth = peak - before;
await rm(dir, { recursive: true, force: true });
process.stdout.write(JSON.stringify({ total, growthMib: Math.round(growth / MIB) }));
