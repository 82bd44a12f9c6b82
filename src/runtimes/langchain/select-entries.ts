import type { ToolCatalog } from "../../calls/catalog/catalog.ts";
import type { CatalogEntry } from "../../calls/catalog/catalog-entry.ts";
import type { ToolFilter } from "./toolkit-options.ts";

/** Most action tools that are described when the toolkit is made, and returned without a `limit`. */
const DEFAULT_LIMIT = 64;
/** Model providers take 128 tools: these and the static ones. */
const MAX_LIMIT = 117;
const MAX_DEFERRED = 10_000;

/** The known tools that pass a filter, by app and name, as many as its limit allows. */
export function selectEntries(catalog: ToolCatalog, filter: ToolFilter): CatalogEntry[] {
  const { integrations, tools, levels } = filter;
  const found = catalog
    .list()
    .filter((entry) => integrations === undefined || integrations.includes(entry.integration))
    .filter((entry) => tools === undefined || tools.includes(entry.name))
    .filter((entry) => levels === undefined || levels.includes(entry.effect));
  const max = filter.deferLoading === true ? MAX_DEFERRED : MAX_LIMIT;
  return found.slice(0, Math.min(filter.limit ?? DEFAULT_LIMIT, max));
}
