import { expect, it } from "vitest";
import { decodeQuartets, STEP_CHARS } from "../../../src/service/files/decode-base64.ts";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

it("decodes as Node does, a whole step and the shortest text", () => {
  const bytes = Buffer.from(Array.from({ length: (STEP_CHARS / 4) * 3 }, (_, at) => (at * 7919 + (at >> 8)) & 255));
  for (const part of [bytes, bytes.subarray(0, 3), bytes.subarray(1, 3001)]) {
    const into = new Uint8Array(part.length);
    expect(decodeQuartets(Buffer.from(part.toString("base64")), into)).toBe(true);
    expect(Buffer.from(into).equals(part)).toBe(true);
  }
});

it("takes the 64 characters of the alphabet and no other byte, wherever it stands", () => {
  for (let place = 0; place < 4; place += 1) {
    for (let byte = 0; byte < 256; byte += 1) {
      const chars = Buffer.from("QUJDQUJD");
      chars[4 + place] = byte;
      const isInAlphabet = ALPHABET.includes(String.fromCharCode(byte));
      expect([place, byte, decodeQuartets(chars, new Uint8Array(6))]).toEqual([place, byte, isInAlphabet]);
    }
  }
});

it("keeps nothing of a longer text before", () => {
  expect(decodeQuartets(Buffer.from("!!!!!!!!"), new Uint8Array(6))).toBe(false);
  expect(decodeQuartets(Buffer.from("QUJD"), new Uint8Array(3))).toBe(true);
});
