import MiniSearch, { type Query } from "minisearch";
import type { Integration } from "../integrations/integration.ts";
import type { CatalogEntry } from "./catalog-entry.ts";
import { findSynonyms, normaliseWord, splitWords } from "./words.ts";

/** Something a search found: an action by its tool name, or an integration by its slug. */
export interface CatalogHit {
  readonly kind: "action" | "integration";
  readonly name: string;
}

/** What a search is restricted to. */
export interface SearchScope {
  readonly kind?: CatalogHit["kind"];
  /** Slug of the only integration to search in. */
  readonly integration?: string;
}

/** The one index behind every search of the service. */
export interface SearchIndex {
  /** Best first; ties by name. A query that is exactly a name comes first. */
  search(query: string, scope?: SearchScope): CatalogHit[];
}

interface IndexedThing {
  readonly id: string;
  readonly kind: CatalogHit["kind"];
  readonly toolOrSlug: string;
  readonly integration: string;
  readonly name: string;
  readonly slug: string;
  readonly title: string;
  readonly description: string;
}

/** Words shorter than this are matched exactly, longer ones also with small misspellings. */
const FUZZY_FROM = 4;
const PREFIX_FROM = 3;
const SYNONYM_WEIGHT = 0.4;
const JOINED_WEIGHT = 0.8;
/** What a hit in each field is worth. */
const BOOST = { name: 4, slug: 3, title: 2, description: 1 } as const;
/** Longest query that is looked at; more words only cost time. */
const MAX_QUERY_WORDS = 24;
/** Longer words are left out: no tool has one, and looking for misspellings takes time and memory by their square. */
const MAX_WORD_CHARS = 64;

/** Indexes integrations and their actions. */
export function createSearchIndex(integrations: readonly Integration[], entries: readonly CatalogEntry[]): SearchIndex {
  const index = new MiniSearch<IndexedThing>({
    fields: ["name", "slug", "title", "description"],
    storeFields: ["kind", "toolOrSlug", "integration"],
    tokenize: splitWords,
    processTerm: normaliseWord,
    searchOptions: {
      // Words of a query are normalised before they come here.
      tokenize: (word) => [word],
      processTerm: (word) => word,
      boost: BOOST,
      prefix: (word) => word.length >= PREFIX_FROM,
      fuzzy: (word) => (word.length >= FUZZY_FROM ? 0.2 : false),
      weights: { prefix: 0.4, fuzzy: 0.2 },
    },
  });
  index.addAll(integrations.map(describeIntegration));
  index.addAll(entries.map(describeEntry));
  return {
    search(query, { kind, integration } = {}) {
      const wanted = query.trim().toLowerCase();
      const isInScope = (hit: Partial<IndexedThing>) =>
        (kind === undefined || hit.kind === kind) && (integration === undefined || hit.integration === integration);
      return index
        .search(toQuery(wanted), { filter: (hit) => isInScope(hit as Partial<IndexedThing>) })
        .map(({ kind, toolOrSlug, score }) => ({
          kind: kind as CatalogHit["kind"],
          name: String(toolOrSlug),
          score: toolOrSlug === wanted ? Number.POSITIVE_INFINITY : score,
        }))
        .sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1))
        .map(({ kind, name }) => ({ kind, name }));
    },
  };
}

function describeEntry({ toolName, integration, action }: CatalogEntry): IndexedThing {
  return {
    id: `action ${toolName}`,
    kind: "action",
    toolOrSlug: toolName,
    integration: integration.slug,
    name: action.id,
    slug: `${integration.slug} ${integration.name}`,
    title: action.title,
    description: `${action.description} ${integration.description}`,
  };
}

function describeIntegration({ slug, name, description, category }: Integration): IndexedThing {
  return {
    id: `integration ${slug}`,
    kind: "integration",
    toolOrSlug: slug,
    integration: slug,
    name,
    slug,
    title: category,
    description,
  };
}

/** Every word counts; its synonyms, and two words written as one ("on call", "oncall"), count less. */
function toQuery(text: string): Query {
  const typed = splitWords(text)
    .filter((word) => word.length <= MAX_WORD_CHARS)
    .slice(0, MAX_QUERY_WORDS);
  const words = typed.flatMap((word) => normaliseWord(word) ?? []);
  const joined = typed.slice(1).flatMap((word, index) => normaliseWord(`${typed[index]}${word}`) ?? []);
  const synonyms = words.flatMap(findSynonyms);
  return {
    combineWith: "OR",
    queries: [...words, ...weighWords(joined, words, JOINED_WEIGHT), ...weighWords(synonyms, words, SYNONYM_WEIGHT)],
  };
}

/** Queries for exact words that are not looked for already. */
function weighWords(words: readonly string[], known: readonly string[], weight: number): Query[] {
  const boost = Object.fromEntries(Object.entries(BOOST).map(([field, value]) => [field, value * weight]));
  return [...new Set(words)]
    .filter((word) => !known.includes(word))
    .map((word) => ({ combineWith: "OR", queries: [word], prefix: false, fuzzy: false, boost }));
}
