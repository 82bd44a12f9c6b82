import { createReadStream } from "node:fs";
import { mkdir, readFile, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { flush, listOrNone, removeOlder, toFolderName } from "./blob-folders.ts";
import { createGate, type Gate } from "./gate.ts";
import { createStagedFile, type StagedFile } from "./staged-file.ts";
import {
  type BlobLabel,
  DEFAULT_TTL_MS,
  describeFile,
  fillStaged,
  LEFTOVER_AGE_MS,
  MAX_LARGE_BODIES,
  parseStoredFile,
  readKeyId,
  type StoredFile,
} from "./stored-file.ts";

export type { StoredFile };

/** Ends the name of bytes that no key named when they were last looked at. */
const RETIRED = ".old";

/** Files the service holds for its accounts, for a limited time. */
export interface BlobStore {
  /** Admits at most four large bodies at a time. */
  readonly largeBodies: Gate;
  /** Starts a temporary file that {@link BlobStore.adopt} can take over without copying. */
  stage(): Promise<StagedFile>;
  /** Makes a staged file durable and gives it a storage key. The staged file is consumed, also on failure. */
  adopt(account: string, label: BlobLabel, staged: StagedFile): Promise<StoredFile>;
  /** Stores a stream. Throws ServiceError 400 `file_too_large` above `limits.maxBytes`; nothing is kept then. */
  receive(
    account: string,
    label: BlobLabel,
    bytes: AsyncIterable<Uint8Array>,
    limits: { readonly maxBytes: number },
  ): Promise<StoredFile>;
  /** The file behind a key; undefined for unknown, expired and other accounts' keys alike. */
  get(account: string, s3key: string): Promise<StoredFile | undefined>;
  /** Opens the bytes of a file that {@link BlobStore.get} returned. */
  open(file: StoredFile): Readable;
  /** Removes expired files, bytes no key names any more and leftovers of interrupted requests. */
  sweep(): Promise<void>;
}

class FolderBlobStore implements BlobStore {
  readonly largeBodies = createGate(MAX_LARGE_BODIES);
  readonly #dir: string;
  readonly #now: () => number;
  readonly #ttlMs: number;
  /** Adoption and sweeping take turns, so that a sweep never removes bytes a new key is about to name. */
  readonly #turn = createGate(1);

  constructor(dir: string, now: () => number, ttlMs: number) {
    this.#dir = dir;
    this.#now = now;
    this.#ttlMs = ttlMs;
  }

  #tmp(): string {
    return join(this.#dir, ".tmp");
  }

  #blob(account: string, sha256: string): string {
    return join(this.#dir, toFolderName(account), sha256.slice(0, 2), sha256);
  }

  #keys(account: string): string {
    return join(this.#dir, toFolderName(account), "keys");
  }

  stage(): Promise<StagedFile> {
    return createStagedFile(this.#tmp());
  }

  async adopt(account: string, label: BlobLabel, staged: StagedFile): Promise<StoredFile> {
    const leave = await this.#turn.enter();
    try {
      const digests = await staged.seal();
      await flush(staged.path);
      const { id, file } = describeFile(account, label, { ...digests, createdAt: this.#now() });
      const blob = this.#blob(account, digests.sha256);
      const folder = join(blob, "..");
      await mkdir(folder, { recursive: true, mode: 0o700 });
      // Also when the bytes are already there: the fresh copy has a fresh time and is known to be whole.
      await rename(staged.path, blob);
      await flush(folder);
      await this.#writeKey(account, id, file);
      return file;
    } finally {
      leave();
      await staged.discard();
    }
  }

  async #writeKey(account: string, id: string, file: StoredFile): Promise<void> {
    const staged = await this.stage();
    try {
      await staged.write(Buffer.from(JSON.stringify(file)));
      await staged.seal();
      await flush(staged.path);
      await mkdir(this.#keys(account), { recursive: true, mode: 0o700 });
      await rename(staged.path, join(this.#keys(account), `${id}.json`));
      for (const folder of [this.#keys(account), join(this.#dir, toFolderName(account)), this.#dir])
        await flush(folder);
    } finally {
      await staged.discard();
    }
  }

  async receive(
    account: string,
    label: BlobLabel,
    bytes: AsyncIterable<Uint8Array>,
    limits: { readonly maxBytes: number },
  ): Promise<StoredFile> {
    const staged = await this.stage();
    try {
      await fillStaged(staged, bytes, { name: label.name, ...limits });
      return await this.adopt(account, label, staged);
    } finally {
      await staged.discard();
    }
  }

  async get(account: string, s3key: string): Promise<StoredFile | undefined> {
    const id = readKeyId(account, s3key);
    if (id === undefined) return undefined;
    const file = await this.#readKey(join(this.#keys(account), `${id}.json`));
    if (file === undefined || file.s3key !== s3key || file.account !== account) return undefined;
    if (file.createdAt + this.#ttlMs <= this.#now()) return undefined;
    return (await this.#findSize(this.#blob(account, file.sha256))) === file.size ? file : undefined;
  }

  /** Size of bytes, also when a sweep of another process took them away while a key to them was being made. */
  async #findSize(blob: string): Promise<number | undefined> {
    const found = await stat(blob).catch(() => undefined);
    if (found !== undefined) return found.size;
    const back = await rename(`${blob}${RETIRED}`, blob).then(
      () => stat(blob),
      () => undefined,
    );
    return back?.size;
  }

  async #readKey(path: string): Promise<StoredFile | undefined> {
    const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw error;
    });
    return text === undefined ? undefined : parseStoredFile(text);
  }

  open(file: StoredFile): Readable {
    return createReadStream(this.#blob(file.account, file.sha256));
  }

  async sweep(): Promise<void> {
    const leave = await this.#turn.enter();
    try {
      const oldest = Date.now() - LEFTOVER_AGE_MS;
      for (const name of await listOrNone(this.#tmp())) await removeOlder(join(this.#tmp(), name), oldest);
      for (const folder of await listOrNone(this.#dir))
        if (folder !== ".tmp") await this.#sweepAccount(join(this.#dir, folder), oldest);
    } finally {
      leave();
    }
  }

  async #sweepAccount(folder: string, oldest: number): Promise<void> {
    const named = new Set<string>();
    for (const name of await listOrNone(join(folder, "keys"))) {
      const path = join(folder, "keys", name);
      const file = await this.#readKey(path);
      if (file === undefined || file.createdAt + this.#ttlMs <= this.#now()) await rm(path, { force: true });
      else named.add(file.sha256);
    }
    for (const shard of await listOrNone(folder)) {
      if (shard.length !== 2) continue;
      for (const name of await listOrNone(join(folder, shard))) {
        const sha256 = name.replace(RETIRED, "");
        if (name !== sha256 && named.has(sha256)) await this.#findSize(join(folder, shard, sha256));
        if (name !== sha256 || !named.has(sha256)) await retire(join(folder, shard, name), oldest);
      }
    }
  }
}

/**
 * Takes bytes away that no key names: first their name, an hour or more later the bytes themselves. A process that gave
 * them a key between the look at the keys and now has not lost them then.
 */
async function retire(path: string, oldest: number): Promise<void> {
  if (path.endsWith(RETIRED)) return removeOlder(path, oldest);
  const entry = await stat(path).catch(() => undefined);
  if (entry === undefined || entry.mtimeMs >= oldest) return;
  const now = new Date();
  await utimes(path, now, now).catch(() => {});
  await rename(path, `${path}${RETIRED}`).catch(() => {});
}

/**
 * Content-addressed store below `dir`: `<account>/<sha256[0:2]>/<sha256>` holds the bytes (0600, temporary file + fsync +
 * rename + fsync of the folder), `<account>/keys/<id>.json` what a storage key means. Keys are valid for `ttlMs` (default
 * 7 days). Several processes may share the folder, also over a network, where renaming is atomic and a file that was
 * closed is seen whole by whoever opens it then.
 */
export function createBlobStore(options: {
  readonly dir: string;
  readonly now: () => number;
  readonly ttlMs?: number;
}): BlobStore {
  return new FolderBlobStore(options.dir, options.now, options.ttlMs ?? DEFAULT_TTL_MS);
}
