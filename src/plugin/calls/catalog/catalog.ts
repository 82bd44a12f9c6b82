import type { ToolSearchQuery } from "../../../shared/wire/tool.ts";
import type { SvcClient } from "../../client/client.ts";
import type { SchemaChange, SessionEvent } from "../session-events.ts";
import { type CatalogCache, openCatalogCache } from "./catalog-cache.ts";
import { type CatalogEntry, compareSchemas, mustAskFirst, readCatalogEntry, suggestTools } from "./catalog-entry.ts";
import { type FetchToolsOptions, fetchDescription, fetchTools, mergeList, type OmittedTools } from "./fetch-tools.ts";
import { KnownTools } from "./known-tools.ts";
import { addListed, coversApps, isFresh, type ListedApps } from "./listed-apps.ts";
import type { ToolHead } from "./stored-tools.ts";

/** Settings of {@link createCatalog}. */
export interface CatalogOptions {
  readonly client: SvcClient;
  /** Folder of the disk cache, one file per principal; without it the catalogue lives in memory. */
  readonly cacheDir?: string | undefined;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** Called at once, and not awaited. Default: events are dropped. */
  readonly onEvent?: ((event: SessionEvent) => void) | undefined;
}

/** Size and age of the catalogue. */
export interface SyncReport {
  readonly tools: number;
  /** Number of apps that the tools are of. */
  readonly integrations: number;
  /** Tools the lists did not show and nothing else has found so far; reachable by search. */
  readonly omitted: readonly OmittedTools[];
  /** Milliseconds since the epoch; of the oldest list that is still used. */
  readonly syncedAt: number;
}

/** The user's tools, as far as this session knows them. */
export interface ToolCatalog {
  /** True when the program limits its model to some tools; the others are absent here. */
  readonly isLimited: boolean;
  /** Fetches the list; per integration when one page does not hold everything. Throws SvcError. */
  sync(options?: FetchToolsOptions): Promise<SyncReport>;
  /**
   * Uses the cache if it has the list of these apps, and refreshes a list older than 6 hours in the background;
   * otherwise syncs.
   */
  load(options?: FetchToolsOptions): Promise<SyncReport>;
  /** Known tools by integration, then name. Reads all of the cache: {@link heads} is quicker. */
  list(): readonly CatalogEntry[];
  /** The same tools in the same order, by what they are found by. */
  readonly heads: readonly ToolHead[];
  readonly size: number;
  /** A known tool, described or not. Sends no request. */
  peek(name: string): CatalogEntry | undefined;
  /** A tool with its schema, described on first use; undefined when the service does not know it. */
  find(name: string): Promise<CatalogEntry | undefined>;
  /** Describes again; `change` tells what is different. */
  refresh(name: string): Promise<{ entry: CatalogEntry | undefined; change?: SchemaChange }>;
  /** Up to three tools with close names, reads first. Never run them without asking. */
  suggest(name: string): CatalogEntry[];
  /** Searches on the service; hits become known tools. */
  search(query: ToolSearchQuery, signal?: AbortSignal): Promise<CatalogEntry[]>;
  readonly report: SyncReport | undefined;
  /** Ends background work and writes the cache. */
  close(): Promise<void>;
}

/** Creates the catalogue of `client`'s principal. Nothing is read or sent before the first call. */
export function createCatalog(options: CatalogOptions): ToolCatalog {
  return new Catalog(options);
}

class Catalog implements ToolCatalog {
  readonly isLimited = false;
  report: SyncReport | undefined;
  readonly #client: SvcClient;
  readonly #cache: CatalogCache | undefined;
  readonly #now: () => number;
  readonly #emit: (event: SessionEvent) => void;
  readonly #entries = new KnownTools();
  #listed: ListedApps | undefined;
  /** Tools described in this session. A cached description is used and refreshed in the background. */
  readonly #checked = new Set<string>();
  readonly #describing = new Map<string, Promise<CatalogEntry | undefined>>();
  readonly #background = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();

  constructor(options: CatalogOptions) {
    const { client, cacheDir } = options;
    this.#client = client;
    this.#cache = cacheDir === undefined ? undefined : openCatalogCache(cacheDir, client.principal);
    this.#now = options.now ?? Date.now;
    this.#emit = options.onEvent ?? (() => undefined);
  }

