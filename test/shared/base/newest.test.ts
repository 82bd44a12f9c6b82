import { expect, test } from "vitest";
import { createShelf } from "../../../src/shared/base/newest.ts";

test("a shelf keeps no more than its size, keys included, and drops what was used longest ago", async () => {
  const keep = createShelf<string>(12, ({ length }) => length);
  const made: string[] = [];
  const ask = (key: string) =>
    keep(key, async () => {
      made.push(key);
      return "12345";
    });
  for (const key of ["a", "b", "a", "c", "a", "b"]) await ask(key);
  expect(made).toEqual(["a", "b", "c", "b"]);
});

test("a value that alone is too large is given and not kept", async () => {
  const keep = createShelf<string>(3, ({ length }) => length);
  expect(await keep("a", async () => "12345")).toBe("12345");
  expect(await keep("a", async () => "other")).toBe("other");
});

test("a shelf counts a value once that two callers made at the same time, and no failure", async () => {
  const keep = createShelf<string>(12, ({ length }) => length);
  const make = async () => "12345";
  await Promise.all([keep("a", make), keep("a", make)]);
  await expect(keep("b", async () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  await keep("b", make);
  expect(await keep("a", async () => "again")).toBe("12345");
});
