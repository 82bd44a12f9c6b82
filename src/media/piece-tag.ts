import { createCipheriv, randomBytes } from "node:crypto";

/** Known to this process alone, and gone with it. */
const KEY = randomBytes(32);
const NONCE = randomBytes(12);

/**
 * What a part of a file is recognized by later in the same process: its AES-GMAC (GCM that only authenticates, NIST SP
 * 800-38D), 32 hex digits. Five times as fast as SHA-256, and nobody can make other bytes with the same tag who does
 * not know the key. Tags never leave the process, so that one nonce serves for all of them: what an approval names and
 * a journal keeps is a file's SHA-256.
 */
export function tagPiece(bytes: Uint8Array): string {
  const gmac = createCipheriv("aes-256-gcm", KEY, NONCE);
  gmac.setAAD(bytes);
  gmac.final();
  return gmac.getAuthTag().toString("hex");
}
