import { join } from "node:path";
import { pathToFileURL } from "node:url";
import MiniSearch from "minisearch";
import type { Integration } from "../../src/apps/port/integration.ts";
import type { createCatalog } from "../../src/service/catalog/catalog.ts";
import {
  hasForeignSets,
  measureRecall,
  readForeignQuestions,
  readForeignTools,
} from "../../test/service/catalog/read-foreign-sets.ts";
import {
  createAction,
  createIntegration,
  hasLargeCatalogue,
  readLargeCatalogue,
} from "../../test/service/catalog/read-large-catalogue.ts";
import { readWord, reportProgress } from "../report/run-part.ts";
import { median } from "../report/statistics.ts";

/*
 * How often the search of tools finds the right one, on questions that others wrote, beside plain BM25+, and what a new
 * question costs among more and more tools: the tables of docs/performance.md. `npx node bench/search/run.ts`, with
 * `--before DIR` beside another checkout of this package. Needs the sets of test/service/catalog/read-foreign-sets.ts.
 */

const DEPTHS = [1, 3, 5, 10, 20];
const SIZES = [100, 1_000, 10_000];
const KINDS = [
  { set: "livemcp", kind: "task" },
  { set: "livemcp", kind: "step" },
  { set: "livemcp", kind: "route" },
  { set: "metatool", kind: "single" },
];

type Create = typeof createCatalog;
type Search = (text: string) => string[];

if (!hasForeignSets || !hasLargeCatalogue) throw new Error("The sets of questions and tools are not there.");
const candidates = [
  ...(await Promise.all([join(import.meta.dirname, "../.."), readWord("--before")].map(openCheckout))).flat(),
  { name: "plain BM25+", open: openPlain },
];
const questions = readForeignQuestions();

console.log(
  `| questions | search | ${DEPTHS.map((depth) => `@${depth}`).join(" | ")} |\n|---|---|${"---|".repeat(DEPTHS.length)}`,
);
for (const { set, kind } of KINDS) {
  const own = questions.filter((question) => question.kind === kind);
  const tools = readForeignTools(set);
  for (const { name, open } of candidates) {
    const shares = measureRecall(own, open(tools), DEPTHS).map((share) => (100 * share).toFixed(1));
    console.log(`| ${own.length} of ${set}, ${kind} | ${name} | ${shares.join(" | ")} |`);
  }
}
console.log("\n| tools | search | first question, ms | a new question, ms (mean; median) |\n|---|---|---|---|");
const asked = questions.filter((_, at) => at % 7 === 0).map(({ text }) => text);
for (const size of SIZES) {
  reportProgress(`${size} tools`);
  const tools = takeTools(size);
  for (const { name, open } of candidates) {
    const begun = performance.now();
    const search = open(tools);
    search("warm up");
    const opened = performance.now() - begun;
    for (const text of asked.slice(0, 60)) search(text);
    const times = asked.map((text) => {
      const start = performance.now();
      search(text);
      return performance.now() - start;
    });
    const mean = times.reduce((a, b) => a + b, 0) / times.length;
    console.log(`| ${size} | ${name} | ${opened.toFixed(0)} | ${mean.toFixed(2)}; ${median(times).toFixed(2)} |`);
  }
}

async function openCheckout(folder: string | undefined, at: number) {
  if (folder === undefined) return [];
  const path = pathToFileURL(join(folder, "src/service/catalog/catalog.ts")).href;
  const { createCatalog } = (await import(path)) as { createCatalog: Create };
  const open = (tools: Integration[]): Search => {
    const catalog = createCatalog(tools);
    return (text) => catalog.search(text).map(({ action }) => action.id);
  };
  return [{ name: at === 0 ? "here" : "before", open }];
}

function openPlain(tools: Integration[]): Search {
  const index = new MiniSearch({ fields: ["title", "description", "app"], storeFields: ["name"] });
  index.addAll(
    tools.flatMap(({ slug, name: app, actions }) =>
      actions.map(({ id, title, description }) => ({ id: `${slug} ${id}`, name: id, title, description, app })),
    ),
  );
  return (text) => index.search(text).map(({ name }) => String(name));
}

/** So many tools of the large catalogue, again under other slugs where it has fewer. */
function takeTools(size: number): Integration[] {
  const { integrations } = readLargeCatalogue();
  const all = integrations.flatMap(({ slug, actions }) => actions.map((action) => ({ slug, action })));
  const taken = Array.from({ length: size }, (_, at) => {
    const { slug, action } = all[(at * 7_919) % all.length] ?? { slug: "none", action: createAction("none", "") };
    return { slug: `${slug}-${Math.floor(at / all.length)}`, action };
  });
  return Object.entries(Object.groupBy(taken, ({ slug }) => slug)).map(([slug, own = []]) =>
    createIntegration(slug, [...new Map(own.map(({ action }) => [action.id, action])).values()]),
  );
}
