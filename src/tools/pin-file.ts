import { readFile } from "node:fs/promises";
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

/** Result of {@link readPinFile}: `damaged` says in a sentence why the file does not count. */
export type PinReading =
  | { readonly kind: "found"; readonly tools: PinFile["tools"] }
  | { readonly kind: "missing" }
  | { readonly kind: "damaged"; readonly reason: string };

/** Reads the pins of `service` from a file. */
export async function readPinFile(file: string, service: string): Promise<PinReading> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return { kind: "missing" };
    return { kind: "damaged", reason: "The file of pinned tools cannot be read, so this tool counts as new." };
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
