import { sha256Hex } from "../../base/hash.ts";

const HASH_CHARS = 6;

/**
 * Makes the id of an action from the name its origin gives it: letters, digits, `_` and `-`, at most `max` characters.
 * A name that has to be cut ends in a hash of the whole, so that two names stay two.
 */
export function toActionId(name: string, max: number): string {
  const plain = toPlainName(name);
  return plain.length <= max ? plain : addHash(plain, name, max);
}

/** The same for a name whose plain id another one has, or may have: always with the hash. */
export function toDistinctId(name: string, max: number): string {
  return addHash(toPlainName(name), name, max);
}

function toPlainName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]+/g, "_").replaceAll(/^_+|_+$/g, "") || "action";
}

function addHash(plain: string, name: string, max: number): string {
  const hash = sha256Hex(name).slice(0, HASH_CHARS);
  return `${plain.slice(0, max - HASH_CHARS - 1)}_${hash}`;
}
