import { hash } from "node:crypto";

/** Bytes of a digest. */
export const DIGEST_BYTES = 8;

/** Makes the digest of a form that only holders of the key can make. */
export type Digest = (form: string) => Uint8Array;

/** Creates the digests of one key, which is a secret text of a fixed length. */
export function createDigest(key: string): Digest {
  // Its beginning alone is kept, so that nobody can go on from a digest to that of a longer form.
  return (form) => hash("sha256", `${key} ${form}`, "buffer").subarray(0, DIGEST_BYTES);
}

/** Digests one after another. */
export function packDigests(digests: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(digests, digests.length * DIGEST_BYTES);
}

/** Finds numbers by digests, in 24 bytes of memory for each; the first number of a digest stays. */
export interface DigestTable {
  readonly size: number;
  /** False where it is there already. `at`: the place of the digest in `bytes`. */
  add(bytes: Uint8Array, at: number, value: number): boolean;
  find(bytes: Uint8Array, at?: number): number | undefined;
}

const FIRST_SLOTS = 1024;

/** Creates an empty table. */
export function createDigestTable(): DigestTable {
  let slots = FIRST_SLOTS;
  let halves = new Uint32Array(2 * slots);
  // 0: free; else the number and one.
  let values = new Uint32Array(slots);
  let size = 0;

  /** The slot with this digest, or the free one for it. */
  function findSlot(low: number, high: number): number {
    for (let slot = low & (slots - 1); ; slot = (slot + 1) & (slots - 1)) {
      if (values[slot] === 0) return slot;
      if (halves[2 * slot] === low && halves[2 * slot + 1] === high) return slot;
    }
  }

  function set(low: number, high: number, value: number): void {
    const slot = findSlot(low, high);
    halves[2 * slot] = low;
    halves[2 * slot + 1] = high;
    values[slot] = value;
  }

  function grow(): void {
    const [oldHalves, oldValues] = [halves, values];
    slots *= 2;
    halves = new Uint32Array(2 * slots);
    values = new Uint32Array(slots);
    for (const [slot, value] of oldValues.entries()) {
      if (value !== 0) set(oldHalves[2 * slot] ?? 0, oldHalves[2 * slot + 1] ?? 0, value);
    }
  }

  return {
    get size() {
      return size;
    },
    add(bytes, at, value) {
      const [low, high] = readHalves(bytes, at);
      if (values[findSlot(low, high)] !== 0) return false;
      set(low, high, value + 1);
      size += 1;
      if (size * 2 > slots) grow();
      return true;
    },
    find(bytes, at = 0) {
      const found = values[findSlot(...readHalves(bytes, at))] ?? 0;
      return found === 0 ? undefined : found - 1;
    },
  };
}

function readHalves(bytes: Uint8Array, at: number): [low: number, high: number] {
  const read = (place: number) =>
    ((bytes[place] ?? 0) |
      ((bytes[place + 1] ?? 0) << 8) |
      ((bytes[place + 2] ?? 0) << 16) |
      ((bytes[place + 3] ?? 0) << 24)) >>>
    0;
  return [read(at), read(at + 4)];
}
