import { createHash, randomBytes } from "node:crypto";
import { type FileHandle, mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { createMd5 } from "../../base/hash.ts";
import { toFileStoreError } from "./folder-error.ts";

/** How many leading bytes are kept in memory for MIME sniffing. */
const HEAD_BYTES = 64 * 1024;

/** Size in bytes, and MD5 and SHA-256 in lower-case hex. */
export interface FileDigests {
  readonly size: number;
  readonly md5: string;
  readonly sha256: string;
}

/** Bytes on their way into the blob store: one private file (0600) that disappears unless it is adopted. */
export interface StagedFile {
  readonly path: string;
  readonly size: number;
  /** Up to 64 KiB from the start of the file. */
  readonly head: Uint8Array;
  write(bytes: Uint8Array): Promise<void>;
  /** Ends the writing, closes and returns the digests; calling it again gives the same digests. Does not wait for the disk. */
  seal(): Promise<FileDigests>;
  /** Closes and removes the file; harmless after an adoption or a second time. Never rejects: what stays is swept later. */
  discard(): Promise<void>;
}

async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  let done = 0;
  while (done < bytes.length) done += (await handle.write(bytes, done)).bytesWritten;
}

/**
 * Runs a disk operation of the service itself.
 *
 * @throws ServiceError 503 `file_store_unavailable` for a disk that is full or gone.
 */
export async function onDisk<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toFileStoreError(error);
  }
}

/**
 * Creates an empty staged file with a random name in `folder` (made 0700 when missing).
 *
 * @throws ServiceError 503 `file_store_unavailable`; so does `write`.
 */
export async function createStagedFile(folder: string): Promise<StagedFile> {
  const path = join(folder, randomBytes(16).toString("hex"));
  const handle = await onDisk(async () => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return open(path, "wx", 0o600);
  });
  const md5 = createMd5();
  const sha256 = createHash("sha256");
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
  return {
    path,
    get size() {
      return size;
    },
    get head() {
      return Buffer.concat(heads);
    },
    async write(bytes) {
      if (headSize < HEAD_BYTES) {
        const part = Uint8Array.prototype.slice.call(bytes, 0, HEAD_BYTES - headSize);
        heads.push(part);
        headSize += part.length;
      }
      size += bytes.length;
      md5.update(bytes);
      sha256.update(bytes);
      await onDisk(() => writeAll(handle, bytes));
    },
    seal() {
      sealed ??= close().then(() => ({ size, md5: md5.digestHex(), sha256: sha256.digest("hex") }));
      return sealed;
    },
    async discard() {
      // Whatever the file was for has ended: a disk that fails now must not turn a done write into a failed one.
      await close().catch(() => {});
      await rm(path, { force: true }).catch(() => {});
    },
  };
}
