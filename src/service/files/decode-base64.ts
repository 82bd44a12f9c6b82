/** Characters that are decoded at a time. */
export const STEP_CHARS = 64 * 1024;

const ALPHABET = Buffer.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");

/** The characters of one step, at an even address and as pairs. */
const text = new Uint8Array(STEP_CHARS);
const pairs = new Uint16Array(text.buffer);
/** The twelve bits of two characters, by the number that this machine reads them as; -1 for all other pairs. */
const bits = new Int16Array(2 ** 16).fill(-1);
for (const [high, first] of ALPHABET.entries()) {
  for (const [low, second] of ALPHABET.entries()) {
    text.set([first, second]);
    bits[pairs[0] ?? 0] = (high << 6) | low;
  }
}

/**
 * Decodes up to 64 KiB of base64, whole quartets without padding, and writes three bytes for each into `into`.
 *
 * Node decodes only strings, in a fourth of the time; but the strings of a large body, one and a third of its size, fill
 * the engine's young generation, 32 MB that a service keeps from then on.
 *
 * @returns false for any character that is not of the alphabet
 */
export function decodeQuartets(chars: Uint8Array, into: Uint8Array): boolean {
  text.set(chars);
  let all = 0;
  let to = 0;
  for (let at = 0; at < chars.length / 2; at += 2) {
    const first = bits[pairs[at] ?? 0] ?? -1;
    const second = bits[pairs[at + 1] ?? 0] ?? -1;
    all |= first | second;
    into[to] = first >> 4;
    into[to + 1] = (first << 4) | (second >> 8);
    into[to + 2] = second;
    to += 3;
  }
  return all >= 0;
}
