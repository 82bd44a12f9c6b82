import { readFileSync, statSync } from "node:fs";
import { z } from "zod";
import { SIDE_EFFECT_LEVELS } from "../wire/catalog.ts";
import type { CatalogEntry } from "./catalog-entry.ts";

const pinSchema = z.object({
  effect: z.enum([...SIDE_EFFECT_LEVELS, "unknown"]),
  schemaHash: z.string().optional(),
});
const fileSchema = z.object({
  version: z.literal(1),
  /** Base URL. */
  service: z.string(),
  pinnedAt: z.string(),
  tools: z.record(z.string(), pinSchema),
});

/** What `tools.lock.json` holds. */
export type PinFile = z.infer<typeof fileSchema>;

/** What a look at the file found: `damaged` says in a sentence why the file does not count. */
export type PinReading =
  | { readonly kind: "found"; readonly tools: PinFile["tools"] }
  | { readonly kind: "missing" }
  | { readonly kind: "damaged"; readonly reason: string };

const UNREADABLE = {
  kind: "damaged",
  reason: "The file of pinned tools cannot be read, so this tool counts as new.",
} as const;

/**
 * A function that reads the pins of `service` from a file, synchronously and without parsing a file that has not changed
 * since the last look (time, size, inode): what another process pinned counts at once.
 */
export function createPinReader(file: string, service: string): () => PinReading {
  let stamp: string | undefined;
  let reading: PinReading = { kind: "missing" };
  return () => {
    const current = readStamp(file);
    if (current === undefined || current !== stamp) {
      reading = current === undefined ? UNREADABLE : current === "" ? { kind: "missing" } : readPinFile(file, service);
      stamp = current;
    }
    return reading;
  };
}

/** Empty when there is no file; undefined when it cannot be looked at. */
function readStamp(file: string): string | undefined {
  try {
    const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
    return stats === undefined ? "" : `${stats.mtimeNs}:${stats.size}:${stats.ino}`;
  } catch {
    return undefined;
  }
}

function readPinFile(file: string, service: string): PinReading {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return { kind: "missing" };
    return UNREADABLE;
  }
  const parsed = fileSchema.safeParse(parseJson(text));
  if (!parsed.success) {
    return { kind: "damaged", reason: "The file of pinned tools is damaged, so this tool counts as new." };
  }
  if (parsed.data.service !== service) {
    return { kind: "damaged", reason: "The pinned tools are those of another service, so this tool counts as new." };
  }
  return { kind: "found", tools: parsed.data.tools };
}

/** A tool as the file holds it. */
export function toPin({ effect, schemaHash }: Pick<CatalogEntry, "effect" | "schemaHash">): PinFile["tools"][string] {
  return schemaHash === undefined ? { effect } : { effect, schemaHash };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
