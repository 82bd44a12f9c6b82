import type { PreviewFile } from "../../apps/port/integration.ts";
import { isText, MAX_JUDGED_BYTES } from "../../shared/wire/file.ts";
import { findFileFields, findUrlFields } from "../files/file-fields.ts";

/** Longest file of an answer whose text is noted, in bytes; of a call, see {@link MAX_JUDGED_BYTES}. */
const MAX_NOTED_BYTES = 1024 * 1024;

/** A file of a call. */
export interface CallFile {
  /** Path of its argument, such as `attachments[0]`. */
  readonly argument: string;
  /** Path of the text that names it. */
  readonly keyArgument: string;
  readonly name: string;
  /** In lower-case hex; undefined where the service does not know the bytes. */
  readonly sha256?: string | undefined;
  /** Undefined for one that is no text, is too long, or is not here. */
  readonly text?: string | undefined;
}

/** A file that an answer brought. */
export interface KeptFile {
  readonly s3key: string;
  readonly sha256: string;
  readonly text?: string | undefined;
}

/** The form by which a file is found again, whatever it holds. */
export function nameFile(sha256: string): string {
  return `file:${sha256}`;
}

/** The files of a call with their texts, as far as they are here. */
export async function readFiles(
  inputSchema: unknown,
  args: Record<string, unknown>,
  file: (s3key: string) => PreviewFile,
): Promise<CallFile[]> {
  const fields = [
    ...findFileFields(inputSchema, args).map(({ field, value }) => {
      return { field, keyField: `${field}.s3key`, s3key: String(value.s3key) };
    }),
    ...findUrlFields(inputSchema, args).map(({ field, reference }) => ({ field, keyField: field, s3key: reference })),
  ];
  const files: CallFile[] = [];
  for (const { field, keyField, s3key } of fields) {
    const held = file(s3key);
    const { name, sha256 } = held;
    const text = await readText(held).catch(() => undefined);
    files.push({ argument: field, keyArgument: keyField, name, sha256, text });
  }
  return files;
}

async function readText(file: PreviewFile): Promise<string | undefined> {
  const { size = 0 } = file;
  if (file.open === undefined || size > MAX_JUDGED_BYTES || !isText(file)) return undefined;
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of file.open() as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > MAX_JUDGED_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

type Keep<Kept> = (
  file: { readonly name: string; readonly mimetype: string },
  bytes: AsyncIterable<Uint8Array>,
) => Promise<Kept>;

/** Keeps files as before, and tells each with its text. */
export function watchKept<Kept extends { readonly s3key: string; readonly sha256: string }>(
  keep: Keep<Kept>,
  onKept: (file: KeptFile) => void,
): Keep<Kept> {
  return async (file, bytes) => {
    const copy = isText(file) ? copyWhile(bytes, MAX_NOTED_BYTES) : undefined;
    const kept = await keep(file, copy?.bytes ?? bytes);
    onKept({ s3key: kept.s3key, sha256: kept.sha256, text: copy?.text() });
    return kept;
  };
}

/** The same bytes, and their text once they were read, unless there are too many. */
function copyWhile(bytes: AsyncIterable<Uint8Array>, most: number) {
  let chunks: Uint8Array[] | undefined = [];
  let length = 0;
  async function* pass() {
    for await (const chunk of bytes) {
      length += chunk.length;
      if (length > most) chunks = undefined;
      // The app may use the memory of its chunk again.
      chunks?.push(Uint8Array.from(chunk));
      yield chunk;
    }
  }
  return { bytes: pass(), text: () => chunks && Buffer.concat(chunks).toString("utf8") };
}
