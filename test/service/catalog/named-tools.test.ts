import { describe, expect, test } from "vitest";
import { builtInIntegrations } from "../../../src/apps/built-in.ts";
import { createCatalog } from "../../../src/service/catalog/catalog.ts";
import { generateCatalogue } from "./generated-catalogue.ts";
import { createAction, createIntegration } from "./read-large-catalogue.ts";

const mixed = createIntegration(
  "forge",
  ["get_User", "API-get-user", "getRoute", "list_pull_requests", "merge"].map((id) => createAction(id, "Acts.")),
);
const catalog = createCatalog([...generateCatalogue(), ...builtInIntegrations, mixed]);
const names = catalog.entries.map(({ toolName }) => toolName);
const search = (query: string) => catalog.search(query).map(({ toolName }) => toolName);

function toPlural(name: string): string {
  if (/[^s]s$/.test(name)) return name;
  return /[^aeiou]y$/.test(name) ? `${name.slice(0, -1)}ies` : /(?:ss|x|ch|sh)$/.test(name) ? `${name}es` : `${name}s`;
}

const STYLES: Readonly<Record<string, (name: string) => string>> = {
  "as it is": (name) => name,
  "in capitals": (name) => name.toUpperCase(),
  "with hyphens": (name) => name.replaceAll("_", "-"),
  "with dots": (name) => name.replaceAll(/[_-]/g, "."),
  "with blanks": (name) => name.replaceAll(/[_-]/g, " "),
  "in camel case": (name) => name.replaceAll(/[_-](\w)/g, (_, letter: string) => letter.toUpperCase()),
  "in the plural": toPlural,
};
const FORMS: Readonly<Record<string, (names: readonly string[]) => string>> = {
  "a list": (all) => all.join(", "),
  "a sentence": (all) => `Which arguments do ${all.slice(0, -1).join(", ")} and ${all.at(-1)} take for my report?`,
  lines: (all) => all.map((name) => `- \`${name}\``).join("\n"),
};

/** Names that follow each other with a step that no number of actions is a multiple of. */
const draw = (from: number, count: number) =>
  Array.from({ length: count }, (_, at) => names[(from * 613 + at * 1009) % names.length] ?? "");

describe.each(Object.entries(STYLES))("full names %s", (_, write) => {
  test.each(Object.entries(FORMS))("in %s of up to ten come first, in their order", (_form, join) => {
    for (let round = 0; round < 30; round += 1) {
      for (const count of [1, 2, 3, 6, 10]) {
        const asked = draw(round, count);
        expect(search(join(asked.map(write))).slice(0, count)).toEqual(asked);
      }
    }
  });
});

test.each([
  ["get_User", "forge_get_User"],
  ["api get user", "forge_API-get-user"],
  ["API_GET_USER", "forge_API-get-user"],
  ["getroute", "forge_getRoute"],
  ["call listPullRequests for my project", "forge_list_pull_requests"],
  ['what does "merge" take', "forge_merge"],
])("short name %s is found", (query, tool) => {
  expect(search(query)[0]).toBe(tool);
});

test("short names in one question come first, however many apps have them", () => {
  const short = (name: string) => catalog.find(name)?.action.id ?? "";
  const asked = ["forge_get_User", "forge_getRoute", "forge_merge", "drive_upload_file"].map(short);
  const found = catalog.search(asked.join(", ")).slice(0, asked.length);
  expect(found.map(({ action }) => action.id)).toEqual(asked);
});

test("words that are also names are only words in a sentence", () => {
  const { search: searchOwn } = createCatalog(builtInIntegrations);
  expect(searchOwn("search my mail for an invoice")[0]?.toolName).toBe("mail_search");
});
