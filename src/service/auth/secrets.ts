import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { sha256Hex } from "../../shared/base/hash.ts";
import { pickLetters } from "../../shared/base/ids.ts";

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

/** A code for humans to compare, e.g. `KM4P-9XWT`, without I, O, 0 and 1. */
export function createDisplayCode(): string {
  const code = pickLetters("ABCDEFGHJKLMNPQRSTUVWXYZ23456789", 8);
  return `${code.slice(0, 4)}-${code.slice(4)}`;
}
