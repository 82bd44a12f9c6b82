import { randomBytes, scryptSync } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { SvcError } from "../../errors.ts";
import { SECRET_KEY_BYTES } from "./secret-box.ts";

const KEY_FILE = "connection-secrets.key";
/** Fixed on purpose: the same text must give the same key on every machine that shares a database. */
const SALT = "svc connection secrets, version 1";
const SCRYPT_COST = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };

/**
 * The key that encrypts secrets of connections.
 *
 * With `secretKey` it is derived from that text and nothing is written. Without, it is made on first use and kept
 * beside the database with mode 0600: that protects a copy of the database alone (a backup, a support file), not
 * against somebody who can read the whole data folder.
 *
 * @throws SvcError `invalid_config` when the key file is damaged or open to other users; it is never replaced, because
 *   every stored secret would be lost with it.
 */
export async function readSecretKey(dataDir: string, secretKey: string | undefined): Promise<Buffer> {
  if (secretKey !== undefined) return scryptSync(secretKey, SALT, SECRET_KEY_BYTES, SCRYPT_COST);
  const path = join(dataDir, KEY_FILE);
  return (await createKeyFile(path)) ?? (await readKeyFile(path));
}

/** Undefined when there is one already. */
async function createKeyFile(path: string): Promise<Buffer | undefined> {
  let file: FileHandle;
  try {
    file = await open(path, "wx", 0o600);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return undefined;
    throw error;
  }
  try {
    const key = randomBytes(SECRET_KEY_BYTES);
    await file.writeFile(`${key.toString("base64url")}\n`);
    await file.sync();
    return key;
  } finally {
    await file.close();
  }
}

async function readKeyFile(path: string): Promise<Buffer> {
  const file = await open(path, "r");
  try {
    const { mode } = await file.stat();
    if (process.platform !== "win32" && (mode & 0o077) !== 0) {
      throw refuse(path, "is open to other users of this machine", `Run: chmod 600 ${path}`);
    }
    const text = (await file.readFile("utf8")).trim();
    const key = Buffer.from(text, "base64url");
    if (key.length === SECRET_KEY_BYTES && key.toString("base64url") === text) return key;
    throw refuse(
      path,
      "is damaged",
      "Restore it from a backup. Without it the stored secrets are lost: then delete it and reconnect the apps that need one.",
    );
  } finally {
    await file.close();
  }
}

function refuse(path: string, reason: string, hint: string): SvcError {
  return new SvcError("invalid_config", `The key file ${path} ${reason}; it was not used.`, { field: "dataDir", hint });
}
