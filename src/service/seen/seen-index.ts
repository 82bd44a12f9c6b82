import { keepNewest } from "../../shared/base/newest.ts";
import type { SeenSource } from "../../shared/seen/evidence.ts";
import { createDigestTable, DIGEST_BYTES } from "./digest-table.ts";
import { countDigests, type FoundRow, MAX_VALUES, type SeenKind, type SeenRows } from "./seen-rows.ts";

/** Keys whose values are in memory. */
const MAX_KEYS = 16;
/** After this time everything is read anew, so that what was forgotten in the store is forgotten here, in milliseconds. */
const FRESH_MS = 60 * 60 * 1000;
/** How much later than it says another process may have written a row, in milliseconds. */
const OVERLAP_MS = 60 * 1000;
/** A value that was seen longer ago is noted again when it is seen again, so that it is not forgotten meanwhile. */
const RENEW_MS = 3 * 24 * 60 * 60 * 1000;

/** The values that one key has seen. */
export interface SeenIndex {
  find(kind: SeenKind, digest: Uint8Array): SeenSource | undefined;
  /** True where it needs not be noted again. */
  isKept(kind: SeenKind, digest: Uint8Array): boolean;
  /** How many rows and values there are. */
  count(): number;
}

/** The values of all keys, as far as they are in memory. */
export type SeenIndexes = ReturnType<typeof createSeenIndexes>;

/** Creates the indexes of one process. They are read from the store when they are asked for, and kept up then. */
export function createSeenIndexes(rows: SeenRows, now: () => number) {
  const kept = new Map<string, LiveIndex>();
  return {
    /** As the store is now. */
    async read(apiKeyId: string): Promise<SeenIndex> {
      const known = kept.get(apiKeyId);
      if (known !== undefined && now() - known.madeAt > FRESH_MS) kept.delete(apiKeyId);
      const index = keepNewest(kept, apiKeyId, MAX_KEYS, () => createIndex(rows, apiKeyId, now));
      await index.catchUp();
      if (index.count() <= MAX_VALUES) return index;
      await rows.trim(apiKeyId);
      kept.delete(apiKeyId);
      return index;
    },
  };
}

interface LiveIndex extends SeenIndex {
  readonly madeAt: number;
  catchUp(): Promise<void>;
}

function createIndex(rows: SeenRows, apiKeyId: string, now: () => number): LiveIndex {
  const tables = { seen: createDigestTable(), own: createDigestTable(), carried: createDigestTable() };
  const found: { readonly row: Omit<FoundRow, "digests">; source?: SeenSource | undefined }[] = [];
  const known = new Map<string, true>();
  let newest = "";
  let values = 0;
  let running: Promise<void> | undefined;

  function add({ digests, ...row }: FoundRow): void {
    known.set(row.id, true);
    const at = found.push({ row }) - 1;
    const count = countDigests({ digests });
    for (let one = 0; one < count; one += 1) tables[row.kind].add(digests, one * DIGEST_BYTES, at);
    values += count;
    if (row.seen_at > newest) newest = row.seen_at;
  }

  async function load(): Promise<void> {
    const after = newest === "" ? "" : new Date(Date.parse(newest) - OVERLAP_MS).toISOString();
    for (const row of await rows.list(apiKeyId, after, known)) if (!known.has(row.id)) add(row);
  }

  return {
    madeAt: now(),
    async catchUp() {
      // One that began before the question may miss what was written since.
      await running?.catch(() => {});
      running ??= load().finally(() => {
        running = undefined;
      });
      await running;
    },
    find(kind, digest) {
      const entry = found[tables[kind].find(digest) ?? -1];
      if (entry === undefined) return undefined;
      entry.source ??= rows.openSource(entry.row);
      return entry.source;
    },
    isKept(kind, digest) {
      const entry = found[tables[kind].find(digest) ?? -1];
      return entry !== undefined && now() - Date.parse(entry.row.seen_at) < RENEW_MS;
    },
    count: () => values,
  };
}
