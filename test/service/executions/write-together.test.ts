import { expect, test } from "vitest";
import { createTogetherWriter } from "../../../src/service/executions/write-together.ts";

test("what comes while a write is under way is written together after it", async () => {
  const batches: (readonly number[])[] = [];
  const gate = Promise.withResolvers<void>();
  const write = createTogetherWriter<number>(async (items) => {
    batches.push(items);
    if (batches.length === 1) await gate.promise;
  });
  const first = write(1);
  await expect.poll(() => batches).toEqual([[1]]);
  const later = [write(2), write(3), write(4)];
  gate.resolve();
  await Promise.all([first, ...later]);
  expect(batches).toEqual([[1], [2, 3, 4]]);
  await write(5);
  expect(batches.at(-1)).toEqual([5]);
});

test("one item that cannot be written fails alone", async () => {
  const written: number[] = [];
  const write = createTogetherWriter<number>(async (items) => {
    if (items.includes(2)) throw new Error("two");
    written.push(...items);
  });
  const results = await Promise.allSettled([1, 2, 3].map(write));
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(written).toEqual([1, 3]);
});
