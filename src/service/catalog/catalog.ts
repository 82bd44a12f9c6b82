import type { Integration } from "../../apps/port/integration.ts";
import type { CatalogEntry } from "./catalog-entry.ts";
import { type CatalogFind, createSearchIndex, type SearchScope } from "./search-index.ts";

/** What the service can do, in the documented order: by integration, then by name. */
export interface Catalog {
  /** By slug. */
  readonly integrations: readonly Integration[];
  readonly entries: readonly CatalogEntry[];
  /** With those that lists and searches leave out. */
  readonly all: readonly CatalogEntry[];
  /** Those of one integration, by its slug. */
  listEntries(slug: string): readonly CatalogEntry[];
  /** By full tool name, exactly. */
  find(toolName: string): CatalogEntry | undefined;
  /**
   * By slug. Upper case, hyphens, underscores and spaces make no difference for an id that nothing has exactly, unless it
   * could mean several.
   */
  findIntegration(integrationId: string): Integration | undefined;
  /** By action id or full tool name of an integration, as loosely as {@link Catalog.findIntegration}. */
  findAction(integrationId: string, actionId: string): CatalogEntry | undefined;
  /** Up to three tools close to a name that does not exist, reads before everything else; of one integration when named. */
  suggest(toolName: string, integration?: string): CatalogEntry[];
  /** Entries by relevance; ties by name. */
  search(query: string, integration?: string, connected?: ReadonlySet<string>): CatalogEntry[];
  /** Integrations by relevance; a part of a name or slug is enough. */
  searchIntegrations(query: string): Integration[];
  /** Everything that fits the words, actions and integrations, by relevance. */
  searchAll(query: string, scope?: SearchScope): CatalogFind[];
}

/** Builds the catalog of these integrations. */
export function createCatalog(installed: readonly Integration[]): Catalog {
  const integrations = [...installed].sort((a, b) => compare(a.slug, b.slug));
  const entries = integrations
    .flatMap((integration) =>
      integration.actions.map((action) => ({ toolName: `${integration.slug}_${action.id}`, integration, action })),
    )
    .sort((a, b) => compare(a.integration.slug, b.integration.slug) || compare(a.toolName, b.toolName));
  return indexCatalog(integrations, entries);
}

/** A part of a catalog with less than one in so many of its entries has a search index of its own. */
const SHARES_FROM = 8;

/**
 * Builds the catalog of some entries of another, which may differ from the entries there, in its order. A large part
 * searches by the index of the whole, of which there is one however many parts are kept.
 */
export function selectCatalog(
  whole: Catalog,
  integrations: readonly Integration[],
  entries: readonly CatalogEntry[],
): Catalog {
  const isLarge = entries.length * SHARES_FROM >= whole.all.length;
  return indexCatalog(integrations, entries, isLarge ? whole.searchAll : undefined);
}

/** Its search index, and what finds names that nothing has exactly, are made when they are first needed. */
function indexCatalog(
  integrations: readonly Integration[],
  all: readonly CatalogEntry[],
  searchWhole?: Catalog["searchAll"],
): Catalog {
  const byName = new Map(all.map((entry) => [entry.toolName, entry]));
  const entries = all.filter(({ action }) => action.isHidden !== true);
  if (byName.size !== all.length) throw new TypeError("Two actions share one tool name.");
  const bySlug = Map.groupBy(entries, (entry) => entry.integration.slug);
  const listEntries = (slug: string) => bySlug.get(slug) ?? [];
  const apps = new Map(integrations.map((integration) => [integration.slug, integration]));
  const findOwn = (found: CatalogFind): CatalogFind[] => {
    if (found.kind === "integration") return apps.has(found.integration.slug) ? [found] : [];
    const entry = byName.get(found.entry.toolName);
    return entry === undefined ? [] : [{ kind: "action", entry }];
  };
  const openIndex = once(() => createSearchIndex(integrations, entries));
  const search: Catalog["searchAll"] = (query, scope) =>
    searchWhole === undefined ? openIndex()(query, scope) : searchWhole(query, scope).flatMap(findOwn);
  const openSuggest = once(() => createSuggest(entries, searchActions));

  const searchActions: Catalog["search"] = (query, integration, connected) =>
    search(query, {
      kind: "action",
      ...(integration !== undefined && { integration }),
      ...(connected !== undefined && { connected }),
    }).flatMap((found) => (found.kind === "action" ? [found.entry] : []));

  return {
    integrations,
    entries,
    all,
    listEntries,
    find: (toolName) => byName.get(toolName),
    ...createLookUp(integrations, all),
    search: searchActions,
    searchAll: search,
    searchIntegrations(query) {
      const ranked = search(query, { kind: "integration" }).flatMap((found) =>
        found.kind === "integration" ? [found.integration] : [],
      );
      const part = query.trim().toLowerCase();
      const named = integrations.filter(({ slug, name }) => `${slug}\n${name.toLowerCase()}`.includes(part));
      return [...new Set([...ranked, ...named])];
    },
    suggest: (asked, integration) => openSuggest()(asked, integration),
  };
}

