import { expect, it } from "vitest";
import { lendPieces } from "../../../src/service/files/lend-pieces.ts";

async function* give(...pieces: Uint8Array[]) {
  yield* pieces;
}

it("gives the memory of a piece back when the next one is asked for", async () => {
  const given = [Buffer.alloc(100_000, "a"), Buffer.alloc(100_000, "b")];
  const seen: string[] = [];
  for await (const piece of lendPieces(give(...given)))
    seen.push(`${Buffer.from(piece).toString("latin1", 0, 2)} ${given.map(({ length }) => length)}`);
  expect(seen).toEqual(["aa 100000,100000", "bb 0,100000"]);
  expect(given.map(({ length }) => length)).toEqual([0, 0]);
});

it("leaves a piece alone that is a part of somebody else's memory", async () => {
  const memory = Buffer.alloc(100, "x");
  for await (const piece of lendPieces(give(memory.subarray(0, 50)))) expect(piece).toHaveLength(50);
  expect(memory.toString()).toBe("x".repeat(100));
});
