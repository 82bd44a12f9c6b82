import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { hasCode, replaceFile } from "../../base/disk.ts";
import { sha256Hex } from "../../base/hash.ts";
import { parseJson } from "../../base/json.ts";
import { sideEffectLevelSchema } from "../../wire/catalog.ts";
import { jsonSchemaSchema } from "../../wire/tool.ts";
import type { CatalogEntry } from "./catalog-entry.ts";
import type { OmittedTools } from "./fetch-tools.ts";

const entrySchema = z.object({
  name: z.string().min(1),
  integration: z.string(),
  title: z.string(),
  description: z.string(),
  effect: z.union([sideEffectLevelSchema, z.literal("unknown")]),
  needsConfirmation: z.boolean().optional(),
  inputSchema: jsonSchemaSchema.nullable(),
  schemaHash: z.string().optional(),
  connections: z.array(z.object({ id: z.string(), label: z.string(), isDefault: z.literal(true).exactOptional() })),
  askBefore: z.array(z.string()),
  policyReason: z.string().optional(),
  keys: z.object({ keptMs: z.number(), namesAccount: z.boolean(), canLookUp: z.boolean() }).optional(),
});
const cacheSchema = z.object({
  version: z.literal(1),
  principal: z.string(),
  listed: z.object({ integrations: z.array(z.string()).nullable(), syncedAt: z.number() }).optional(),
  hash: z.string(),
  omitted: z.array(z.object({ integration: z.string().nullable(), count: z.number() })).default([]),
  tools: z.array(entrySchema),
});

const TOOLS_MEMBER = ',"tools":';

interface CachedCatalog {
  /** Undefined while only single tools have been described. */
  readonly listed: ListedApps | undefined;
  readonly tools: readonly CatalogEntry[];
  /** Tools the lists did not show. */
  readonly omitted: readonly OmittedTools[];
}

/** Result of {@link CatalogCache.read}: `damaged` says why the file cannot be used. */
type CacheReading =
  | { readonly kind: "found"; readonly catalog: CachedCatalog }
  | { readonly kind: "missing" }
  | { readonly kind: "damaged"; readonly reason: string };

export interface CatalogCache {
  /** Reads the file and checks its content hash, so that a torn or edited file is never used. */
  read(): Promise<CacheReading>;
  /**
   * Atomically replaces the file with the result of `take`, called when the write starts. Saves are coalesced: later
   * saves join one that is still queued. A failed write only costs a sync next time.
   */
  save(take: () => CachedCatalog): void;
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
        await writeCache(file, principal, take());
      };
      saving = saving.then(write).catch(() => undefined);
    },
    settle: () => saving,
  };
}

async function readCache(file: string, principal: string): Promise<CacheReading> {
  const damaged = (what: string): CacheReading => ({ kind: "damaged", reason: `the cached tool list ${what}` });
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    return hasCode(error, "ENOENT") ? { kind: "missing" } : damaged("cannot be read");
  }
  const value = parseJson(text);
  if (value === undefined) return damaged("is not JSON");
  const parsed = cacheSchema.safeParse(value);
  if (!parsed.success) return damaged("has another form");
  const { tools, hash, listed, omitted } = parsed.data;
  if (parsed.data.principal !== principal) return damaged("is another account's");
  if (sha256Hex(cutTools(text)) !== hash) return damaged("does not match its hash");
  return { kind: "found", catalog: { listed, omitted, tools } };
}

async function writeCache(file: string, principal: string, catalog: CachedCatalog): Promise<void> {
  const { listed, omitted, tools } = catalog;
  const list = JSON.stringify(tools);
  const head = JSON.stringify({ version: 1, principal, listed, hash: sha256Hex(list), omitted });
  await replaceFile(file, `${head.slice(0, -1)}${TOOLS_MEMBER}${list}}\n`);
}

/** The list's text in the file, where it is the last member. Text inside JSON strings cannot look like its name. */
function cutTools(text: string): string {
  return text.slice(text.indexOf(TOOLS_MEMBER) + TOOLS_MEMBER.length, text.lastIndexOf("}"));
}

/** The apps whose tool lists were read, and when. */
export interface ListedApps {
  /** Null for all. */
  readonly integrations: readonly string[] | null;
  /** Milliseconds since the epoch; of the oldest of several lists. */
  readonly syncedAt: number;
}

/** A younger list is used unchanged; an older one is used while a new one is fetched. */
const FRESH_MS = 6 * 60 * 60 * 1_000;

export function isFresh({ syncedAt }: ListedApps, now: number): boolean {
  return now - syncedAt < FRESH_MS;
}

/** Whether a list names the tools of all `wanted` apps; undefined stands for every app there is. */
export function coversApps({ integrations }: ListedApps, wanted: readonly string[] | undefined): boolean {
  if (integrations === null) return true;
  return wanted?.every((slug) => integrations.includes(slug)) ?? false;
}

/** The known lists after those of the `read` apps (undefined: all) arrive; fresh lists of other apps are kept. */
export function addListed(
  before: ListedApps | undefined,
  read: readonly string[] | undefined,
  now: number,
): ListedApps {
  if (before === undefined || read === undefined || !isFresh(before, now))
    return { integrations: read ?? null, syncedAt: now };
  if (before.integrations === null) return before;
  const integrations = [...new Set([...before.integrations, ...read])];
  return { integrations, syncedAt: integrations.length === new Set(read).size ? now : before.syncedAt };
}
