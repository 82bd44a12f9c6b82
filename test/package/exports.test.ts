import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { EXPORTS } from "./expected-exports.ts";
import { PACKAGE_ROOT, readPackage } from "./read-package.ts";

const sourceOf = (door: string) => join(PACKAGE_ROOT, "src", door === "." ? "index.ts" : `${door.slice(2)}.ts`);

describe("exports of the package", () => {
  test("are exactly the expected doors", () => {
    const doors = Object.keys(readPackage().exports).filter((door) => !door.endsWith(".json"));
    expect(doors.sort()).toEqual(Object.keys(EXPORTS).sort());
  });

  test.each(Object.entries(EXPORTS))("%s has exactly the expected names", async (door, names) => {
    expect(Object.keys(await import(sourceOf(door))).sort()).toEqual(names);
  });

  test.each(Object.keys(EXPORTS))("%s is a door: re-exports by name and nothing else", (door) => {
    const code = readFileSync(sourceOf(door), "utf8").replace(/\/\*.*?\*\/|\/\/[^\n]*/gs, "");
    const statements = code.split(";").map((statement) => statement.trim());
    expect(
      statements.filter((statement) => !/^$|^export (type )?\{[^}]*\} from "\.\/[^"]+"$/s.test(statement)),
    ).toEqual([]);
  });
});
