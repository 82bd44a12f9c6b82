import { describe, expect, test } from "vitest";
import { createCatalog } from "../../../src/service/catalog/catalog.ts";
import { hasForeignSets, measureRecall, readForeignQuestions, readForeignTools } from "./read-foreign-sets.ts";

/** What docs/performance.md shows, less two points. */
const FLOORS = [
  { set: "metatool", kind: "single", at1: 0.495, at5: 0.675 },
  { set: "livemcp", kind: "step", at1: 0.5, at5: 0.7 },
  { set: "livemcp", kind: "task", at1: 0.19, at5: 0.34 },
];

const searchIn = (set: string) => {
  const catalog = createCatalog(readForeignTools(set));
  return (text: string) => catalog.search(text).map(({ action }) => action.id);
};

describe.skipIf(!hasForeignSets)("questions that others wrote", () => {
  test.each(FLOORS)("find as many right tools as docs/performance.md says: $kind", ({ set, kind, at1, at5 }) => {
    const questions = readForeignQuestions().filter((question) => question.kind === kind);
    const [first = 0, five = 0] = measureRecall(questions, searchIn(set), [1, 5]);
    console.log(`${set}, ${kind}: ${questions.length} questions, @1 ${first.toFixed(3)}, @5 ${five.toFixed(3)}`);
    expect(first).toBeGreaterThanOrEqual(at1);
    expect(five).toBeGreaterThanOrEqual(at5);
  });

  test("ten names of these tools in one question come first, each with its likes", () => {
    for (const set of ["livemcp", "metatool"]) {
      const catalog = createCatalog(readForeignTools(set));
      const names = [...new Set(catalog.entries.map(({ action }) => action.id))];
      for (let from = 0; from < names.length; from += 10) {
        const asked = names.slice(from, from + 10);
        const found = catalog
          .search(asked.join(", "))
          .slice(0, asked.length)
          .map(({ action }) => action.id);
        expect(found.map(fold).sort()).toEqual(asked.map(fold).sort());
      }
    }
  });
});

const fold = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
