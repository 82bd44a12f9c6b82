import { createHash } from "node:crypto";
import { createMd5 } from "../../../shared/base/hash.ts";
import { cloneJson, getAt, getOwn } from "../../../shared/base/json.ts";
import { SvcError } from "../../../shared/errors.ts";
import { MAX_REQUEST_FILE_BYTES } from "../../../shared/wire/constants.ts";
import { cleanFileName, dropReceivedId } from "../locate/classify-reference.ts";
import type { LocatedFile } from "../locate/locate-files.ts";
import { type MediaRefusal, type MediaRefusalCode, refuseMedia } from "../media-refusal.ts";
import { type MediaFile, openMediaFile, readPieces } from "../open/open-media-file.ts";
import type { MediaRoots } from "../open/roots.ts";
import { decideMimeType, SNIFF_BYTES, sniffType } from "./mime-type.ts";

/** A local file as a human approves it and as it must still be when it is sent. */
export interface InspectedFile {
  readonly field: string;
  readonly path: readonly (string | number)[];
  readonly reference: string;
  /** What the service sees instead of the path, e.g. `file-1`; equal references share one. */
  readonly pointer: string;
  readonly name: string;
  readonly mimetype: string;
  /** Bytes. */
  readonly size: number;
  /** Hex MD5 of the bytes, for the service's own check and the human's eye. */
  readonly md5: string;
  /** Hex SHA-256 of the same bytes; an approval is bound to it, since MD5s can be forged. */
  readonly sha256: string;
  /** Tags of its pieces of 480 KiB, checked when they are sent. Of this process alone; never stored. */
  readonly pieces: readonly string[];
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
  /** Said to the human and the model, e.g. `declared image/png, sent as application/pdf`. */
  readonly note?: string;
}

/** The inspected local files, or the first one that is refused. */
export type InspectedFiles =
  | { readonly ok: true; readonly files: InspectedFile[] }
  | { readonly ok: false; readonly refusal: MediaRefusal };

type Seen = Omit<InspectedFile, "field" | "path" | "reference" | "pointer">;
type Result<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: MediaRefusal };

const SENT_AS_RECEIVED = "this is the attachment as it was received; the copy in the workspace was not read";

/**
 * Opens each local file inside the media roots, checks the caps ("Limits": 25 MB each, 100 MB together) before any
 * content is read, then finds out type and digests. URLs and storage keys are left out of the result: they pass
 * unchanged. Nothing stays open.
 *
 * @throws SvcError `aborted` when the signal fires.
 */
