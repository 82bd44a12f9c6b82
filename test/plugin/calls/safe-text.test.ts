import { expect, test } from "vitest";
import { cleanLines } from "../../../src/plugin/calls/outcome.ts";

test("of a million lines eight are looked at, and the others are counted", () => {
  const seen: string[] = [];
  const hide = (line: string) => {
    seen.push(line);
    return line.replace("secret", "[hidden]");
  };
  const lines = cleanLines(Array<string>(1_000_000).fill("a secret"), hide);
  expect(lines).toEqual([...Array<string>(8).fill("a [hidden]"), "999992 more lines"]);
  expect(seen).toHaveLength(8);
});
