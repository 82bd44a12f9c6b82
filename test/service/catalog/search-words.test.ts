import { expect, test } from "vitest";
import { builtInIntegrations } from "../../../src/apps/built-in.ts";
import { createCatalog } from "../../../src/service/catalog/catalog.ts";
import { readRelatedWords } from "../../../src/service/catalog/related-words.ts";
import { stem } from "../../../src/service/catalog/words.ts";
import { createAction, createIntegration } from "./read-large-catalogue.ts";

const withParameters = (id: string, properties: Record<string, unknown>) => ({
  ...createAction(id, "Runs a job."),
  inputSchema: { type: "object", properties },
});
const jobs = createCatalog([
  createIntegration("jobs", [
    withParameters("first", { temperature_unit: { type: "string" } }),
    withParameters("second", { q: { type: "string", description: "Words that the newspaper headline has." } }),
    withParameters("third", {
      body: { type: "object", properties: { invoiceNumber: { description: "Of the bill." } } },
    }),
  ]),
]);
const builtIn = createCatalog(builtInIntegrations);
const first = (catalog: typeof jobs, query: string) => catalog.search(query)[0]?.toolName;

test("names and texts of arguments are searched, also of arguments inside others", () => {
  expect(first(jobs, "temperature")).toBe("jobs_first");
  expect(first(jobs, "headlines")).toBe("jobs_second");
  expect(first(jobs, "invoice numbers")).toBe("jobs_third");
});

test("each of several intents in a question has its tool among the first four", () => {
  const found = (query: string) =>
    builtIn
      .search(query)
      .slice(0, 4)
      .map(({ toolName }) => toolName);
  expect(
    found("Upload the report to my drive, then write an email message to Anna and create a calendar event"),
  ).toEqual(expect.arrayContaining(["drive_upload_file", "mail_send_message", "calendar_create_event"]));
});

test("words that mean the same are learned, for what tools are called and for things of every day", () => {
  const { near } = readRelatedWords();
  const knows = (word: string, other: string) => near(stem(word)).includes(stem(other));
  for (const [word, other] of [
    ["remove", "delete"],
    ["change", "update"],
    ["new", "create"],
    ["buy", "purchase"],
    ["song", "music"],
  ] as const) {
    expect(knows(word, other), `${word}: ${near(stem(word)).join(", ")}`).toBe(true);
  }
  expect(near("zzzz")).toEqual([]);
});

test("what everybody says is known as frequent", () => {
  const { readFrequency } = readRelatedWords();
  expect(readFrequency(stem("information"))).toBeGreaterThan(readFrequency(stem("calendar")));
  expect(readFrequency("zzzz")).toBe(0);
});

test("a contraction is no word", () => {
  expect(builtIn.search("what's I'm don't we'll")).toEqual([]);
});
