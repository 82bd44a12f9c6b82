import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { request } from "undici";
import { watchPeak } from "../processes/read-usage.ts";
import type { Server } from "../processes/start-server.ts";
import type { ServiceProcess } from "../processes/start-service.ts";
import type { FloorSteps } from "./envelope-floor.ts";

const MIB = 1024 * 1024;
const PIECE_BYTES = 240 * 1024;

/** What one call with files cost the service. */
export interface EnvelopeSample {
  /** File bytes per second, in MB. */
  readonly mbPerSecond: number;
  /** How much the memory of the service grew at most, in MB. */
  readonly growthMb: number;
}

/** So many files of so many MB. */
export interface EnvelopeSize {
  readonly files: number;
  readonly mb: number;
}

/** Sends one write with files; the service stores all while it reads them, and puts one into the drive. */
export async function measureEnvelope(service: ServiceProcess, size: EnvelopeSize): Promise<EnvelopeSample> {
  const growth = watchPeak(service.pid);
  const begun = performance.now();
  const headers = { "content-type": "application/json", "x-svc-api-key": service.apiKey };
  await post(`${service.url}/api/tools/drive_upload_file/execute`, headers, size);
  const seconds = (performance.now() - begun) / 1_000;
  return { mbPerSecond: (size.files * size.mb) / seconds, growthMb: growth() };
}

/** The steps that no service can do without, each by itself, in a process of its own. */
export async function measureEnvelopeFloor({ url }: Server, { files, mb }: EnvelopeSize): Promise<FloorSteps> {
  return JSON.parse(await post(`${url}/?files=${files}&mb=${mb}`, {}, { files, mb }));
}

async function post(url: string, headers: Record<string, string>, size: EnvelopeSize): Promise<string> {
  const body = Readable.from(writeEnvelope(size), { objectMode: false });
  const reply = await request(url, { method: "POST", headers, body });
  const text = await reply.body.text();
  if (reply.statusCode !== 200) throw new Error(`The server answered ${reply.statusCode}: ${text.slice(0, 300)}`);
  return text;
}

/** The text of an envelope, from pieces that are encoded once: a sender that encodes is what would be waited for. */
function writeEnvelope({ files, mb }: EnvelopeSize): Iterable<Buffer> {
  const bytes = mb * MIB;
  const piece = Buffer.alloc(PIECE_BYTES, "0123456789abcdef");
  const last = piece.subarray(0, bytes % PIECE_BYTES);
  const count = Math.floor(bytes / PIECE_BYTES);
  const hash = createHash("md5");
  for (let index = 0; index < count; index += 1) hash.update(piece);
  const md5 = hash.update(last).digest("hex");
  const [text, lastText] = [piece, last].map((one) => Buffer.from(one.toString("base64")));
  const file = { name: "bench.txt", mimetype: "text/plain", s3key: "file-0" };
  const head = JSON.stringify({ arguments: { file, if_exists: "replace" }, confirmed: true }).slice(0, -1);
  function* write() {
    yield Buffer.from(`${head},"files":[`);
    for (let index = 0; index < files; index += 1) {
      const entry = JSON.stringify({ pointer: `file-${index}`, name: file.name, mimetype: file.mimetype, md5 });
      yield Buffer.from(`${index === 0 ? "" : ","}${entry.slice(0, -1)},"dataBase64":"`);
      for (let part = 0; part < count; part += 1) yield text ?? piece;
      yield Buffer.concat([lastText ?? last, Buffer.from('"}')]);
    }
    yield Buffer.from("]}");
  }
  return write();
}
