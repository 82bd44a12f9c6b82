import { glob, readFile } from "node:fs/promises";
import { join, matchesGlob } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { SYSTEM_SUITES } from "../suites/suites.ts";
import { LONG_TESTS } from "../suites/test-files.ts";
import { REQUIREMENTS } from "./requirements.ts";
import { verifies } from "./verifies.ts";

const TEST_FOLDER = fileURLToPath(new URL("..", import.meta.url));
/** Files that `npm test` leaves out, on this machine or on another. */
const LEFT_OUT = [...LONG_TESTS, ...SYSTEM_SUITES.map(({ files }) => files)];
const CALL = /(?<![\w.])verifies\(((?:\s*"[^"]*"\s*,?)+)\s*\)/g;

/** Ids cited in one source text. */
function readCitations(source: string): string[] {
  const withoutComments = source.replace(/^\s*(\/\/|\*|\/\*).*$/gm, "");
  return [...withoutComments.matchAll(CALL)].flatMap((call) =>
    [...(call[1] ?? "").matchAll(/"([^"]*)"/g)].map((literal) => literal[1] ?? ""),
  );
}

async function findCitations(): Promise<Map<string, string[]>> {
  const cited = new Map<string, string[]>();
  for await (const file of glob("**/*.ts", {
    cwd: TEST_FOLDER,
    exclude: ["**/node_modules", "contract/coverage.test.ts"],
  })) {
    if (LEFT_OUT.some((pattern) => matchesGlob(`test/${file}`, pattern))) continue;
    for (const id of readCitations(await readFile(join(TEST_FOLDER, file), "utf8"))) {
      cited.set(id, [...(cited.get(id) ?? []), file]);
    }
  }
  return cited;
}

describe("rules of the API document", () => {
  test("have unique, well-formed ids", () => {
    const ids = REQUIREMENTS.map((requirement) => requirement.id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    expect(ids.filter((id) => !/^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(id))).toEqual([]);
  });

  test("are each shown by a test of `npm test`, and none is called planned that is shown", async () => {
    const cited = await findCitations();
    const known = new Set(REQUIREMENTS.map((requirement) => requirement.id));
    const due = REQUIREMENTS.filter((requirement) => requirement.planned === undefined);
    const planned = REQUIREMENTS.filter((requirement) => requirement.planned !== undefined);
    const shown = due.filter((requirement) => cited.has(requirement.id));
    console.log(
      `Rules: ${REQUIREMENTS.length} in all, ${shown.length} of ${due.length} due shown, ${planned.length} planned.`,
    );
    const problems = {
      unshown: due.filter((requirement) => !cited.has(requirement.id)).map(({ id, text }) => `${id}: ${text}`),
      plannedButShown: planned
        .filter(({ id }) => cited.has(id))
        .map(({ id }) => `${id} in ${cited.get(id)?.join(", ")}`),
      unknown: [...cited].filter(([id]) => !known.has(id)).map(([id, files]) => `${id} in ${files.join(", ")}`),
    };
    expect(problems).toEqual({ unshown: [], plannedButShown: [], unknown: [] });
  });

  test("are cited only by ids that exist", () => {
    expect(() => verifies("tools.list.no-such-rule")).toThrow("tools.list.no-such-rule");
  });

  test("are found in source text, in one line or many, and not in comments", () => {
    const source = ['verifies("a.b");', 'verifies(\n  "c.d",\n  "e.f",\n);', '// verifies("g.h");'].join("\n");
    expect(readCitations(source)).toEqual(["a.b", "c.d", "e.f"]);
  });
});
