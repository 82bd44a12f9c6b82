import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { readJsonLines } from "../../../../src/service/sources/piece/child/read-json-lines.ts";

async function read(...parts: (string | Buffer)[]): Promise<unknown[]> {
  const stream = new PassThrough();
  const taken: unknown[] = [];
  readJsonLines(stream, (value) => taken.push(value));
  const closed = new Promise((resolve) => stream.once("close", resolve));
  for (const part of parts) stream.write(part);
  stream.end();
  await closed;
  return taken;
}

test("lines come in any parts, and hold separators of other kinds", async () => {
  const text = Buffer.from(`${JSON.stringify({ a: "é\u2028\u2029\r" })}\n[1]\n`);
  expect(await read(text.subarray(0, 7), text.subarray(7, 8), text.subarray(8))).toEqual([
    { a: "é\u2028\u2029\r" },
    [1],
  ]);
});

test("what is no JSON, or too long, ends it", async () => {
  expect(await read("[1]\nnot this\n[2]\n")).toEqual([[1], undefined]);
  expect(await read(Buffer.alloc(65 * 1024 * 1024, "x"))).toEqual([undefined]);
});
