/** Letters and digits nobody mistakes for another one, read or spoken. */
const ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ";
const LENGTH = 8;

/** A random code of 8 characters, about 39 bits. `random` gives bytes nobody can guess. */
export function createShortCode(random: (count: number) => Uint8Array = getRandomBytes): string {
  let code = "";
  while (code.length < LENGTH) {
    for (const byte of random(LENGTH)) {
      // Bytes beyond the last whole round would make some characters likelier than others.
      if (byte < 256 - (256 % ALPHABET.length) && code.length < LENGTH) code += ALPHABET[byte % ALPHABET.length];
    }
  }
  return code;
}

/** A code as somebody typed it: in any case, with or without separators. */
export function readShortCode(typed: string): string {
  return typed.toUpperCase().replaceAll(/[^A-Z0-9]/g, "");
}

/** From the global, which loads nothing before it is used. */
function getRandomBytes(count: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(count));
}
