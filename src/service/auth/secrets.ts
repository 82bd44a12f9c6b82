import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { sha256Hex } from "../../base/hash.ts";

/** 32 random bytes as base64url: tokens, verifiers, keys and sessions. Too long to guess, so no slow hash is needed. */
export function createSecret(): string {
  return randomBytes(32).toString("base64url");
}

/** SHA-256 in hex, the only form in which a secret is stored. */
export function hashSecret(secret: string): string {
  return sha256Hex(secret);
}

/** Compares two hex hashes without telling by time where they differ. */
export function isSameHash(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}

/** A value only the holder of `secret` can derive, for the named purpose. */
export function deriveToken(secret: string, purpose: string): string {
  return createHmac("sha256", secret).update(purpose).digest("base64url");
}

const ID_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789";

/** An opaque id such as `con_k3m9x2p7qahd`: 12 letters, none of them easy to confuse. */
export function createId(prefix: string): string {
  return `${prefix}_${pickLetters(ID_LETTERS, 12)}`;
}

/** A code for humans to compare, e.g. `KM4P-9XWT`, without I, O, 0 and 1. */
export function createDisplayCode(): string {
  const code = pickLetters("ABCDEFGHJKLMNPQRSTUVWXYZ23456789", 8);
  return `${code.slice(0, 4)}-${code.slice(4)}`;
}

function pickLetters(letters: string, count: number): string {
  let picked = "";
  while (picked.length < count) {
    for (const byte of randomBytes(count * 2)) {
      // Bytes above the last whole multiple would make the first letters more likely.
      if (byte < 256 - (256 % letters.length) && picked.length < count) picked += letters[byte % letters.length];
    }
  }
  return picked;
}
