import { isRecord } from "../../shared/base/json.ts";
import { MAX_FILE_BYTES, MAX_REQUEST_FILE_BYTES } from "../../shared/wire/constants.ts";
import { refuseBare, ServiceError } from "../service-error.ts";
import { Base64Sink, type DivertedFile } from "./base64-sink.ts";
import type { BlobStore } from "./blob-store.ts";
import {
  type BodyRate,
  createValueGuard,
  DEFAULT_BODY_RATE,
  guardBodyRate,
  isTooDeep,
  MAX_JSON_DEPTH,
} from "./body-limits.ts";
import { parseStrictly, type SplitBody, SplitError, splitBody } from "./split-body.ts";
import type { StagedFile } from "./staged-file.ts";

const MIB = 1024 * 1024;
/** Most bytes of a body besides files; they are parsed in memory. */
const MAX_REST_BYTES = 8 * MIB;
const MAX_BODY_BYTES = Math.ceil(MAX_REQUEST_FILE_BYTES / 3) * 4 + MAX_REST_BYTES;
/** From here on a body counts as large and needs one of the store's places. */
const LARGE_BODY_BYTES = MIB;

/** An execute request with its files on the disk. */
export interface ExecuteBody {
  /** The request object without `files`. */
  readonly body: Record<string, unknown>;
  /** Undefined when the request has no `files` (absent or null). */
  readonly files: ReceivedFile[] | undefined;
  /** Removes the temporary files that were not adopted. Call it when the request is over. */
  dispose(): Promise<void>;
}

/** Options of {@link readExecuteBody}. */
export interface ReadBodyOptions {
  readonly contentLength?: number | undefined;
  readonly blobs: BlobStore;
  readonly account: string;
  readonly signal?: AbortSignal;
  /** Slowest sender that is accepted. Default 1 KiB/s over 20 s of waiting. */
  readonly rate?: BodyRate;
}

function refuseTotal(): ServiceError {
  const limit = `files hold more than ${MAX_REQUEST_FILE_BYTES / MIB} MB of decoded bytes`;
  return refuseBare(413, "request_too_large", `${limit}; send fewer files per request or upload them one by one.`);
}

function malformed(message: string): ServiceError {
  return refuseBare(400, "malformed_request", message);
}

/** A body that is at hand whole needs no place, and its files are decoded from the document. */
function parseWhole(bytes: Uint8Array): SplitBody {
  createValueGuard()(bytes);
  return { value: parseStrictly(bytes), findFile: () => undefined };
}

async function split(bytes: AsyncIterable<Uint8Array>, options: ReadBodyOptions, target: FileTarget) {
  const { blobs, rate = DEFAULT_BODY_RATE, signal } = options;
  const guardValues = createValueGuard();
  let leave: (() => void) | undefined;
  /** Takes one of the store's places as soon as the body turns out to be large. */
  async function* admit(): AsyncGenerator<Uint8Array, void, undefined> {
    let total = 0;
    for await (const piece of guardBodyRate(bytes, rate, signal)) {
      total += piece.length;
      if (total > MAX_BODY_BYTES) throw refuseTotal();
      if (total > LARGE_BODY_BYTES) leave ??= await blobs.largeBodies.enter(signal);
      guardValues(piece);
      yield piece;
    }
  }
  try {
    return await splitBody(admit(), { ...target, maxFileBytes: MAX_FILE_BYTES, maxRestBytes: MAX_REST_BYTES });
  } finally {
    leave?.();
  }
}

function explainSplit(error: unknown): unknown {
  if (!(error instanceof SplitError)) return error;
  if (error.reason === "malformed") return malformed("The request body is not valid JSON (UTF-8).");
  const limit = `The request without its file bytes is larger than ${MAX_REST_BYTES / MIB} MB.`;
  return refuseBare(413, "request_too_large", limit);
}

/** Where the files of one request go and how their sum is watched. */
type FileTarget = ReturnType<typeof createFileTarget>;

function createFileTarget(blobs: BlobStore) {
  const staged: StagedFile[] = [];
  let decoded = 0;
  return {
    async stage(): Promise<StagedFile> {
      // The list itself can be counted only once its end was read.
      if (staged.length >= MAX_ENTRIES) throw malformed(`files holds more than ${MAX_ENTRIES} files.`);
      const file = await blobs.stage();
      staged.push(file);
      return file;
    },
    /** Takes the size of a decoded part; throws above 100 MB in all. */
    count(size: number): void {
      decoded += size;
      if (decoded > MAX_REQUEST_FILE_BYTES) throw refuseTotal();
    },
    async discardAll(): Promise<void> {
      for (const file of staged.splice(0)) await file.discard();
    },
  };
}

/**
 * Reads the body of `POST /api/tools/{name}/execute` in bounded memory: `files[i].dataBase64` is decoded on the way into
 * temporary files, everything else is parsed as JSON ("FileAttachment", "Limits"). A body that came whole, which is small,
 * is parsed at once.
 *
 * Throws ServiceError 413 (bare) for an announced length no valid envelope can have, for more than 100 MB of decoded bytes
 * (as soon as they are passed) and for more than 8 MB besides file bytes; 400 (bare) for malformed JSON, a malformed
 * envelope (naming `files[i].<field>`) and a sender below the minimum rate; 400 `file_too_large` (envelope) for one file
 * above 25 MB. Temporary files are removed before it throws. The source is left open: the caller answers, then closes it.
 */
