import { describe, expect, test } from "vitest";
import { DOORS, findMutualPairs, readSources, SHORT_LINES } from "../../bench/house/read-sources.ts";
import { PACKAGE_ROOT } from "./read-package.ts";

/** Limits that may only be lowered: lower one in the change that removes a pair or a file. */
const MAX_MUTUAL_PAIRS = 0;
const MAX_SHORT_FILES = 17;

const sources = readSources(PACKAGE_ROOT);

describe("the structure of src", () => {
  test("has no two rooms that import each other", () => {
    const pairs = findMutualPairs(sources);
    expect(pairs.length, pairs.join("; ")).toBeLessThanOrEqual(MAX_MUTUAL_PAIRS);
  });

  test(`has few files of at most ${SHORT_LINES} lines besides the package's entry points`, () => {
    const short = sources.filter(({ path, lines }) => lines <= SHORT_LINES && !DOORS.includes(path));
    expect(short.length, short.map(({ path }) => path).join("\n")).toBeLessThanOrEqual(MAX_SHORT_FILES);
  });

  test("would find such a pair, also between types", () => {
    const plant = (path: string, target: string) =>
      ({ path, text: "", lines: 1, imports: [{ target, kind: "type" }] }) as const;
    const [upper, lower] = ["src/service/flows/run.ts", "src/service/store/rows.ts"];
    expect(findMutualPairs([plant(upper, lower), plant(lower, upper)])).toEqual(["service/flows, service/store"]);
    expect(findMutualPairs([plant(upper, lower)])).toEqual([]);
  });

  test("is read to the last import: each leads to a file", () => {
    const imports = sources.flatMap((source) => source.imports).filter(({ target }) => target.endsWith(".ts"));
    const paths = new Set(sources.map(({ path }) => path));
    expect(imports.filter(({ target }) => !paths.has(target))).toEqual([]);
    expect(new Set(imports.map(({ kind }) => kind))).toEqual(new Set(["value", "type", "lazy"]));
    const statements = sources.reduce(
      (sum, { text }) => sum + (text.match(/\b(?:from|import\()\s*"\.[^"]*\.ts"/g)?.length ?? 0),
      0,
    );
    expect(imports.length).toBe(statements);
  });
});
