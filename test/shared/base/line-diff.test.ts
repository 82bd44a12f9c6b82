import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { diffLines } from "../../../src/shared/base/line-diff.ts";

/** The new text that a unified diff makes of the old one; throws where the diff does not fit. */
function patch(before: readonly string[], diff: string): string[] {
  const out: string[] = [];
  let at = 0;
  for (const line of diff === "" ? [] : diff.split("\n")) {
    const hunk = /^@@ -(\d+),(\d+) \+(\d+),(\d+) @@$/.exec(line);
    if (hunk !== null) {
      const start = Number(hunk[1]) - (hunk[2] === "0" ? 0 : 1);
      while (at < start) out.push(before[at++] ?? "");
      expect(out.length).toBe(Number(hunk[3]) - (hunk[4] === "0" ? 0 : 1));
      continue;
    }
    if (line[0] !== "+") expect(before[at++]).toBe(line.slice(1));
    if (line[0] !== "-") out.push(line.slice(1));
  }
  return [...out, ...before.slice(at)];
}

const lines = fc.array(fc.constantFrom("a", "b", "c", "", "- x", "+ y", "@@"), { maxLength: 40 });

/** Without empty lines at the end, which do not count. */
function strip(text: readonly string[]): string[] {
  const kept = [...text];
  while (kept.at(-1) === "") kept.pop();
  return kept;
}

describe("diffLines", () => {
  it("makes the new text of the old one", () => {
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const { text } = diffLines(before.join("\n"), after.join("\n"));
        expect(patch(strip(before), text)).toEqual(strip(after));
      }),
      { numRuns: 500 },
    );
  });

  it("shows three lines of context, and hunks apart", () => {
    const before = Array.from({ length: 30 }, (_, index) => `line ${index + 1}`);
    const after = before.with(4, "five").with(24, "twenty-five");
    const { text, added, removed } = diffLines(before.join("\n"), after.join("\n"));
    expect([added, removed]).toEqual([2, 2]);
    expect(text.split("\n")).toEqual([
      ...["@@ -2,7 +2,7 @@", " line 2", " line 3", " line 4", "-line 5", "+five", " line 6", " line 7", " line 8"],
      ...["@@ -22,7 +22,7 @@", " line 22", " line 23", " line 24", "-line 25", "+twenty-five", " line 26", " line 27"],
      " line 28",
    ]);
  });

  it("counts what is left out, and takes texts without a line in common", () => {
    const text = (word: string) => Array.from({ length: 3000 }, (_, index) => `${word} ${index}`).join("\r\n");
    const diff = diffLines(text("old"), text("new"));
    expect(diff).toMatchObject({ added: 3000, removed: 3000 });
    const shown = diff.text.split("\n");
    expect(shown).toHaveLength(401);
    expect(shown.at(-1)).toBe("\\ 5601 more lines");
  });

  it("takes the kind of line breaks and those at the end for no change", () => {
    expect(diffLines("a\r\nb\r\n", "a\nb").text).toBe("");
  });
});