export async function readExecuteBody(
  bytes: Uint8Array | AsyncIterable<Uint8Array>,
  options: ReadBodyOptions,
): Promise<ExecuteBody> {
  if (options.contentLength !== undefined && options.contentLength > MAX_BODY_BYTES) throw refuseTotal();
  const target = createFileTarget(options.blobs);
  try {
    const document = bytes instanceof Uint8Array ? parseWhole(bytes) : await split(bytes, options, target);
    if (isTooDeep(document.value)) throw malformed(`The request body nests deeper than ${MAX_JSON_DEPTH} levels.`);
    if (!isRecord(document.value)) throw malformed("The request body must be a JSON object.");
    const { files, ...body } = document.value;
    const received = await readEnvelope(files, { ...target, findFile: document.findFile });
    return { body, files: received, dispose: () => target.discardAll() };
  } catch (error) {
    await target.discardAll();
    throw explainSplit(error);
  }
}

const FIELDS = ["pointer", "name", "mimetype", "md5", "dataBase64"] as const;
/** Most entries of one `files` envelope; each may open a file on the disk. */
const MAX_ENTRIES = 1000;
const MIME_TYPE = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}(?:\s*;[\x20-\x7e]*)?$/;

/** One checked entry of `files`: all five fields present, bytes on the disk, MD5 right. */
export interface ReceivedFile {
  readonly index: number;
  readonly pointer: string;
  readonly name: string;
  readonly mimetype: string;
  readonly md5: string;
  readonly sha256: string;
  readonly size: number;
  readonly staged: StagedFile;
}

type EnvelopeSource = Pick<FileTarget, "stage" | "count"> & Pick<SplitBody, "findFile">;
type Entry = Record<(typeof FIELDS)[number], string>;

function malformedFiles(message: string): ServiceError {
  return refuseBare(400, "malformed_files", message);
}

function readEntry(value: unknown, index: number): Entry {
  if (!isRecord(value)) throw malformedFiles(`files[${index}] must be an object with the fields ${FIELDS.join(", ")}.`);
  const missing: string[] = [];
  const entry: Partial<Entry> = {};
  for (const field of FIELDS) {
    const text = Object.hasOwn(value, field) ? value[field] : undefined;
    if (typeof text === "string" && text.trim() !== "") entry[field] = text;
    else missing.push(field);
  }
  const { pointer, name, mimetype, md5, dataBase64 } = entry;
  if (!pointer || !name || !mimetype || !md5 || !dataBase64)
    throw malformedFiles(`files[${index}] is missing required string field(s): ${missing.join(", ")}.`);
  if (!/^[0-9a-f]{32}$/i.test(md5)) throw malformedFiles(`files[${index}].md5 must be 32 hex digits.`);
  if (!MIME_TYPE.test(mimetype))
    throw malformedFiles(`files[${index}].mimetype must be a MIME type such as image/png.`);
  return { pointer, name, mimetype, md5, dataBase64 };
}

/** Refuses two entries for one pointer: the intended bytes are ambiguous. */
function checkPointers(entries: readonly Entry[]): void {
  const seen = new Map<string, number>();
  for (const [index, { pointer }] of entries.entries()) {
    const first = seen.get(pointer);
    if (first !== undefined)
      throw malformedFiles(`files[${index}].pointer repeats files[${first}].pointer; give every file its own pointer.`);
    seen.set(pointer, index);
  }
}

async function decodeShort(dataBase64: string, source: EnvelopeSource): Promise<DivertedFile> {
  const sink = new Base64Sink(await source.stage(), MAX_FILE_BYTES, source.count, { escapes: false });
  await sink.write(Buffer.from(dataBase64));
  return sink.end();
}

async function readFile(entry: Entry, index: number, source: EnvelopeSource): Promise<ReceivedFile> {
  const file = source.findFile(entry.dataBase64) ?? (await decodeShort(entry.dataBase64, source));
  if (file.problem === "too_large")
    throw new ServiceError(400, "file_too_large", `files[${index}] is larger than 25 MB (${file.size} bytes).`, {
      type: "validation",
      hint: "Send a smaller file, or a link to it.",
      extra: { invalidFields: [`files[${index}].dataBase64`] },
    });
  if (file.staged === undefined)
    throw malformedFiles(
      `files[${index}].dataBase64 is not valid base64: only A-Z, a-z, 0-9, "+" and "/", padded with "=", and nothing after the padding.`,
    );
  const digests = await file.staged.seal();
  if (digests.md5 !== entry.md5.toLowerCase())
    throw malformedFiles(`files[${index}].md5 does not match the decoded bytes (their MD5 is ${digests.md5}).`);
  const { pointer, name, mimetype } = entry;
  return { index, pointer, name, mimetype, ...digests, staged: file.staged };
}

/**
 * Checks the `files` envelope: every entry has all five strings, no pointer twice, strict base64, MD5 (hex, any case) of
 * the decoded bytes, at most 25 MB each. Throws ServiceError 400 naming `files[i].<field>`. Undefined for absent or null.
 */
async function readEnvelope(files: unknown, source: EnvelopeSource): Promise<ReceivedFile[] | undefined> {
  if (files === undefined || files === null) return undefined;
  if (!Array.isArray(files)) throw malformedFiles("files must be an array of file attachments.");
  if (files.length > MAX_ENTRIES)
    throw malformedFiles(`files has ${files.length} entries; at most ${MAX_ENTRIES} are accepted.`);
  const entries = files.map(readEntry);
  checkPointers(entries);
  const received: ReceivedFile[] = [];
  for (const [index, entry] of entries.entries()) received.push(await readFile(entry, index, source));
  return received;
}
