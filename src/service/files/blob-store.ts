import { randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { z } from "zod";
import { ServiceError } from "../service-error.ts";
import { flush, listOrNone, removeOlder, toFolderName } from "./blob-folders.ts";
import { sanitiseFileName } from "./file-name.ts";
import { createGate, type Gate } from "./gate.ts";
import { createStagedFile, type StagedFile } from "./staged-file.ts";

const DEFAULT_TTL_MS = 7 * 24 * 60 * 60 * 1000;
/** Younger leftovers may belong to a request that is still running. */
const LEFTOVER_AGE_MS = 60 * 60 * 1000;
const MAX_LARGE_BODIES = 4;
const KEY_ID = /^[A-Za-z0-9_-]{32}$/;

/** One file of one account. `s3key` is the opaque storage key callers pass around. */
export interface StoredFile {
  readonly s3key: string;
  readonly account: string;
  readonly name: string;
  readonly mimetype: string;
  readonly size: number;
  readonly md5: string;
  readonly sha256: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/** Name and type of bytes that enter the store; `tool` only colours the storage key. */
interface BlobLabel {
  readonly name: string;
  readonly mimetype: string;
  readonly tool?: string;
}

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

const metadataSchema = z.object({
  s3key: z.string(),
  account: z.string(),
  name: z.string(),
  mimetype: z.string(),
  size: z.int(),
  md5: z.string(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  createdAt: z.number(),
});

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
      const id = randomBytes(24).toString("base64url");
      const tool = (label.tool ?? "upload").replace(/[^A-Za-z0-9_-]/g, "_");
      const file: StoredFile = {
        s3key: `${toFolderName(account)}/${tool}/request/${id}`,
        account,
        name: sanitiseFileName(label.name),
        mimetype: label.mimetype,
        ...digests,
        createdAt: this.#now(),
      };
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
      for await (const chunk of bytes) {
        if (staged.size + chunk.length > limits.maxBytes)
          throw new ServiceError(400, "file_too_large", `"${label.name}" is larger than ${limits.maxBytes} bytes.`, {
            type: "validation",
          });
        await staged.write(chunk);
      }
      return await this.adopt(account, label, staged);
    } finally {
      await staged.discard();
    }
  }

  async get(account: string, s3key: string): Promise<StoredFile | undefined> {
    const parts = s3key.split("/");
    const id = parts[3];
    if (parts.length !== 4 || parts[0] !== toFolderName(account) || id === undefined || !KEY_ID.test(id))
      return undefined;
    const file = await this.#readKey(join(this.#keys(account), `${id}.json`));
    if (file === undefined || file.s3key !== s3key || file.account !== account) return undefined;
    if (file.createdAt + this.#ttlMs <= this.#now()) return undefined;
    const bytes = await stat(this.#blob(account, file.sha256)).catch(() => undefined);
    return bytes?.size === file.size ? file : undefined;
  }

  async #readKey(path: string): Promise<StoredFile | undefined> {
    const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw error;
    });
    if (text === undefined) return undefined;
    try {
      return metadataSchema.parse(JSON.parse(text));
    } catch {
      return undefined;
    }
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
      for (const name of await listOrNone(join(folder, shard)))
        if (!named.has(name)) await removeOlder(join(folder, shard, name), oldest);
    }
  }
}

/**
 * Content-addressed store below `dir`: `<account>/<sha256[0:2]>/<sha256>` holds the bytes (0600, temporary file + fsync +
 * rename + fsync of the folder), `<account>/keys/<id>.json` what a storage key means. Keys end in 192 random bits and are
 * valid for `ttlMs` (default 7 days).
 */
export function createBlobStore(options: {
  readonly dir: string;
  readonly now: () => number;
  readonly ttlMs?: number;
}): BlobStore {
  return new FolderBlobStore(options.dir, options.now, options.ttlMs ?? DEFAULT_TTL_MS);
}
