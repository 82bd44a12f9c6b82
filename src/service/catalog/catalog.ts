import type { Integration } from "../integrations/integration.ts";
import type { CatalogEntry } from "./catalog-entry.ts";
import { createToolSearch, type ToolSearchIndex } from "./search-tools.ts";

/** What the service can do, in the documented order: by integration, then by name. */
export interface Catalog {
  readonly integrations: readonly Integration[];
  readonly entries: readonly CatalogEntry[];
  find(toolName: string): CatalogEntry | undefined;
  /** Up to three tools close to a name that does not exist, reads before everything else. */
  suggest(toolName: string): CatalogEntry[];
  /** Entries by relevance; ties by name. */
  search(query: string, integration?: string): CatalogEntry[];
}

const MAX_SUGGESTIONS = 3;

/** Builds the catalog and its search index once; integrations do not change while a service runs. */
export function createCatalog(integrations: readonly Integration[]): Catalog {
  const entries = integrations
    .flatMap((integration) =>
      integration.actions.map((action) => ({ toolName: `${integration.slug}_${action.id}`, integration, action })),
    )
    .sort((a, b) => compare(a.integration.slug, b.integration.slug) || compare(a.toolName, b.toolName));
  const byName = new Map(entries.map((entry) => [entry.toolName, entry]));
  if (byName.size !== entries.length) throw new TypeError("Two actions share one tool name.");
  const index: ToolSearchIndex = createToolSearch(entries);

  function search(query: string, integration?: string): CatalogEntry[] {
    const found = index.search(query).flatMap((name) => byName.get(name) ?? []);
    return integration === undefined ? found : found.filter((entry) => entry.integration.slug === integration);
  }

  return {
    integrations,
    entries,
    find: (toolName) => byName.get(toolName),
    search,
    suggest(toolName) {
      const found = search(toolName);
      const isRead = (entry: CatalogEntry) => entry.action.level === "read";
      return [...found.filter(isRead), ...found.filter((entry) => !isRead(entry))].slice(0, MAX_SUGGESTIONS);
    },
  };
}

/** Plain code point order: the same on every machine, whatever its locale. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
