import { createHash, randomBytes } from "node:crypto";
import { mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { errorCode } from "../../shared/base/error-code.ts";
import { createMd5, sha256Hex } from "../../shared/base/hash.ts";
import { parseJson } from "../../shared/base/json.ts";
import { ServiceError } from "../service-error.ts";
import { createBlockWriter } from "./block-writer.ts";
import { sanitiseFileName } from "./file-name.ts";

/** How many leading bytes are kept in memory for MIME sniffing. */
const HEAD_BYTES = 64 * 1024;

/** Size in bytes, and MD5 and SHA-256 in lower-case hex. */
export interface FileDigests {
  readonly size: number;
  readonly md5: string;
  readonly sha256: string;
}

/** Bytes on their way into the blob store: one private file (0600) that disappears unless it is adopted. */
export type StagedFile = Awaited<ReturnType<typeof createStagedFile>>;

/** Conditions of a disk that pass, or that a human repairs without touching the request. */
export const DISK_FAULTS: ReadonlySet<string> = new Set(
  "ENOSPC EDQUOT EIO EROFS EBUSY ESTALE EMFILE ENFILE ETIMEDOUT ENODEV ENXIO".split(" "),
);

const DISK_REASONS: Readonly<Record<string, string>> = {
  ENOSPC: "its disk is full",
  EDQUOT: "its disk is full (quota)",
  EROFS: "its disk is read-only",
};

/**
 * Runs a disk operation of the service itself.
 *
 * @throws ServiceError 503 `file_store_unavailable`, retryable, for a disk that is full or gone.
 */
export async function onDisk<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const code = errorCode(cause) ?? "unknown";
    if (!DISK_FAULTS.has(code)) throw cause;
    const reason = DISK_REASONS[code] ?? `the place for its files does not take them (${code})`;
    const message = `The service cannot keep files at the moment: ${reason}.`;
    const hint = "Nothing was run. Try again later, or tell the owner of the service.";
    throw new ServiceError(503, "file_store_unavailable", message, { type: "network", retryable: true, hint, cause });
  }
}

/**
 * Creates an empty staged file with a random name in `folder` (made 0700 when missing).
 *
 * @throws ServiceError 503 `file_store_unavailable`; so do `write` and `seal`, also for bytes given before.
 */
export async function createStagedFile(folder: string) {
  const path = join(folder, randomBytes(16).toString("hex"));
  const handle = await onDisk(async () => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return open(path, "wx", 0o600);
  });
  const md5 = createMd5();
  const sha256 = createHash("sha256");
  const writer = createBlockWriter(handle, (block) => {
    md5.update(block);
    sha256.update(block);
  });
  const heads: Uint8Array[] = [];
  let headSize = 0;
  let size = 0;
  let sealed: Promise<FileDigests> | undefined;
  let closed = false;
  const close = async () => {
    if (closed) return;
    closed = true;
    await handle.close();
  };
  const seal = async (): Promise<FileDigests> => {
    await onDisk(() => writer.end());
    await close();
    return { size, md5: md5.digestHex(), sha256: sha256.digest("hex") };
  };
  return {
    path,
    get size() {
      return size;
    },
    /** Up to 64 KiB from the start of the file. */
    get head(): Uint8Array {
      return Buffer.concat(heads);
    },
    async write(bytes: Uint8Array): Promise<void> {
      if (headSize < HEAD_BYTES) {
        const part = Uint8Array.prototype.slice.call(bytes, 0, HEAD_BYTES - headSize);
        heads.push(part);
        headSize += part.length;
      }
      size += bytes.length;
      await onDisk(() => writer.write(bytes));
    },
    /**
     * Ends the writing, closes and returns the digests; calling it again gives the same digests. The bytes may still be in
     * the memory of the system, and not on the disk.
     */
    seal(): Promise<FileDigests> {
      sealed ??= seal();
      return sealed;
    },
    /** Closes and removes the file; harmless after an adoption or a second time. Never rejects: what stays is swept later. */
    async discard(): Promise<void> {
      // Whatever the file was for has ended: a disk that fails now must not turn a done write into a failed one.
      await writer.stop();
      await close().catch(() => {});
      await rm(path, { force: true }).catch(() => {});
    },
  };
}

/** How long a storage key is valid unless a store is told otherwise. */
export const DEFAULT_TTL_MS = 7 * 24 * 60 * 60 * 1000;
/** Younger leftovers may belong to a request that is still running. */
export const LEFTOVER_AGE_MS = 60 * 60 * 1000;
/** Large bodies a store admits at a time: bounds disk and CPU time taken by uploads. */
export const MAX_LARGE_BODIES = 4;

const KEY_ID = /^[A-Za-z0-9_-]{32}$/;

/** Name and type of bytes that enter a store; `tool` only colours the storage key. */
export interface BlobLabel {
  readonly name: string;
  readonly mimetype: string;
  readonly tool?: string;
}

const storedFileSchema = z.object({
  s3key: z.string(),
  account: z.string(),
  name: z.string(),
  mimetype: z.string(),
  size: z.int(),
  md5: z.string(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** Milliseconds since the epoch. */
  createdAt: z.number(),
});

/** One file of one account. `s3key` is the opaque storage key callers pass around. */
export type StoredFile = Readonly<z.infer<typeof storedFileSchema>>;

/** Describes bytes under a new storage key, which ends in 192 random bits: its `id`. */
export function describeFile(
  account: string,
  label: BlobLabel,
  facts: FileDigests & { readonly createdAt: number },
): { id: string; file: StoredFile } {
  const id = randomBytes(24).toString("base64url");
  const tool = (label.tool ?? "upload").replace(/[^A-Za-z0-9_-]/g, "_");
  const s3key = `${toFolderName(account)}/${tool}/request/${id}`;
  const file = { s3key, account, name: sanitiseFileName(label.name), mimetype: label.mimetype, ...facts };
  return { id, file };
}

/** The id in a storage key of this account; undefined for anything else. */
export function readKeyId(account: string, s3key: string): string | undefined {
  const parts = s3key.split("/");
  const id = parts[3];
  const isOwn = parts.length === 4 && parts[0] === toFolderName(account) && id !== undefined && KEY_ID.test(id);
  return isOwn ? id : undefined;
}

/** Reads what {@link describeFile} wrote, as JSON; undefined when it is damaged. */
export function parseStoredFile(text: string): StoredFile | undefined {
  return storedFileSchema.safeParse(parseJson(text)).data;
}

/** Account ids become folder names unchanged when they are plain; anything else is hashed. */
export function toFolderName(account: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(account)) return account;
  return `h-${sha256Hex(account)}`;
}
