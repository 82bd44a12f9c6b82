import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { request } from "undici";
import { watchPeak } from "../processes/read-usage.ts";
import type { ServiceProcess } from "../processes/start-service.ts";

const MIB = 1024 * 1024;
const PIECE_BYTES = 240 * 1024;

/** What one call with files cost the service. */
export interface EnvelopeSample {
  /** File bytes per second, in MB. */
  readonly mbPerSecond: number;
  /** How much the memory of the service grew at most, in MB. */
  readonly growthMb: number;
}

/** Sends one write with so many files of so many MB; the service stores all and puts one into the drive. */
export async function measureEnvelope(
  service: ServiceProcess,
  { files, mb }: { readonly files: number; readonly mb: number },
): Promise<EnvelopeSample> {
  const bytes = mb * MIB;
  const piece = Buffer.alloc(PIECE_BYTES, "0123456789abcdef");
  const last = piece.subarray(0, bytes % PIECE_BYTES);
  const pieces = [...Array.from({ length: Math.floor(bytes / PIECE_BYTES) }, () => piece), last];
  const hash = createHash("md5");
  for (const one of pieces) hash.update(one);
  const md5 = hash.digest("hex");
  const file = { name: "bench.txt", mimetype: "text/plain", s3key: "file-0" };
  const head = JSON.stringify({ arguments: { file, if_exists: "replace" }, confirmed: true }).slice(0, -1);
  async function* write() {
    yield `${head},"files":[`;
    for (let index = 0; index < files; index += 1) {
      const entry = JSON.stringify({ pointer: `file-${index}`, name: file.name, mimetype: file.mimetype, md5 });
      yield `${index === 0 ? "" : ","}${entry.slice(0, -1)},"dataBase64":"`;
      for (const one of pieces) yield one.toString("base64");
      yield '"}';
    }
    yield "]}";
  }
  const growth = watchPeak(service.pid);
  const begun = performance.now();
  const reply = await request(`${service.url}/api/tools/drive_upload_file/execute`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-svc-api-key": service.apiKey },
    body: Readable.from(write(), { objectMode: false }),
  });
  const text = await reply.body.text();
  if (reply.statusCode !== 200) throw new Error(`The service answered ${reply.statusCode}: ${text.slice(0, 300)}`);
  const seconds = (performance.now() - begun) / 1_000;
  return { mbPerSecond: (files * mb) / seconds, growthMb: growth() };
}
