import type { SvcClient } from "../client/client.ts";
import { isSvcError } from "../errors.ts";
import type { Tool } from "../wire/tool.ts";
import { readCatalogCache, writeCatalogCache } from "./catalog-cache.ts";
import { addActionDetail, type CatalogEntry, mustAskFirst, readCatalogEntry } from "./catalog-entry.ts";
import { compareSchemas } from "./compare-schemas.ts";
import { type FetchToolsOptions, fetchTools, type OmittedTools } from "./fetch-tools.ts";
import { addListed, coversApps, isFresh, type ListedApps } from "./listed-apps.ts";
import { fillGaps, keepDescription } from "./merge-entries.ts";
import type { SchemaChange, SessionEvent } from "./session-events.ts";
import { suggestTools } from "./suggest-tools.ts";

/** Settings of {@link createCatalog}. */
export interface CatalogOptions {
  readonly client: SvcClient;
  /** Folder of the disk cache, one file per principal; without it the catalogue lives in memory. */
  readonly cacheDir?: string | undefined;
  readonly now?: (() => number) | undefined;
  readonly onEvent?: ((event: SessionEvent) => void) | undefined;
}

/** What a sync found. */
export interface SyncReport {
  readonly tools: number;
  readonly integrations: number;
  /** Tools the lists did not show; reachable by search. */
  readonly omitted: readonly OmittedTools[];
  /** Milliseconds since the epoch; of the oldest list that is still used. */
  readonly syncedAt: number;
}

/** The tools of the user, as far as they are known here. */
export interface ToolCatalog {
  /** Fetches the list; per integration when one page does not hold everything. Throws SvcError. */
  sync(options?: FetchToolsOptions): Promise<SyncReport>;
  /**
   * Uses the cache when there is one that has the list of these apps, fetching a new list behind it when it is older than
   * 6 hours; else syncs.
   */
  load(options?: FetchToolsOptions): Promise<SyncReport>;
  /** Known tools by integration, then name. */
  list(): readonly CatalogEntry[];
  /** How many tools are known. */
  readonly size: number;
  /** A known tool, described or not, without a request. */
  peek(name: string): CatalogEntry | undefined;
  /** A tool with its schema, described on first use; undefined when the service does not know it. */
  find(name: string): Promise<CatalogEntry | undefined>;
  /** Describes again; `change` tells what is different. */
  refresh(name: string): Promise<{ entry: CatalogEntry | undefined; change?: SchemaChange }>;
  /** Up to three close names, reads first; never to be run without being asked for. */
  suggest(name: string): CatalogEntry[];
  /** Searches on the service; hits become known tools. */
  search(query: { query: string; integration?: string; limit?: number }, signal?: AbortSignal): Promise<CatalogEntry[]>;
  readonly report: SyncReport | undefined;
  /** Ends background work and writes the cache. */
  close(): Promise<void>;
}

/** Creates the catalogue of `client`'s principal. Nothing is read or sent before the first call. */
export function createCatalog(options: CatalogOptions): ToolCatalog {
  return new Catalog(options);
}

class Catalog implements ToolCatalog {
  report: SyncReport | undefined;
  readonly #client: SvcClient;
  readonly #cacheDir: string | undefined;
  readonly #now: () => number;
  readonly #emit: (event: SessionEvent) => void;
  readonly #entries = new Map<string, CatalogEntry>();
  /** Undefined until a list has been read. */
  #listed: ListedApps | undefined;
  /** Names whose description was read in this session; a cached one is used but read anew in the background. */
  readonly #checked = new Set<string>();
  readonly #describing = new Map<string, Promise<CatalogEntry | undefined>>();
  readonly #background = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();
  #saving: Promise<void> = Promise.resolve();
  #isSaveQueued = false;

  constructor(options: CatalogOptions) {
    this.#client = options.client;
    this.#cacheDir = options.cacheDir;
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
    this.#replace(listed, { integrations: options.integrations, isComplete: fetched.omitted.length === 0 });
    for (const omitted of fetched.omitted) this.#emit({ type: "tools_omitted", ...omitted });
    const before = this.#listed;
    this.#listed = addListed(before, options.integrations, this.#now());
    const isOther = ({ integration }: OmittedTools) => !(integration && options.integrations?.includes(integration));
    const kept = this.#listed.syncedAt === before?.syncedAt ? (this.report?.omitted.filter(isOther) ?? []) : [];
    this.report = this.#createReport([...kept, ...fetched.omitted], this.#listed.syncedAt);
    this.#save();
    return this.report;
  }

