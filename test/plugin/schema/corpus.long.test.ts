import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { projectToolSchema } from "../../../src/plugin/schema/project/project-schema.ts";
import {
  type Corpus,
  type CorpusInstance,
  type CorpusTool,
  findIllegal,
  makeSlips,
  measureGuard,
  measureMessages,
  measureProjection,
  measureRepairs,
} from "./corpus-measures.ts";
import { MESSY_SCHEMAS } from "./messy-schemas.ts";

const REPOSITORY = join(import.meta.dirname, "..", "..", "..");

/** A small corpus of our own, so that every measure runs everywhere. */
const HAND_MADE: Corpus = {
  name: "hand-made",
  tools: MESSY_SCHEMAS.map(({ name, schema }) => ({ id: name, name, inputSchema: schema })),
  instances: MESSY_SCHEMAS.flatMap(({ name, accepts, refuses }) => [
    ...accepts.map((args): CorpusInstance => ({ id: name, kind: "base", valid: true, args })),
    ...refuses.map((args): CorpusInstance => ({ id: name, kind: "fault", valid: false, args })),
  ]),
};

/** Schemas of public tools, where the neighbouring data folder holds them. */
function readNeighbour(): Corpus[] {
  const folder = join(REPOSITORY, "..", "shared", "data");
  const [tools, instances] = ["tool-schemas.jsonl", "tool-instances.jsonl"].map((file) => join(folder, file));
  if (!tools || !instances || !existsSync(tools) || !existsSync(instances)) return [];
  return [
    { name: "public tools", tools: readLines<CorpusTool>(tools), instances: readLines<CorpusInstance>(instances) },
  ];
}

function readLines<T>(file: string): T[] {
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line): T => JSON.parse(line));
}

describe.each([HAND_MADE, ...readNeighbour()])("corpus: $name", (corpus) => {
  /** The limits were set for 7,976 faults and 21,112 judged sets. */
  const share = (limit: number, of: number, count: number) => Math.max(1, Math.ceil((limit * count) / of));

  test.each(["full", "gemini"] as const)("every %s projection is legal", (profile) => {
    const illegal = corpus.tools.flatMap((tool) =>
      findIllegal(projectToolSchema(tool.inputSchema, { profile }), profile),
    );
    expect(illegal).toEqual([]);
  });

  test("the guard refuses and changes no valid call and lets few faults pass", () => {
    const counts = measureGuard(corpus);
    console.log(`${corpus.name}: guard`, counts);
    expect(counts).toMatchObject({ refused: 0, changed: 0 });
    expect(counts.accepted).toBeLessThanOrEqual(share(20, 7_976, counts.faults ?? 0));
  });

  test("messages about single faults name place, expectation and value in few words", () => {
    const { faults, complete, p50, p95 } = measureMessages(corpus);
    console.log(`${corpus.name}: messages`, { faults, complete, p50, p95 });
    expect(complete).toBeGreaterThanOrEqual(0.95);
    expect(p95).toBeLessThanOrEqual(200);
  });

  test("slips are repaired as they were meant", () => {
    const table = measureRepairs(corpus);
    console.log(`${corpus.name}: repairs`, table);
    for (const [kind, [right, all]] of Object.entries(table)) {
      expect(right / all, kind).toBeGreaterThanOrEqual(kind.startsWith("enum") ? 0.96 : 0.99);
    }
  });
});

describe.each(readNeighbour())("projection: $name", (corpus) => {
  test("says neither less nor more than the schema", () => {
    const full = measureProjection(corpus, "full");
    const gemini = measureProjection(corpus, "gemini");
    console.log(`${corpus.name}: projection`, { full, gemini });
    expect(full.narrow).toBe(0);
    expect(full.wide).toBeLessThanOrEqual(10);
    // What is left is null, which Google writes as `nullable` and a JSON Schema judge does not know.
    expect(gemini.wide).toBeLessThanOrEqual(234);
  });
});

test("slips are made of every kind of value", () => {
  const args = { n: 1, b: true, list: ["a"], o: { k: "5" } };
  const kinds = new Set(makeSlips(args).map(({ kind }) => kind));
  expect([...kinds].sort()).toEqual([
    "array as JSON text",
    "boolean as text",
    "enum in other letter case",
    "number as text",
    "number for text",
    "object as JSON text",
    "single value for a list",
  ]);
});
