import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from "node:crypto";
import { access, type FileHandle, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { flushHandle, linkFile, renameFile } from "../../shared/base/disk.ts";
import { hasCode } from "../../shared/base/error-code.ts";
import { withWriteLock } from "../../shared/base/write-lock.ts";
import { isSvcError, SvcError } from "../../shared/errors.ts";
import type { Store } from "../store/open-store.ts";

/** Bytes of the key of a {@link SecretBox}. */
export const SECRET_KEY_BYTES = 32;

const ALGORITHM = "aes-256-gcm";
const VERSION = "v1";
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts single values for the store. */
export type SecretBox = ReturnType<typeof createSecretBox>;

/** AES-256-GCM with a fresh nonce per value; sealed form `v1.<nonce, tag and bytes as base64url>`. */
export function createSecretBox(key: Buffer) {
  return {
    /** `place` says where the value is kept; it opens only there, so that rows cannot be exchanged. */
    seal(value: string, place: string): string {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv(ALGORITHM, key, iv, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(place));
      const bytes = Buffer.concat([cipher.update(value, "utf8"), cipher.final()]);
      return `${VERSION}.${Buffer.concat([iv, cipher.getAuthTag(), bytes]).toString("base64url")}`;
    },
    /** Undefined when it was sealed with another key, for another place, or was changed. */
    open(sealed: string, place: string): string | undefined {
      const [version, text = ""] = sealed.split(".");
      const bytes = Buffer.from(text, "base64url");
      if (version !== VERSION || bytes.length < IV_BYTES + TAG_BYTES) return undefined;
      const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
        .setAAD(Buffer.from(place))
        .setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
      try {
        const start = decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES));
        return Buffer.concat([start, decipher.final()]).toString("utf8");
      } catch {
        return undefined;
      }
    },
  };
}

/** Name of the key file in a data folder. */
export const KEY_FILE = "connection-secrets.key";
/** Fixed on purpose: the same text must give the same key on every machine that shares a database. */
const SALT = "svc connection secrets, version 1";
const SCRYPT_COST = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };

interface KeyPlace {
  readonly dataDir: string;
  /** See `secretKey` of the service's options. */
  readonly secretKey?: string | undefined;
  /** False when the store holds no encrypted value: a damaged key file is then replaced (interrupted first start). */
  readonly isInUse: () => Promise<boolean>;
}

/**
 * The key that encrypts secrets of connections.
 *
 * With `secretKey` it is derived from that text and nothing is written. Without, it is made on first use and kept
 * beside the database with mode 0600: that protects a copy of the database alone (a backup, a support file), not
 * against somebody who can read the whole data folder.
 *
 * @throws SvcError `invalid_config` when the key file is open to other users, or damaged while it is in use: every
 *   stored secret would be lost with it; or when it cannot be written.
 */
export async function readSecretKey({ dataDir, secretKey, isInUse }: KeyPlace): Promise<Buffer> {
  if (secretKey !== undefined) return scryptSync(secretKey, SALT, SECRET_KEY_BYTES, SCRYPT_COST);
  const path = join(dataDir, KEY_FILE);
  const kept = await readKeyFile(path);
  if (kept instanceof Buffer) return kept;
  if (kept === "damaged") {
    if (await isInUse()) {
      const hint = `Copy ${KEY_FILE} from a backup of the data folder, then start again. Without a backup the stored secrets are lost: then delete the file, start, and reconnect the apps that need one.`;
      throw refuse(path, "is empty or damaged, and stored secrets were encrypted with it", hint);
    }
    await rm(path);
  }
  return createKeyFile(path);
}

/** The file is there whole or not at all; of two processes that make it, the first wins. */
async function createKeyFile(path: string): Promise<Buffer> {
  const draft = `${path}.${randomBytes(6).toString("hex")}`;
  const key = randomBytes(SECRET_KEY_BYTES);
  try {
    const file = await open(draft, "wx", 0o600);
    try {
      await file.writeFile(`${key.toString("base64url")}\n`);
      await flushHandle(file);
      if (await isOpenToOthers(file)) throw refuse(path, "cannot be kept private", NO_MODES);
    } finally {
      await file.close();
    }
    if (!(await linkFile(draft, path))) await nameFirst(draft, path);
    return key;
  } catch (cause) {
    if (isSvcError(cause)) throw cause;
    const made = await readKeyFile(path).catch(() => undefined);
    if (made instanceof Buffer) return made;
    const isFull = hasCode(cause, "ENOSPC");
    const hint = isFull ? "The disk is full: free space, then start again." : "Check that its folder can be written.";
    throw refuse(path, "cannot be written", hint, cause);
  } finally {
    await rm(draft, { force: true });
  }
}

const NO_MODES = "Its disk knows no modes of files. Choose a data folder on another disk, or set SVC_SECRET.";

/** For a disk without hard links. */
async function nameFirst(draft: string, path: string): Promise<void> {
  await withWriteLock(`${path}.lock`, async () => {
    const isThere = await access(path).then(
      () => true,
      () => false,
    );
    if (isThere) throw new Error("Another process made it first.");
    await renameFile(draft, path);
  });
}

async function isOpenToOthers(file: FileHandle): Promise<boolean> {
  return process.platform !== "win32" && ((await file.stat()).mode & 0o077) !== 0;
}

async function readKeyFile(path: string): Promise<Buffer | "missing" | "damaged"> {
  let file: FileHandle;
  try {
    file = await open(path, "r");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return "missing";
    throw error;
  }
  try {
    if (await isOpenToOthers(file))
      throw refuse(path, "is open to other users of this machine", `Run: chmod 600 ${path}`);
    const text = (await file.readFile("utf8")).trim();
    const key = Buffer.from(text, "base64url");
    return key.length === SECRET_KEY_BYTES && key.toString("base64url") === text ? key : "damaged";
  } finally {
    await file.close();
  }
}

function refuse(path: string, reason: string, hint: string, cause?: unknown): SvcError {
  return new SvcError("invalid_config", `The key file ${path} ${reason}; it was not used.`, {
    field: "dataDir",
    hint,
    cause,
  });
}

/** True when anything in the store was encrypted with the key of the service. */
export async function hasSealed(store: Store): Promise<boolean> {
  const connections = store.selectFrom("connections").select("id").where("settings", "like", '%"sealed"%');
  if ((await connections.limit(1).execute()).length > 0) return true;
  const triggers = store.selectFrom("triggers").select("id").where("secrets", "is not", null);
  if ((await triggers.limit(1).execute()).length > 0) return true;
  for (const table of [
    "service_keys",
    "sign_ins",
    "provider_clients",
    "provider_sign_ins",
    "approvals",
    "kept_writes",
  ] as const) {
    const rows = await store
      .selectFrom(table)
      .select((e) => e.lit(1).as("one"))
      .limit(1)
      .execute();
    if (rows.length > 0) return true;
  }
  return false;
}