  async load(options: FetchToolsOptions = {}): Promise<SyncReport> {
    if (this.#cacheDir === undefined) return this.sync(options);
    const reading = await readCatalogCache(this.#cacheDir, this.#client.principal);
    if (reading.kind === "damaged") this.#emit({ type: "cache_rebuilt", reason: reading.reason });
    if (reading.kind !== "found" || reading.catalog.tools.length === 0) return this.sync(options);
    for (const entry of reading.catalog.tools) this.#entries.set(entry.name, entry);
    const { omitted, listed } = reading.catalog;
    this.#listed = listed;
    // Undefined when it was written before any list was read: descriptions only.
    if (listed !== undefined) this.report = this.#createReport(omitted, listed.syncedAt);
    if (listed === undefined || this.report === undefined || !coversApps(listed, options.integrations))
      return this.sync(options);
    if (!isFresh(listed, this.#now())) this.#inBackground(this.sync({ ...options, signal: this.#closing.signal }));
    return this.report;
  }

  get size(): number {
    return this.#entries.size;
  }

  list(): readonly CatalogEntry[] {
    return [...this.#entries.values()].sort((a, b) => compare(a.integration, b.integration) || compare(a.name, b.name));
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
    return suggestTools(this.#entries.values(), name);
  }

  async search(
    query: { query: string; integration?: string; limit?: number },
    signal?: AbortSignal,
  ): Promise<CatalogEntry[]> {
    const answer = await this.#client.searchTools(query, signal === undefined ? {} : { signal });
    const found = answer.tools.flatMap((tool) => readCatalogEntry(tool, "list") ?? []);
    for (const entry of found) if (!this.#entries.has(entry.name)) this.#entries.set(entry.name, entry);
    return found.map((entry) => this.#entries.get(entry.name) ?? entry);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#background);
    await this.#saving;
  }

  /** One request per tool at a time, shared by everybody who waits for it. */
  #describe(name: string): Promise<CatalogEntry | undefined> {
    const running = this.#describing.get(name);
    if (running !== undefined) return running;
    const request = this.#fetchDescription(name).finally(() => this.#describing.delete(name));
    this.#describing.set(name, request);
    return request;
  }

  async #fetchDescription(name: string): Promise<CatalogEntry | undefined> {
    const call = { signal: this.#closing.signal };
    const listed = this.#entries.get(name);
    let tool: Tool;
    try {
      tool = await this.#client.describeTool(name, call);
    } catch (error) {
      // A listed tool without a description may still be called: its app may just not be connected.
      if (isSvcError(error) && error.code === "service_failure" && error.status === 404) return listed;
      throw error;
    }
    const described = readCatalogEntry(tool, "describe");
    if (described === undefined || described.name !== name) return listed;
    const entry = await this.#complete(fillGaps(described, listed), call);
    this.#entries.set(name, entry);
    this.#checked.add(name);
    this.#save();
    return entry;
  }

  /** Asks the action detail for the effect when the description does not say it. */
  async #complete(entry: CatalogEntry, call: { signal?: AbortSignal }): Promise<CatalogEntry> {
    if (entry.effect !== "unknown" || entry.needsConfirmation !== undefined || entry.integration === "") return entry;
    try {
      return addActionDetail(entry, await this.#client.getAction(entry.integration, entry.name, call));
    } catch (error) {
      if (isSvcError(error) && error.code !== "aborted") return entry;
      throw error;
    }
  }

  /** New list entries, keeping the schemas that are known; tools that are gone go when the list is complete. */
  #replace(
    listed: readonly CatalogEntry[],
    scope: { integrations: readonly string[] | undefined; isComplete: boolean },
  ): void {
    const names = new Set(listed.map((entry) => entry.name));
    for (const [name, entry] of this.#entries) {
      const isInScope = scope.integrations === undefined || scope.integrations.includes(entry.integration);
      if (scope.isComplete && isInScope && !names.has(name)) this.#entries.delete(name);
    }
    for (const entry of listed) this.#entries.set(entry.name, keepDescription(entry, this.#entries.get(entry.name)));
  }

  #createReport(omitted: readonly OmittedTools[], syncedAt: number): SyncReport {
    const integrations = new Set([...this.#entries.values()].map((entry) => entry.integration));
    return { tools: this.#entries.size, integrations: integrations.size, omitted, syncedAt };
  }

  #inBackground(work: Promise<unknown>): void {
    const settled = work.catch(() => undefined).finally(() => this.#background.delete(settled));
    this.#background.add(settled);
  }

  /** Writes are coalesced: while one waits its turn, later changes go with it. */
  #save(): void {
    const folder = this.#cacheDir;
    if (folder === undefined || this.#isSaveQueued) return;
    this.#isSaveQueued = true;
    const write = async () => {
      this.#isSaveQueued = false;
      const catalog = { listed: this.#listed, omitted: this.report?.omitted ?? [], tools: this.list() };
      await writeCatalogCache(folder, this.#client.principal, catalog);
    };
    // A cache that cannot be written costs a sync next time and nothing else.
    this.#saving = this.#saving.then(write).catch(() => undefined);
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