  async sync(options: FetchToolsOptions = {}): Promise<SyncReport> {
    const onProgress = (progress: { integration: string | null; tools: number }) => {
      this.#emit({ type: "sync_progress", ...progress });
      options.onProgress?.(progress);
    };
    const fetched = await fetchTools(this.#client, { ...options, onProgress });
    const listed = fetched.tools.flatMap((tool) => readCatalogEntry(tool, "list") ?? []);
    const scope = { integrations: options.integrations, isComplete: fetched.omitted.length === 0 };
    mergeList(this.#entries, listed, scope);
    for (const omitted of fetched.omitted) this.#emit({ type: "tools_omitted", ...omitted });
    const before = this.#listed;
    this.#listed = addListed(before, options.integrations, this.#now());
    const isOther = ({ integration }: OmittedTools) => !(integration && options.integrations?.includes(integration));
    const kept = this.#listed.syncedAt === before?.syncedAt ? (this.report?.omitted.filter(isOther) ?? []) : [];
    const integrations = new Set(this.heads.map(({ integration }) => integration)).size;
    const names = new Set(listed.map(({ name }) => name));
    const omitted = fetched.omitted.map((one) => this.#leaveOutKnown(one, names));
    this.report = this.#createReport([...kept, ...omitted], integrations);
    this.#save();
    return this.report;
  }

  /** Tools that a search found before are known, whatever the lists omit. */
  #leaveOutKnown({ integration, count }: OmittedTools, listed: ReadonlySet<string>): OmittedTools {
    const found = this.heads.filter((head) => head.integration === integration && !listed.has(head.name)).length;
    return { integration, count: Math.max(0, count - found) };
  }

  /** Adds a tool that no list has shown, so that known and omitted tools stay as many as there are. */
  #addFound(entry: CatalogEntry): void {
    this.#entries.set(entry);
    if (this.report === undefined) return;
    const omitted = this.report.omitted.map((one) =>
      one.integration === entry.integration ? { ...one, count: Math.max(0, one.count - 1) } : one,
    );
    this.report = { ...this.report, tools: this.#entries.size, omitted };
  }

  async load(options: FetchToolsOptions = {}): Promise<SyncReport> {
    if (this.#cache === undefined) return this.sync(options);
    const reading = await this.#cache.read();
    if (reading.kind === "damaged") this.#emit({ type: "cache_rebuilt", reason: reading.reason });
    if (reading.kind !== "found" || reading.tools.size === 0) return this.sync(options);
    const { omitted, listed, integrations } = reading.lists;
    this.#entries.addStored(reading.tools);
    this.#listed = listed;
    // Undefined when it was written before any list was read: descriptions only.
    if (listed !== undefined) this.report = this.#createReport(omitted, integrations);
    if (listed === undefined || this.report === undefined || !coversApps(listed, options.integrations))
      return this.sync(options);
    if (!isFresh(listed, this.#now())) this.#inBackground(this.sync({ ...options, signal: this.#closing.signal }));
    return this.report;
  }

  get size(): number {
    return this.#entries.size;
  }

  list(): readonly CatalogEntry[] {
    return this.heads.flatMap(({ name }) => this.#entries.get(name) ?? []);
  }

  get heads(): readonly ToolHead[] {
    return this.#entries.heads;
  }

  peek(name: string): CatalogEntry | undefined {
    return this.#entries.get(name);
  }

  async find(name: string): Promise<CatalogEntry | undefined> {
    const known = this.#entries.get(name);
    if (known?.schemaHash === undefined) return this.#describe(name);
    if (!this.#checked.has(name)) this.#inBackground(this.refresh(name));
    return known;
  }

  async refresh(name: string): Promise<{ entry: CatalogEntry | undefined; change?: SchemaChange }> {
    const before = this.#entries.get(name);
    const entry = await this.#describe(name);
    if (before?.schemaHash === undefined || entry?.schemaHash === undefined) return { entry };
    if (before.schemaHash === entry.schemaHash) return { entry };
    const lines = compareSchemas(before.inputSchema, entry.inputSchema);
    const change: SchemaChange = { tool: name, effect: entry.effect, lines };
    if (mustAskFirst(entry)) this.#emit({ type: "schema_changed", change });
    return { entry, change };
  }

  suggest(name: string): CatalogEntry[] {
    return suggestTools(this.heads, name).flatMap((head) => this.peek(head.name) ?? []);
  }

  async search(query: ToolSearchQuery, signal?: AbortSignal): Promise<CatalogEntry[]> {
    const answer = await this.#client.searchTools(query, { signal });
    const found = answer.tools.flatMap((tool) => readCatalogEntry(tool, "list") ?? []);
    for (const entry of found) if (!this.#entries.has(entry.name)) this.#addFound(entry);
    return found.map((entry) => this.#entries.get(entry.name) ?? entry);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#background);
    if (this.#entries.hasNewlyShown) this.#save();
    await this.#cache?.settle();
  }

  /** One request per tool at a time, shared by all callers. */
  #describe(name: string): Promise<CatalogEntry | undefined> {
    const running = this.#describing.get(name);
    if (running !== undefined) return running;
    const request = this.#readDescription(name).finally(() => this.#describing.delete(name));
    this.#describing.set(name, request);
    return request;
  }

  async #readDescription(name: string): Promise<CatalogEntry | undefined> {
    const listed = this.#entries.get(name);
    const entry = await fetchDescription(this.#client, { name, listed }, { signal: this.#closing.signal });
    // A listed tool without a description may still be called: its app may just not be connected.
    if (entry === undefined) return listed;
    const isSame = listed?.schemaHash !== undefined && listed.schemaHash === entry.schemaHash;
    const kept = isSame ? { ...entry, shown: listed.shown } : entry;
    if (listed === undefined) this.#addFound(kept);
    else this.#entries.set(kept);
    this.#checked.add(name);
    this.#save();
    return kept;
  }

  #createReport(omitted: readonly OmittedTools[], integrations: number): SyncReport {
    return { tools: this.#entries.size, integrations, omitted, syncedAt: this.#listed?.syncedAt ?? this.#now() };
  }

  #inBackground(work: Promise<unknown>): void {
    const settled = work.catch(() => undefined).finally(() => this.#background.delete(settled));
    this.#background.add(settled);
  }

  #save(): void {
    this.#cache?.save(() => {
      const integrations = new Set(this.heads.map(({ integration }) => integration)).size;
      const lists = { listed: this.#listed, omitted: this.report?.omitted ?? [], integrations };
      return { lists, tools: this.#entries };
    });
  }
}
