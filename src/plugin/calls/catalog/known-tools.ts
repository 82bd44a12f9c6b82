import type { CatalogEntry } from "./catalog-entry.ts";
import { type StoredTools, type ToolHead, writeRecord, writeTools } from "./stored-tools.ts";

/** A tool that was read from the cache. */
interface ReadTool {
  readonly entry: CatalogEntry;
  readonly place: number;
}

/** Tools by name: those of the cache, read out of it when they are looked at, and those that have arrived since. */
export class KnownTools {
  #stored: StoredTools | undefined;
  readonly #read = new Map<string, ReadTool>();
  readonly #arrived = new Map<string, CatalogEntry>();
  readonly #gone = new Set<string>();
  #heads: readonly ToolHead[] | undefined;

  /** Adds the tools of the cache; those that have arrived stay as they are. */
  addStored(stored: StoredTools): void {
    this.#stored = stored;
    this.#read.clear();
    this.#gone.clear();
    this.#heads = undefined;
  }

  get size(): number {
    return this.#isStored ? (this.#stored?.size ?? 0) : this.heads.length;
  }

  /** True while the tools are those of the cache. */
  get #isStored(): boolean {
    return this.#arrived.size === 0 && this.#gone.size === 0;
  }

  /** By integration, then name. */
  get heads(): readonly ToolHead[] {
    this.#heads ??= this.#collectHeads();
    return this.#heads;
  }

  get(name: string): CatalogEntry | undefined {
    const known = this.#arrived.get(name) ?? this.#read.get(name)?.entry;
    if (known !== undefined) return known;
    const place = this.#findPlace(name);
    if (this.#stored === undefined || place === undefined) return undefined;
    const entry = this.#stored.readEntry(place);
    this.#read.set(name, { entry, place });
    return entry;
  }

  has(name: string): boolean {
    return this.#arrived.has(name) || this.#findPlace(name) !== undefined;
  }

  set(entry: CatalogEntry): void {
    this.#arrived.set(entry.name, entry);
    this.#read.delete(entry.name);
    this.#heads = undefined;
  }

  delete(name: string): void {
    this.#arrived.delete(name);
    this.#read.delete(name);
    this.#gone.add(name);
    this.#heads = undefined;
  }

  /** True when models were shown schemas that the cache does not hold yet in that form. */
  get hasNewlyShown(): boolean {
    const tools = [...this.#read.values(), ...[...this.#arrived.values()].map((entry) => ({ entry }))];
    return tools.some(({ entry }) => isNewlyShown(entry));
  }

  /** The tools as a cache holds them; what was not looked at is copied as it is. */
  write(): Buffer {
    const records = this.heads.map(({ name }) => {
      const arrived = this.#arrived.get(name);
      if (arrived !== undefined) return writeRecord(arrived);
      const read = this.#read.get(name);
      if (read !== undefined && isNewlyShown(read.entry)) return writeRecord(read.entry);
      const place = read?.place ?? this.#findPlace(name) ?? 0;
      return this.#stored?.getRecord(place) ?? new Uint8Array();
    });
    return writeTools(this.heads, records);
  }

  /** Where the cache has the tool, if it is not gone since. */
  #findPlace(name: string): number | undefined {
    return this.#gone.has(name) ? undefined : this.#stored?.find(name);
  }

  #collectHeads(): readonly ToolHead[] {
    const stored = this.#stored?.heads ?? [];
    // Written in this order.
    if (this.#isStored) return stored;
    const kept = stored.filter(({ name }) => !this.#gone.has(name) && !this.#arrived.has(name));
    return [...kept, ...this.#arrived.values()].sort(
      (a, b) => compare(a.integration, b.integration) || compare(a.name, b.name),
    );
  }
}

function isNewlyShown({ shown }: CatalogEntry): boolean {
  return shown?.hasNew === true;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
