import MiniSearch from "minisearch";
import type { CatalogEntry } from "./catalog-entry.ts";

/** Finds tool names by words. */
export interface ToolSearchIndex {
  /** Tool names, best first. */
  search(query: string): string[];
}

/** Words that say nothing about which tool is meant. */
const STOP_WORDS = new Set(
  "a all an and any are as at be by can do for from get give i if in is it me my of on one or our out please so that the their them this to us want we what which who will with you your".split(
    " ",
  ),
);

/** Words shorter than this are matched exactly, longer ones also by prefix and with small misspellings. */
const FUZZY_FROM = 4;

/** Indexes names (split on `_`), slugs, titles and descriptions; a hit in the name weighs most. */
export function createToolSearch(entries: readonly CatalogEntry[]): ToolSearchIndex {
  const index = new MiniSearch<{ id: string; name: string; slug: string; title: string; description: string }>({
    fields: ["name", "slug", "title", "description"],
    tokenize: splitWords,
    processTerm: normaliseWord,
    searchOptions: {
      boost: { name: 4, slug: 3, title: 2 },
      prefix: (word) => word.length >= FUZZY_FROM - 1,
      fuzzy: (word) => (word.length >= FUZZY_FROM ? 0.2 : false),
      weights: { prefix: 0.4, fuzzy: 0.2 },
    },
  });
  index.addAll(
    entries.map(({ toolName, integration, action }) => ({
      id: toolName,
      name: action.id,
      slug: `${integration.slug} ${integration.name}`,
      title: action.title,
      description: `${action.description} ${integration.description}`,
    })),
  );
  return {
    search(query) {
      const wanted = query.trim().toLowerCase();
      const rank = (id: string, score: number) => (id === wanted ? Number.POSITIVE_INFINITY : score);
      return index
        .search(query)
        .map((hit) => ({ id: String(hit.id), score: rank(String(hit.id), hit.score) }))
        .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
        .map((hit) => hit.id);
    },
  };
}

function splitWords(text: string): string[] {
  return text.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== "");
}

/** Lower case, without stop words and the commonest English endings, so that "files" finds `upload_file`. */
function normaliseWord(word: string): string | null {
  const lower = word.toLowerCase();
  if (STOP_WORDS.has(lower)) return null;
  if (lower.length > 4 && lower.endsWith("ies")) return `${lower.slice(0, -3)}y`;
  if (lower.length > 5 && lower.endsWith("ing")) return lower.slice(0, -3);
  if (lower.length > 3 && lower.endsWith("s") && !lower.endsWith("ss")) return lower.slice(0, -1);
  return lower;
}
