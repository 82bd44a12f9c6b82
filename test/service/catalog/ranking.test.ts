import { describe, expect, test } from "vitest";
import { builtInIntegrations } from "../../../src/apps/built-in.ts";
import { createCatalog } from "../../../src/service/catalog/catalog.ts";
import { generateCatalogue, generateQueries } from "./generated-catalogue.ts";
import { describeQuality, type LabelledQuery, measureRanking, readQueries } from "./measure-ranking.ts";
import { hasLargeCatalogue, readLargeCatalogue } from "./read-large-catalogue.ts";

const FLOORS = { hit5: 0.9, mrr: 0.75 };

function hold(name: string, queries: readonly LabelledQuery[], search: (query: string) => string[]): void {
  const quality = measureRanking(queries, search);
  console.log(describeQuality(name, queries.length, quality));
  expect(quality.hit5, quality.misses.join("\n")).toBeGreaterThanOrEqual(FLOORS.hit5);
  expect(quality.mrr, quality.misses.join("\n")).toBeGreaterThanOrEqual(FLOORS.mrr);
}

const searchIn = (integrations: Parameters<typeof createCatalog>[0]) => {
  const catalog = createCatalog(integrations);
  return (query: string) => catalog.search(query).map((entry) => entry.toolName);
};

describe("requests in users' words find their tool", () => {
  test("among the built-in actions", () => {
    hold("built-in actions", readQueries("built-in"), searchIn(builtInIntegrations));
  });

  test("among thousands of tools that differ in one word", () => {
    const integrations = generateCatalogue();
    expect(integrations.flatMap((integration) => integration.actions).length).toBeGreaterThan(4000);
    hold("generated catalogue", generateQueries(), searchIn([...integrations, ...builtInIntegrations]));
  });

  if (hasLargeCatalogue) {
    test.each(["large-catalogue", "large-catalogue-held-out"])("among the real tools of many apps: %s", (name) => {
      const { integrations, nameOf } = readLargeCatalogue();
      const search = searchIn(integrations);
      hold(name, readQueries(name), (query) => search(query).map((found) => nameOf.get(found) ?? found));
    });
  }
});

test("a ranking that finds nothing, or the right tool last, is measured as such", () => {
  const queries = [{ query: "a", tools: ["x"] }];
  expect(measureRanking(queries, () => [])).toMatchObject({ hit1: 0, hit5: 0, mrr: 0 });
  expect(measureRanking(queries, () => ["1", "2", "3", "4", "5", "x"])).toMatchObject({ hit1: 0, hit5: 0, mrr: 1 / 6 });
  expect(measureRanking(queries, () => ["x"])).toMatchObject({ hit1: 1, hit5: 1, mrr: 1, misses: [] });
});