function createLookUp(
  integrations: readonly Integration[],
  all: readonly CatalogEntry[],
): Pick<Catalog, "findIntegration" | "findAction"> {
  const findIntegration = createFind(integrations.map((integration) => [integration.slug, integration]));
  const bySlug = Map.groupBy(all, (entry) => entry.integration.slug);
  const nameActions = (slug: string) =>
    (bySlug.get(slug) ?? []).flatMap((entry) =>
      [entry.action.id, entry.toolName].map((name) => [name, entry] as const),
    );
  const byIntegration = new Map(integrations.map(({ slug }) => [slug, once(() => createFind(nameActions(slug)))]));
  return {
    findIntegration,
    findAction(integrationId, actionId) {
      const integration = findIntegration(integrationId);
      return integration && byIntegration.get(integration.slug)?.()(actionId);
    },
  };
}

/** Finds by the exact name; by a looser spelling only where one thing alone is meant. */
function createFind<T>(named: readonly (readonly [string, T])[]): (name: string) => T | undefined {
  const exact = new Map([...named].reverse());
  const loose = new Map<string, Set<T>>();
  for (const [name, thing] of named) {
    const key = loosen(name);
    loose.set(key, (loose.get(key) ?? new Set()).add(thing));
  }
  return (name) => {
    const known = exact.get(name);
    if (known !== undefined) return known;
    const [only, ...others] = loose.get(loosen(name)) ?? [];
    return others.length === 0 ? only : undefined;
  };
}

/** Makes something when it is first asked for. */
function once<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** Plain code point order: the same on every machine, whatever its locale. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A catalog whose integrations can change while the service runs; it begins with those the service starts with. */
export function createLiveCatalog(installed: readonly Integration[]) {
  const catalog = createCatalog(installed);
  return {
    /** Always answers from one whole state; hold on to this object, not to what it returns. */
    catalog,
    /** Puts these integrations in the place of all others. Throws TypeError when two actions share one tool name. */
    replace(next: readonly Integration[]): void {
      Object.assign(catalog, createCatalog(next));
    },
  };
}

/** Names that differ only in upper case, hyphens, underscores and spaces become equal. */
function loosen(name: string): string {
  return name.toLowerCase().replaceAll(/[-_\s]+/g, "");
}

const MAX_SUGGESTIONS = 3;
/** Longest name that is compared letter by letter. */
const MAX_CHARS = 128;

/**
 * Up to three tools close to a name that does not exist, reads before everything else. A name with a few wrong letters is
 * closer than one that shares words.
 *
 * @param search tools that share words with a name, best first
 */
function createSuggest(
  entries: readonly CatalogEntry[],
  search: (toolName: string, integration?: string) => readonly CatalogEntry[],
): (asked: string, integration?: string) => CatalogEntry[] {
  const names = entries.flatMap((entry) =>
    [entry.toolName, entry.action.id].map((name) => ({ entry, name: loosen(name), isWhole: name === entry.toolName })),
  );
  return (asked, integration) => {
    const wanted = loosen(asked.slice(0, MAX_CHARS + 1));
    const most = wanted.length > MAX_CHARS ? 0 : Math.min(3, Math.floor(wanted.length / 4));
    const near = names
      // An action's own id says enough only where its app is known.
      .filter(({ entry, isWhole }) => (integration === undefined ? isWhole : entry.integration.slug === integration))
      .map(({ entry, name }) => ({ entry, distance: countEdits(wanted, name, most) }))
      .filter(({ distance }) => distance <= most)
      .sort((a, b) => a.distance - b.distance)
      .map(({ entry }) => entry);
    const nearest = [...new Set([...near, ...search(asked, integration)])].slice(0, MAX_SUGGESTIONS);
    const isRead = (entry: CatalogEntry) => entry.action.level === "read";
    return [...nearest.filter(isRead), ...nearest.filter((entry) => !isRead(entry))];
  };
}

/** Letters to change, add or leave out between two names; names whose lengths alone differ by more are `most + 1` apart. */
function countEdits(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  // One row of the table after another.
  const row = Uint8Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    let replaced = row[0] ?? 0;
    row[0] = i;
    for (let j = 1; j <= b.length; j += 1) {
      const above = row[j] ?? 0;
      row[j] = Math.min(replaced + (a[i - 1] === b[j - 1] ? 0 : 1), above + 1, (row[j - 1] ?? 0) + 1);
      replaced = above;
    }
  }
  return row[b.length] ?? most + 1;
}
