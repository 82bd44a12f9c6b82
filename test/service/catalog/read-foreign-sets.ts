import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import type { Integration } from "../../../src/apps/port/integration.ts";
import { createAction, createIntegration } from "./read-large-catalogue.ts";

/*
 * Tools and questions that others wrote and labelled, without this search in sight: LiveMCPBench and MetaTool. They are
 * beside the repository where they were put; `SVC_SEARCH_SETS` names another folder.
 */

const FOLDER = process.env.SVC_SEARCH_SETS ?? fileURLToPath(new URL("../../../../shared/data/", import.meta.url));
const [TOOLS, QUESTIONS] = ["search-tools.jsonl", "search-questions.jsonl"];

const toolSchema = z.looseObject({
  set: z.string(),
  name: z.string(),
  app: z.string(),
  app_name: z.string(),
  app_description: z.string().default(""),
  title: z.string(),
  description: z.string(),
  parameters: z.record(z.string(), z.string().nullable()),
});
const questionSchema = z.looseObject({
  id: z.string(),
  set: z.string(),
  kind: z.enum(["task", "step", "route", "single"]),
  text: z.string(),
  tools: z.array(z.string()).min(1),
});

/** A whole job, one step of it, what a model asked for during it, or a question for one tool. */
export type ForeignQuestion = z.infer<typeof questionSchema>;

/** True where the sets are present. */
export const hasForeignSets = existsSync(`${FOLDER}/${TOOLS}`) && existsSync(`${FOLDER}/${QUESTIONS}`);

/** The questions of all sets. */
export function readForeignQuestions(): ForeignQuestion[] {
  return readLines(QUESTIONS).map((line) => questionSchema.parse(line));
}

/** The tools of one set, as apps. */
export function readForeignTools(set: string): Integration[] {
  const tools = readLines(TOOLS)
    .map((line) => toolSchema.parse(line))
    .filter((tool) => tool.set === set);
  return Object.entries(Object.groupBy(tools, ({ app }) => app)).map(([app, own = []]) => ({
    ...createIntegration(
      app,
      own.map(({ name, title, description, parameters }) => ({
        ...createAction(name, description),
        title,
        inputSchema: { type: "object", properties: toProperties(parameters) },
      })),
    ),
    name: own[0]?.app_name ?? app,
    description: own[0]?.app_description ?? "",
  }));
}

const toProperties = (parameters: Readonly<Record<string, string | null>>) =>
  Object.fromEntries(
    Object.entries(parameters).map(([name, description]) => [name, { type: "string", description: description ?? "" }]),
  );

function readLines(file: string): unknown[] {
  return readFileSync(`${FOLDER}/${file}`, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

/** Shares of the right tools among the first so many, on average over the questions; between 0 and 1. */
export function measureRecall(
  questions: readonly Pick<ForeignQuestion, "text" | "tools">[],
  search: (text: string) => readonly string[],
  depths: readonly number[],
): number[] {
  const found = questions.map(({ text, tools }) => ({ names: [...new Set(search(text))], tools: new Set(tools) }));
  return depths.map((depth) => {
    const shares = found.map(
      ({ names, tools }) => names.slice(0, depth).filter((name) => tools.has(name)).length / tools.size,
    );
    return shares.reduce((a, b) => a + b, 0) / questions.length;
  });
}
