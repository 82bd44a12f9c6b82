import { createReadStream } from "node:fs";
import { mkdir, readdir, readFile, rm, stat, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { createGate } from "../../shared/base/concurrency.ts";
import { flushFile, flushFolder, renameFile, replaceFile } from "../../shared/base/disk.ts";
import { hasCode } from "../../shared/base/error-code.ts";
import { ServiceError } from "../service-error.ts";
import { checkBytes } from "./checked-bytes.ts";
import {
  type BlobLabel,
  createStagedFile,
  DEFAULT_TTL_MS,
  describeFile,
  type FileDigests,
  LEFTOVER_AGE_MS,
  MAX_LARGE_BODIES,
  onDisk,
  parseStoredFile,
  readKeyId,
  type StagedFile,
  type StoredFile,
  toFolderName,
} from "./staged-file.ts";

export type { StoredFile };

/** Folder of uploads in flight, beside those of the accounts. */
const STAGING = ".tmp";

/** Files the service holds for its accounts, for a limited time. */
export type BlobStore = ReturnType<typeof createStoreAt>;

/** Where a store keeps its objects: a folder or a bucket. Several processes may share one. */
export interface BlobPlace {
  /** Writes a staged file's bytes, durably; `createdAt` in milliseconds since the epoch. May move the staged file. */
  put(name: string, staged: FileDigests & { readonly path: string; readonly createdAt: number }): Promise<void>;
  putText(name: string, text: string, createdAt: number): Promise<void>;
  /** Undefined when there is no such object. */
  getText(name: string): Promise<string | undefined>;
  /** Size in bytes; undefined when there is no such object. */
  findSize(name: string): Promise<number | undefined>;
  open(name: string): Readable;
  /** Every object and when it was written, in milliseconds since the epoch. */
  list(): AsyncIterable<{ readonly name: string; readonly writtenAt: number }>;
  remove(name: string): Promise<void>;
}

/** Options of a store at any place. */
export interface BlobStoreOptions {
  readonly now: () => number;
  /** How long a storage key is valid. Default 7 days. */
  readonly ttlMs?: number;
}

/**
 * A store at `place`: `<account>/bytes/<id>` holds the bytes, `<account>/keys/<id>.json`, written last, the file's facts.
 * Each key has bytes of its own, so that no process can remove those that another one is about to name. Uploads in
 * flight stay in `stagingDir`.
 */
export function createStoreAt(place: BlobPlace, stagingDir: string, o: BlobStoreOptions) {
  const { now, ttlMs = DEFAULT_TTL_MS } = o;
  const bytesOf = (account: string, id: string) => `${toFolderName(account)}/bytes/${id}`;
  const keyOf = (account: string, id: string) => `${toFolderName(account)}/keys/${id}.json`;
  /** Starts a temporary file that `adopt` can take over without copying. */
  const stage = () => createStagedFile(stagingDir);

  /** Makes a staged file durable and gives it a storage key. The staged file is consumed, also on failure. */
  async function adopt(account: string, label: BlobLabel, staged: StagedFile): Promise<StoredFile> {
    try {
      const facts = { ...(await staged.seal()), createdAt: now() };
      const { id, file } = describeFile(account, label, facts);
      await place.put(bytesOf(account, id), { ...facts, path: staged.path });
      await place.putText(keyOf(account, id), JSON.stringify(file), facts.createdAt);
      return file;
    } finally {
      await staged.discard();
    }
  }

  return {
    /** Admits at most four large bodies at a time. */
    largeBodies: createGate(MAX_LARGE_BODIES),
    stage,
    adopt,

    /** Stores a stream. Throws ServiceError 400 `file_too_large` above `maxBytes`; nothing is kept then. */
    async receive(account: string, label: BlobLabel, bytes: AsyncIterable<Uint8Array>, o: { maxBytes: number }) {
      const { maxBytes } = o;
      const staged = await stage();
      try {
        for await (const chunk of bytes) {
          if (staged.size + chunk.length > maxBytes) throw refuseSize(label.name, maxBytes);
          await staged.write(chunk);
        }
        return await adopt(account, label, staged);
      } finally {
        await staged.discard();
      }
    },

    /** The file behind a key; undefined for unknown, expired and other accounts' keys alike. */
    async get(account: string, s3key: string): Promise<StoredFile | undefined> {
      const id = readKeyId(account, s3key);
      const text = id === undefined ? undefined : await place.getText(keyOf(account, id));
      const file = text === undefined ? undefined : parseStoredFile(text);
      if (id === undefined || file?.s3key !== s3key || file.account !== account) return undefined;
      if (file.createdAt + ttlMs <= now()) return undefined;
      return (await place.findSize(bytesOf(account, id))) === file.size ? file : undefined;
    },

    /** Opens the bytes of a file that `get` returned; fails before their end when they are others than were stored. */
    open: (file: StoredFile): Readable =>
      checkBytes(file, () => place.open(bytesOf(file.account, readKeyId(file.account, file.s3key) ?? ""))),

    /** Forgets a key of this account with its bytes; harmless for one that there is not. */
    async remove(account: string, s3key: string): Promise<void> {
      const id = readKeyId(account, s3key);
      if (id === undefined) return;
      await place.remove(keyOf(account, id));
      await place.remove(bytesOf(account, id));
    },

    /** Removes files that had expired by `time` (default now) and leftovers of interrupted requests. */
    async sweep(time = now()): Promise<void> {
      const oldest = Date.now() - LEFTOVER_AGE_MS;
      for (const name of await listOrNone(stagingDir)) {
        const written = await findTime(join(stagingDir, name));
        if (written !== undefined && written < oldest) await rm(join(stagingDir, name), { force: true });
      }
      for await (const { name, writtenAt } of place.list()) if (writtenAt + ttlMs <= time) await place.remove(name);
    },
  };
}

/** Files below `dir`, private (0600, folders 0700), flushed to the disk before a key is given out. */
export function createBlobStore({ dir, ...o }: BlobStoreOptions & { readonly dir: string }): BlobStore {
  const pathOf = (name: string) => join(dir, name);
  // A sweep goes by the clock of the store, not of the disk.
  const setTime = (name: string, ms: number) => utimes(pathOf(name), ms / 1000, ms / 1000);
  const place: BlobPlace = {
    async put(name, { path, createdAt }) {
      await flushFile(path);
      await mkdir(dirname(pathOf(name)), { recursive: true, mode: 0o700 });
      await renameFile(path, pathOf(name));
      await setTime(name, createdAt);
      await flushFolder(dirname(pathOf(name)));
    },
    async putText(name, text, createdAt) {
      const keys = dirname(pathOf(name));
      await onDisk(() => replaceFile(pathOf(name), text));
      await setTime(name, createdAt);
      for (const folder of [keys, dirname(keys), dir]) await flushFolder(folder);
    },
    getText: (name) => readFile(pathOf(name), "utf8").catch(noneIfMissing),
    findSize: async (name) => (await stat(pathOf(name)).catch(() => undefined))?.size,
    open: (name) => createReadStream(pathOf(name)),
    async *list() {
      for (const account of await listOrNone(dir)) {
        if (account === STAGING) continue;
        for (const kind of await listOrNone(pathOf(account))) {
          for (const entry of await listOrNone(pathOf(`${account}/${kind}`))) {
            const name = `${account}/${kind}/${entry}`;
            const writtenAt = await findTime(pathOf(name));
            if (writtenAt !== undefined) yield { name, writtenAt };
          }
        }
      }
    },
    remove: (name) => rm(pathOf(name), { force: true }),
  };
  return createStoreAt(place, pathOf(STAGING), o);
}

function refuseSize(name: string, maxBytes: number): ServiceError {
  const message = `"${name}" is larger than ${maxBytes} bytes.`;
  return new ServiceError(400, "file_too_large", message, { type: "validation" });
}

function noneIfMissing(error: unknown): undefined {
  if (!hasCode(error, "ENOENT") && !hasCode(error, "ENOTDIR")) throw error;
}

/** Names in a folder; none when it does not exist. */
async function listOrNone(path: string): Promise<readonly string[]> {
  return (await readdir(path).catch(noneIfMissing)) ?? [];
}

/** When a file was last written, in milliseconds since the epoch; undefined when it does not exist. */
async function findTime(path: string): Promise<number | undefined> {
  return (await stat(path).catch(() => undefined))?.mtimeMs;
}
