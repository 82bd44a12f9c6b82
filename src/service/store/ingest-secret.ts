import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

const SECRET_FILE = "ingest-secret";

/** The secret that signs upload tokens: made on first use, kept with mode 0600, so that tokens survive a restart. */
export async function readIngestSecret(dataDir: string): Promise<string> {
  const file = join(dataDir, SECRET_FILE);
  const kept = await readFile(file, "utf8").catch(() => "");
  if (kept.trim().length >= 43) return kept.trim();
  const secret = randomBytes(32).toString("base64url");
  await writeFile(file, `${secret}\n`, { mode: 0o600 });
  return secret;
}
