import { randomBytes } from "node:crypto";

const ID_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789";

/** An opaque id such as `con_k3m9x2p7qahd`: 12 letters, none of them easy to confuse. */
export function createId(prefix: string): string {
  return `${prefix}_${pickLetters(ID_LETTERS, 12)}`;
}

/** So many random letters of these, each as likely as the others. */
export function pickLetters(letters: string, count: number): string {
  let picked = "";
  while (picked.length < count) {
    for (const byte of randomBytes(count * 2)) {
      // Bytes above the last whole multiple would make the first letters more likely.
      if (byte < 256 - (256 % letters.length) && picked.length < count) picked += letters[byte % letters.length];
    }
  }
  return picked;
}
