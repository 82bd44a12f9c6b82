import { randomBytes } from "node:crypto";
import { z } from "zod";
import { sha256Hex } from "../../base/hash.ts";
import { sanitiseFileName } from "./file-name.ts";
import type { FileDigests } from "./staged-file.ts";

/** How long a storage key is valid unless a store is told otherwise. */
export const DEFAULT_TTL_MS = 7 * 24 * 60 * 60 * 1000;
/** Younger leftovers may belong to a request that is still running. */
export const LEFTOVER_AGE_MS = 60 * 60 * 1000;
/** Large bodies a store admits at a time: bounds disk and CPU time taken by uploads. */
export const MAX_LARGE_BODIES = 4;

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

/** Name and type of bytes that enter a store; `tool` only colours the storage key. */
export interface BlobLabel {
  readonly name: string;
  readonly mimetype: string;
  readonly tool?: string;
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
  try {
    return metadataSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Account ids become folder names unchanged when they are plain; anything else is hashed. */
export function toFolderName(account: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(account)) return account;
  return `h-${sha256Hex(account)}`;
}
