import { expect, test } from "vitest";
import { exactValue, writeExactly } from "../../../../src/service/http/pages/exact-value.ts";
import { readExactly } from "./read-exactly.ts";

test.each([
  ["Milk", "Milk"],
  ["two\nlines", "two\nlines"],
  ["C:\\new", "C:\\new"],
  ["\\u202e", "\\u202e"],
  ["\u202e", '"\\u202e"'],
  ["a\u00a0b", '"a\\u00a0b"'],
  ["", '""'],
  [" Milk", '" Milk"'],
  ["7", '"7"'],
  [7, "7"],
  ["null", '"null"'],
  [null, "null"],
  ['"quoted"', '"\\"quoted\\""'],
  ["[1]", '"[1]"'],
  [[1], "[\n  1\n]"],
  [{ "a\u200b": "\u200b" }, '{\n  "a\\u200b": "\\u200b"\n}'],
])("%j is written as %j, and nothing else is", (value, text) => {
  expect(writeExactly(value)).toBe(text);
  expect(readExactly(text)).toEqual(value);
});

test("headings of Markdown are bold, and all of it stays to be read", async () => {
  const text = "# Plan\nsee [here](https://elsewhere.example)\n####### seven";
  expect(String(await exactValue(text))).toBe(
    `<span class="text"><strong># Plan</strong>\nsee [here](https://elsewhere.example)\n####### seven</span>`,
  );
});

test("a new line begins after a line break of JSON, and not after a backslash that is followed by an n", async () => {
  const shown = String(await exactValue("\u200b\nC:\\new"));
  expect(shown).toBe('<span class="text">&quot;\\u200b\\n<br>C:\\\\new&quot;</span>');
});
