import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { replaceFile } from "../../../shared/base/disk.ts";
import { hasCode } from "../../../shared/base/error-code.ts";
import { sha256Hex } from "../../../shared/base/hash.ts";
import { parseJson } from "../../../shared/base/json.ts";
import type { OmittedTools } from "./fetch-tools.ts";
import type { KnownTools } from "./known-tools.ts";
import type { ListedApps } from "./listed-apps.ts";
import { StoredTools } from "./stored-tools.ts";

/** First line of the file. The other lines are of {@link StoredTools}. */
const headSchema = z.object({
  version: z.literal(2),
  principal: z.string(),
  listed: z.object({ integrations: z.array(z.string()).nullable(), syncedAt: z.number() }).optional(),
  omitted: z.array(z.object({ integration: z.string().nullable(), count: z.number() })),
  integrations: z.number(),
  tools: z.number(),
  /** SHA-256 of all that follows the first line. */
  hash: z.string(),
});

/** What is known of the lists that the tools came from. */
interface CatalogLists {
  /** Undefined while only single tools have been described. */
  readonly listed: ListedApps | undefined;
  /** Tools the lists did not show. */
  readonly omitted: readonly OmittedTools[];
  /** How many apps the tools are of. */
  readonly integrations: number;
}

/** Result of {@link CatalogCache.read}: `damaged` says why the file cannot be used. */
type CacheReading =
  | { readonly kind: "found"; readonly lists: CatalogLists; readonly tools: StoredTools }
  | { readonly kind: "missing" }
  | { readonly kind: "damaged"; readonly reason: string };

/** The cache of one principal's catalogue, a file. */
export interface CatalogCache {
  /**
   * Reads the file and checks its content hash, so that a torn or edited file is never used. No tool is read out of it
   * before somebody looks at it.
   */
  read(): Promise<CacheReading>;
  /**
   * Atomically replaces the file with the result of `take`, called when the write starts. Saves are coalesced: later
   * saves join one that is still queued. A failed write only costs a sync next time.
   */
  save(take: () => { readonly lists: CatalogLists; readonly tools: KnownTools }): void;
  /** Resolves when all saves so far are on disk or have failed. */
  settle(): Promise<void>;
}

/** Opens the cache of `principal`. Nothing is read or created before the first call. */
export function openCatalogCache(folder: string, principal: string): CatalogCache {
  const file = join(folder, `tools-${principal.replaceAll(/[^a-z0-9]/gi, "_")}.json`);
  let saving: Promise<void> = Promise.resolve();
  let isSaveQueued = false;
  return {
    read: () => readCache(file, principal),
    save(take) {
      if (isSaveQueued) return;
      isSaveQueued = true;
      const write = async () => {
        isSaveQueued = false;
        const { lists, tools } = take();
        const content = tools.write();
        const head = { version: 2, principal, ...lists, tools: tools.size, hash: sha256Hex(content) };
        await replaceFile(file, Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), content]));
      };
      saving = saving.then(write).catch(() => undefined);
    },
    settle: () => saving,
  };
}

async function readCache(file: string, principal: string): Promise<CacheReading> {
  const damaged = (what: string): CacheReading => ({ kind: "damaged", reason: `the cached tool list ${what}` });
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (error) {
    return hasCode(error, "ENOENT") ? { kind: "missing" } : damaged("cannot be read");
  }
  const end = bytes.indexOf("\n");
  const head = headSchema.safeParse(parseJson(bytes.toString("utf8", 0, end === -1 ? bytes.length : end)));
  if (!head.success) return damaged("has another form");
  const { hash, principal: owner, tools: count, listed, omitted, integrations } = head.data;
  if (owner !== principal) return damaged("is another account's");
  const content = bytes.subarray(end + 1);
  if (sha256Hex(content) !== hash) return damaged("does not match its hash");
  return { kind: "found", lists: { listed, omitted, integrations }, tools: new StoredTools(content, count) };
}
