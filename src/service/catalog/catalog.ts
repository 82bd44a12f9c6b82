import type { Integration } from "../integrations/integration.ts";
import type { CatalogEntry } from "./catalog-entry.ts";
import { type CatalogHit, createSearchIndex, type SearchScope } from "./search-index.ts";

/** What the service can do, in the documented order: by integration, then by name. */
export interface Catalog {
  /** By slug. */
  readonly integrations: readonly Integration[];
  readonly entries: readonly CatalogEntry[];
  /** By full tool name, exactly. */
  find(toolName: string): CatalogEntry | undefined;
  /** By slug; upper case, hyphens, underscores and spaces make no difference. */
  findIntegration(integrationId: string): Integration | undefined;
  /** By action id or full tool name of an integration, as loosely as {@link Catalog.findIntegration}. */
  findAction(integrationId: string, actionId: string): CatalogEntry | undefined;
  /** Up to three tools close to a name that does not exist, reads before everything else; of one integration when named. */
  suggest(toolName: string, integration?: string): CatalogEntry[];
  /** Entries by relevance; ties by name. */
  search(query: string, integration?: string): CatalogEntry[];
  /** Integrations by relevance; a part of a name or slug is enough. */
  searchIntegrations(query: string): Integration[];
  /** Everything that fits the words, actions and integrations, by relevance. */
  searchAll(query: string): CatalogFind[];
}

/** One find of a search over everything. */
type CatalogFind =
  | { readonly kind: "action"; readonly entry: CatalogEntry }
  | { readonly kind: "integration"; readonly integration: Integration };

const MAX_SUGGESTIONS = 3;

/** Builds the catalog and its search index once; integrations do not change while a service runs. */
export function createCatalog(installed: readonly Integration[]): Catalog {
  const integrations = [...installed].sort((a, b) => compare(a.slug, b.slug));
  const entries = integrations
    .flatMap((integration) =>
      integration.actions.map((action) => ({ toolName: `${integration.slug}_${action.id}`, integration, action })),
    )
    .sort((a, b) => compare(a.integration.slug, b.integration.slug) || compare(a.toolName, b.toolName));
  const byName = new Map(entries.map((entry) => [entry.toolName, entry]));
  if (byName.size !== entries.length) throw new TypeError("Two actions share one tool name.");
  const lookUp = createLookUp(integrations, entries);
  const index = createSearchIndex(integrations, entries);

  const resolve = ({ kind, name }: CatalogHit): CatalogFind[] => {
    if (kind === "action") return [byName.get(name)].flatMap((entry) => (entry ? [{ kind: "action", entry }] : []));
    return integrations.filter(({ slug }) => slug === name).map((integration) => ({ kind, integration }));
  };
  const findAll = (query: string, scope: SearchScope) => index.search(query, scope).flatMap(resolve);
  const search = (query: string, integration?: string) =>
    findAll(query, { kind: "action", ...(integration !== undefined && { integration }) }).flatMap((found) =>
      found.kind === "action" ? [found.entry] : [],
    );

  return {
    integrations,
    entries,
    find: (toolName) => byName.get(toolName),
    ...lookUp,
    search,
    searchAll: (query) => findAll(query, {}),
    searchIntegrations(query) {
      const ranked = findAll(query, { kind: "integration" }).flatMap((found) =>
        found.kind === "integration" ? [found.integration] : [],
      );
      const part = query.trim().toLowerCase();
      const named = integrations.filter(({ slug, name }) => `${slug}\n${name.toLowerCase()}`.includes(part));
      return [...new Set([...ranked, ...named])];
    },
    suggest(toolName, integration) {
      const found = search(toolName, integration);
      const isRead = (entry: CatalogEntry) => entry.action.level === "read";
      return [...found.filter(isRead), ...found.filter((entry) => !isRead(entry))].slice(0, MAX_SUGGESTIONS);
    },
  };
}

function createLookUp(
  integrations: readonly Integration[],
  entries: readonly CatalogEntry[],
): Pick<Catalog, "findIntegration" | "findAction"> {
  const bySlug = firstOfEach(integrations.map((integration) => [loosen(integration.slug), integration]));
  const byAction = firstOfEach(
    entries.flatMap((entry): [string, CatalogEntry][] => {
      const { slug } = entry.integration;
      return [entry.action.id, entry.toolName].map((name) => [`${slug}\n${loosen(name)}`, entry]);
    }),
  );
  const findIntegration = (id: string) => bySlug.get(loosen(id));
  return {
    findIntegration,
    findAction(integrationId, actionId) {
      const integration = findIntegration(integrationId);
      if (integration === undefined) return undefined;
      const { slug } = integration;
      const exact = entries.find(
        (entry) => entry.integration.slug === slug && (entry.action.id === actionId || entry.toolName === actionId),
      );
      return exact ?? byAction.get(`${slug}\n${loosen(actionId)}`);
    },
  };
}

/** When two names loosen to the same text, the first one keeps it. */
function firstOfEach<T>(pairs: readonly [string, T][]): Map<string, T> {
  return new Map([...pairs].reverse());
}

function loosen(name: string): string {
  return name.toLowerCase().replaceAll(/[-_\s]+/g, "");
}

/** Plain code point order: the same on every machine, whatever its locale. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
