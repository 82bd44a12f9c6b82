import { createCipheriv, randomBytes } from "node:crypto";

/** Known to this process alone, and gone with it. */
const KEY = randomBytes(32);
const NONCE = randomBytes(12);

/**
 * What a part of a file is recognized by later in the same process: its AES-GMAC (GCM that only authenticates, NIST SP
 * 800-38D), 32 hex digits. Five times as fast as SHA-256. It says nothing of where the part stands, so that tags are
 * compared place by place.
 *
 * The standard asks for another nonce for each text, because whoever sees two tags of one nonce can work out what makes
 * up others. Nobody sees one here: who writes the file before and after, and learns only that it was refused, finds two
 * parts of 480 KiB with one tag by chance alone, 1 in 2^113 for each try. So tags must not leave the process: what an
 * approval names and a journal keeps is a file's SHA-256.
 */
export function tagPiece(bytes: Uint8Array): string {
  const gmac = createCipheriv("aes-256-gcm", KEY, NONCE);
  gmac.setAAD(bytes);
  gmac.final();
  return gmac.getAuthTag().toString("hex");
}
