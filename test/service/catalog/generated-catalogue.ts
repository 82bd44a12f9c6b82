import type { Integration } from "../../../src/apps/port/integration.ts";
import type { LabelledQuery } from "./measure-ranking.ts";
import { createAction, createIntegration } from "./read-large-catalogue.ts";

const APPS =
  "acorn-books birch-crm cedar-desk dune-mail ember-shop fjord-drive grove-boards harbor-hr isle-chat juniper-pay kelp-forms lagoon-calendar maple-ads nectar-wiki opal-tracker pebble-survey quartz-billing reef-analytics sable-support tundra-notes umber-events violet-video willow-tickets zephyr-leads".split(
    " ",
  );
const NOUNS =
  "invoice contact project comment campaign webhook product order ticket label folder report member channel event payment subscription template document survey deal board card reminder".split(
    " ",
  );

const VERBS: Readonly<Record<string, (noun: string) => string>> = {
  create: (noun) => `Creates a ${noun} and returns its id.`,
  get: (noun) => `Returns one ${noun} by its id with all of its fields.`,
  list: (noun) => `Returns ${noun}s page by page, newest first.`,
  update: (noun) => `Sets fields of an existing ${noun}; fields left out stay as they are.`,
  delete: (noun) => `Deletes a ${noun} for good. This cannot be undone.`,
  search: (noun) => `Returns ${noun}s whose fields match the words of a query.`,
  archive: (noun) => `Archives a ${noun} so that it is hidden but kept.`,
  export: (noun) => `Writes ${noun}s to a CSV file for download.`,
};

const PHRASES: Readonly<Record<string, readonly string[]>> = {
  create: ["make a new NOUN in APP", "add a NOUN to APP"],
  list: ["show all NOUNs of APP", "list NOUNs in APP please"],
  update: ["change a NOUN in APP", "edit the NOUN I have in APP"],
  delete: ["remove a NOUN from APP", "erase an old APP NOUN"],
  search: ["find a NOUN in APP by words", "search APP for the NOUN of Ms Miller"],
  archive: ["archive the APP NOUN"],
  export: ["export my NOUNs from APP", "exporting APP NOUNs as csv"],
};

/** Some 4,600 tools of 24 apps that differ in one word each: the hard case for a ranking. */
export function generateCatalogue(): Integration[] {
  return APPS.map((slug) =>
    createIntegration(
      slug,
      NOUNS.flatMap((noun) =>
        Object.entries(VERBS).map(([verb, describe]) =>
          createAction(verb === "list" ? `list_${noun}s` : `${verb}_${noun}`, describe(noun)),
        ),
      ),
    ),
  );
}

/** Requests for it, each with its only right tool; every app and every noun occurs. */
export function generateQueries(): LabelledQuery[] {
  return NOUNS.flatMap((noun, index) =>
    Object.entries(PHRASES).flatMap(([verb, phrases], place) =>
      phrases.map((phrase, version) => {
        const app = APPS[(index * 7 + place * 5 + version) % APPS.length] ?? "";
        const query = phrase.replace("NOUN", noun).replace("APP", app.replace("-", " "));
        return { query, tools: [`${app}_${verb}_${noun}${verb === "list" ? "s" : ""}`] };
      }),
    ),
  );
}
