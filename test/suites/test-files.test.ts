import { globSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { SYSTEM_SUITES } from "./suites.ts";
import { ALONE, LONG_TESTS, ON_BOTH_STORES, ON_ONE_STORE } from "./test-files.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The patterns without braces that one with braces stands for. */
function expand(pattern: string): string[] {
  const [, before, choices, after] = /^([^{]*)\{([^}]*)\}(.*)$/.exec(pattern) ?? [];
  if (choices === undefined) return [pattern];
  return choices.split(",").flatMap((choice) => expand(`${before}${choice}${after}`));
}

test.each([
  ["long", LONG_TESTS],
  ["in a process of its own", ALONE],
  ["on both stores", ON_BOTH_STORES],
  ["on one store", ON_ONE_STORE],
  ["of a system part", SYSTEM_SUITES.map(({ files }) => files)],
])("every pattern of tests %s names files that are there", (_, patterns) => {
  const exclude = ["**/node_modules"];
  const empty = patterns.flatMap(expand).filter((pattern) => globSync(pattern, { cwd: root, exclude }).length === 0);
  expect(empty).toEqual([]);
});