export async function inspectFiles(
  roots: MediaRoots,
  files: readonly LocatedFile[],
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<InspectedFiles> {
  const local = files.filter((file) => file.kind === "local");
  const groups = [...Map.groupBy(local, ({ reference }) => reference).values()];
  const distinct = groups.flatMap((equal) => equal.slice(0, 1));
  const measured = await measure(roots, distinct, options.signal);
  if (!measured.ok) return measured;
  const seen = new Map<LocatedFile, Seen>();
  for (const [index, file] of distinct.entries()) {
    const equal = groups[index] ?? [file];
    const result = await withFile(roots, file, options.signal, (open) => inspect(open, equal, options.signal));
    if (!result.ok) return result;
    for (const [one, facts] of result.value) {
      if (facts.size !== (measured.value.get(file.reference) ?? facts.size))
        return refused("changed_while_reading", file);
      seen.set(one, facts);
    }
  }
  const pointers = choosePointers(distinct, files);
  return { ok: true, files: local.flatMap((file) => combine(file, seen, pointers)) };
}

/** Sizes only, so that a call above the caps is refused before a byte is read. One file alone has its cap when opened. */
async function measure(
  roots: MediaRoots,
  files: readonly LocatedFile[],
  signal: AbortSignal | undefined,
): Promise<Result<Map<string, number>>> {
  const sizes = new Map<string, number>();
  if (files.length === 1) return { ok: true, value: sizes };
  let total = 0;
  for (const file of files) {
    const size = await withFile(roots, file, signal, async (open) => ({ ok: true, value: open.size }));
    if (!size.ok) return size;
    total += size.value;
    if (total > MAX_REQUEST_FILE_BYTES) return refused("total_too_large", file);
    sizes.set(file.reference, size.value);
  }
  return { ok: true, value: sizes };
}

async function withFile<T>(
  roots: MediaRoots,
  file: LocatedFile,
  signal: AbortSignal | undefined,
  use: (open: MediaFile) => Promise<Result<T>>,
): Promise<Result<T>> {
  throwIfAborted(signal);
  const opened = await openMediaFile(roots, file.reference);
  if ("refused" in opened) return refused(opened.refused, file);
  try {
    return await use(opened.file);
  } finally {
    await opened.file.close();
  }
}

async function inspect(
  open: MediaFile,
  equal: readonly LocatedFile[],
  signal: AbortSignal | undefined,
): Promise<Result<[LocatedFile, Seen][]>> {
  const [file] = equal;
  if (file === undefined) return { ok: true, value: [] };
  const [md5, sha256] = [createMd5(), createHash("sha256")];
  const pieces: string[] = [];
  let head: Uint8Array = new Uint8Array();
  for await (const piece of readPieces(open)) {
    throwIfAborted(signal);
    if (piece === "unreadable") return refused("unreadable", file);
    if (piece === "shortened") return refused("changed_while_reading", file);
    if (pieces.length === 0) head = new Uint8Array(piece.bytes.subarray(0, SNIFF_BYTES));
    md5.update(piece.bytes);
    sha256.update(piece.bytes);
    pieces.push(piece.tag);
  }
  if (!(await open.isUnchanged())) return refused("changed_while_reading", file);
  const types = await decideTypes(head, open.name, equal);
  if (!types.ok) return types;
  const { size, mtimeNs, ctimeNs } = open;
  const found = { size, md5: md5.digestHex(), sha256: sha256.digest("hex"), pieces, mtimeNs, ctimeNs };
  const name = cleanFileName(dropReceivedId(open.name)) ?? "file";
  const value = types.value.map(([one, mimetype, said]): [LocatedFile, Seen] => {
    const notes = [said, open.isOriginal ? SENT_AS_RECEIVED : undefined].filter((note) => note !== undefined);
    return [one, { name, mimetype, ...found, ...(notes.length > 0 && { note: notes.join("; ") }) }];
  });
  return { ok: true, value };
}

/** One type, since the bytes travel once; the name and type that each field declares are judged on their own. */
async function decideTypes(
  head: Uint8Array,
  name: string,
  equal: readonly LocatedFile[],
): Promise<Result<(readonly [LocatedFile, mimetype: string, note: string | undefined])[]>> {
  let shared: string | undefined;
  const value: (readonly [LocatedFile, string, string | undefined])[] = [];
  const sniffed = await sniffType(head);
  for (const file of equal) {
    const type = decideMimeType({ head, sniffed, name, declaredName: file.name, declared: file.mimetype });
    if (!type.ok) return refused("file_type_mismatch", file, type.detail);
    shared ??= type.mimetype;
    const differs = type.mimetype !== shared && file.mimetype !== undefined;
    value.push([file, shared, differs ? `declared ${file.mimetype}, sent as ${shared}` : type.note]);
  }
  return { ok: true, value };
}

/** Numbers the distinct files, stepping over any number that a storage key in the same call already uses. */
function choosePointers(distinct: readonly LocatedFile[], all: readonly LocatedFile[]): Map<string, string> {
  const taken = new Set(all.map((file) => file.reference));
  const pointers = new Map<string, string>();
  let number = 0;
  for (const file of distinct) {
    do number += 1;
    while (taken.has(`file-${number}`));
    pointers.set(file.reference, `file-${number}`);
  }
  return pointers;
}

function combine(file: LocatedFile, seen: Map<LocatedFile, Seen>, pointers: Map<string, string>): InspectedFile[] {
  const facts = seen.get(file);
  const pointer = pointers.get(file.reference);
  if (facts === undefined || pointer === undefined) return [];
  const { field, path, reference, name } = file;
  return [{ field, path, reference, pointer, ...facts, name: name === undefined ? facts.name : dropReceivedId(name) }];
}

function refused(code: MediaRefusalCode, file: LocatedFile, detail?: string): { ok: false; refusal: MediaRefusal } {
  return { ok: false, refusal: refuseMedia(code, file.field, detail) };
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw new SvcError("aborted", "Reading the files was stopped.", { sent: false });
}

/**
 * A copy of the arguments in which each file's place holds `{name, mimetype, s3key: pointer}`, other members kept.
 * The local path is gone afterwards. Filling twice changes nothing.
 */
export function fillFileArguments(
  args: Readonly<Record<string, unknown>>,
  files: readonly InspectedFile[],
): Record<string, unknown> {
  const copy = cloneJson(args) as typeof args;
  for (const { path, name, mimetype, pointer } of files) {
    const key = path.at(-1);
    const holder = getAt(copy, path.slice(0, -1));
    if (key === undefined || typeof holder !== "object" || holder === null) continue;
    const old = getOwn(holder, key);
    const kept = typeof old === "object" && old !== null ? old : {};
    Reflect.set(holder, key, { ...kept, name, mimetype, s3key: pointer });
  }
  return copy;
}
