import { isRecord } from "../../base/json.ts";
import { MAX_FILE_BYTES } from "../../wire/constants.ts";
import { ServiceError } from "../service-error.ts";
import { Base64Sink, type DivertedFile } from "./base64-sink.ts";
import type { StagedFile } from "./staged-file.ts";

const FIELDS = ["pointer", "name", "mimetype", "md5", "dataBase64"] as const;
/** Most entries of one `files` envelope; each may open a file on the disk. */
export const MAX_ENTRIES = 1000;
const MIME_TYPE = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}(?:\s*;[\x20-\x7e]*)?$/;

/** One checked entry of `files`: all five fields present, bytes on the disk, MD5 right. */
export interface ReceivedFile {
  /** Position in `files`. */
  readonly index: number;
  readonly pointer: string;
  readonly name: string;
  readonly mimetype: string;
  readonly md5: string;
  readonly sha256: string;
  readonly size: number;
  readonly staged: StagedFile;
}

interface EnvelopeSource {
  readonly findFile: (text: unknown) => DivertedFile | undefined;
  readonly stage: () => Promise<StagedFile>;
  /** Called with the size of decoded short entries; may throw. */
  readonly count: (bytes: number) => void;
}

type Entry = Record<(typeof FIELDS)[number], string>;

function malformed(message: string): ServiceError {
  return new ServiceError(400, "malformed_files", message, { bare: true });
}

function readEntry(value: unknown, index: number): Entry {
  if (!isRecord(value)) throw malformed(`files[${index}] must be an object with the fields ${FIELDS.join(", ")}.`);
  const missing: string[] = [];
  const entry: Partial<Entry> = {};
  for (const field of FIELDS) {
    const text = Object.hasOwn(value, field) ? value[field] : undefined;
    if (typeof text === "string" && text.trim() !== "") entry[field] = text;
    else missing.push(field);
  }
  const { pointer, name, mimetype, md5, dataBase64 } = entry;
  if (!pointer || !name || !mimetype || !md5 || !dataBase64)
    throw malformed(`files[${index}] is missing required string field(s): ${missing.join(", ")}.`);
  if (!/^[0-9a-f]{32}$/i.test(md5)) throw malformed(`files[${index}].md5 must be 32 hex digits.`);
  if (!MIME_TYPE.test(mimetype)) throw malformed(`files[${index}].mimetype must be a MIME type such as image/png.`);
  return { pointer, name, mimetype, md5, dataBase64 };
}

/** Refuses two entries for one pointer: which bytes were meant cannot be known. */
function checkPointers(entries: readonly Entry[]): void {
  const seen = new Map<string, number>();
  for (const [index, { pointer }] of entries.entries()) {
    const first = seen.get(pointer);
    if (first !== undefined)
      throw malformed(`files[${index}].pointer repeats files[${first}].pointer; give every file its own pointer.`);
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
    throw malformed(
      `files[${index}].dataBase64 is not valid base64: only A-Z, a-z, 0-9, "+" and "/", padded with "=", and nothing after the padding.`,
    );
  const digests = await file.staged.seal();
  if (digests.md5 !== entry.md5.toLowerCase())
    throw malformed(`files[${index}].md5 does not match the decoded bytes (their MD5 is ${digests.md5}).`);
  const { pointer, name, mimetype } = entry;
  return { index, pointer, name, mimetype, ...digests, staged: file.staged };
}

/**
 * Checks the `files` envelope: every entry has all five strings, no pointer twice, strict base64, MD5 (hex, any case) of
 * the decoded bytes, at most 25 MB each. Throws ServiceError 400 naming `files[i].<field>`. Undefined for absent or null.
 */
export async function readEnvelope(files: unknown, source: EnvelopeSource): Promise<ReceivedFile[] | undefined> {
  if (files === undefined || files === null) return undefined;
  if (!Array.isArray(files)) throw malformed("files must be an array of file attachments.");
  if (files.length > MAX_ENTRIES)
    throw malformed(`files has ${files.length} entries; at most ${MAX_ENTRIES} are accepted.`);
  const entries = files.map(readEntry);
  checkPointers(entries);
  const received: ReceivedFile[] = [];
  for (const [index, entry] of entries.entries()) received.push(await readFile(entry, index, source));
  return received;
}
