import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { PACKAGE_ROOT } from "./read-package.ts";

const TEXT = readFileSync(join(PACKAGE_ROOT, "SECURITY.md"), "utf8");
const NAMED = [...TEXT.matchAll(/`((?:src|test)\/[^`]+)`/g)].map(([, path = ""]) => path);
/** Rows of the tables of claims. */
const CLAIMS = TEXT.split("\n")
  .map((line) => line.split(" | "))
  .filter((cells) => cells.length === 3 && cells[1]?.startsWith("`src/"));

describe("SECURITY.md", () => {
  test("names files that exist", () => {
    expect(NAMED.length).toBeGreaterThan(60);
    expect(NAMED.filter((path) => !existsSync(join(PACKAGE_ROOT, path)))).toEqual([]);
  });

  test("says of each protection which code it is and which test shows it", () => {
    expect(CLAIMS.length).toBeGreaterThan(25);
    for (const [claim, , shown = ""] of CLAIMS) expect(shown, claim).toMatch(/`test\/[^`]+\.test\.ts`/);
  });
});
