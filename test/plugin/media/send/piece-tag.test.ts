import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { PIECE_BYTES, tagPiece } from "../../../../src/plugin/media/open/open-media-file.ts";

test("equal bytes have equal tags, and one other bit makes another", () => {
  const bytes = randomBytes(PIECE_BYTES);
  const tag = tagPiece(bytes);
  expect(tag).toMatch(/^[0-9a-f]{32}$/);
  expect(tagPiece(Buffer.from(bytes))).toBe(tag);
  for (const at of [0, 1, 15, 16, PIECE_BYTES / 2, PIECE_BYTES - 1]) {
    const other = Buffer.from(bytes);
    other[at] = (other[at] ?? 0) ^ 1;
    expect(tagPiece(other)).not.toBe(tag);
  }
});

test("a zero byte more or less makes another tag", () => {
  const tags = [0, 1, 15, 16, 17, 32].map((length) => tagPiece(Buffer.alloc(length)));
  expect(new Set(tags).size).toBe(tags.length);
});

test("every process has a key of its own, so that nobody knows a tag before", () => {
  const module = JSON.stringify(new URL("../../../../src/plugin/media/open/open-media-file.ts", import.meta.url).href);
  const script = `import { tagPiece } from ${module}; console.log(tagPiece(Buffer.from("equal")));`;
  const tags = [1, 2].map(() =>
    spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" }),
  );
  expect(tags.map(({ stderr }) => stderr)).toEqual(["", ""]);
  expect(new Set([...tags.map(({ stdout }) => stdout.trim()), tagPiece(Buffer.from("equal"))]).size).toBe(3);
});
