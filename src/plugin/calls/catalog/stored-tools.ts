import { z } from "zod";
import { parseJson } from "../../../shared/base/json.ts";
import { sideEffectLevelSchema } from "../../../shared/wire/catalog.ts";
import type { JsonSchema } from "../../../shared/wire/tool.ts";
import { ShownSchemas } from "../projection.ts";
import type { CatalogEntry } from "./catalog-entry.ts";

/** What a tool is found by. */
export type ToolHead = Pick<CatalogEntry, "name" | "integration" | "effect">;

const NO_HEAD: ToolHead = { name: "", integration: "", effect: "unknown" };

const effectSchema = z.union([sideEffectLevelSchema, z.literal("unknown")]);
/** First line: one list per member, in the order of the records, and the length in bytes of each record. */
const indexSchema = z.object({
  names: z.array(z.string()),
  integrations: z.array(z.string()),
  effects: z.array(effectSchema),
  lengths: z.array(z.number()),
});
/** First line of a record. The last is the schema, and those between are what models are shown of it. */
type StoredEntry = Omit<CatalogEntry, keyof ToolHead | "inputSchema" | "shown" | "ownerApproves">;

/**
 * Tools as a file holds them, each read when it is looked at. The caller has checked the hash of `content`: it is what
 * {@link writeTools} of this version of the file wrote, and records need no other check.
 */
export class StoredTools {
  readonly size: number;
  readonly #content: Buffer;
  #index: StoredIndex | undefined;

  constructor(content: Buffer, size: number) {
    this.#content = content;
    this.size = size;
  }

  /** In the order of the records. */
  get heads(): readonly ToolHead[] {
    return this.#readIndex().heads;
  }

  /** The place of a tool's record; undefined for an unknown name. */
  find(name: string): number | undefined {
    return this.#readIndex().places.get(name);
  }

  /** The bytes that {@link writeRecord} gave. */
  getRecord(place: number): Buffer {
    const { ends } = this.#readIndex();
    return this.#content.subarray(ends[place], ends[place + 1]);
  }

  /** Reads a tool; its schema, and what models are shown of it, only when they are looked at. */
  readEntry(place: number): CatalogEntry {
    const { name, integration, effect } = this.heads[place] ?? NO_HEAD;
    const record = this.getRecord(place);
    const lineEnd = record.indexOf("\n");
    const shownEnd = record.lastIndexOf("\n", record.length - 2);
    let schema: JsonSchema | null | undefined;
    let shown: ShownSchemas | undefined;
    return {
      name,
      integration,
      effect,
      ...(JSON.parse(record.toString("utf8", 0, lineEnd)) as StoredEntry),
      get inputSchema() {
        schema ??= JSON.parse(record.toString("utf8", shownEnd + 1)) as JsonSchema | null;
        return schema;
      },
      get shown() {
        shown ??= ShownSchemas.read(record.toString("utf8", lineEnd + 1, Math.max(lineEnd + 1, shownEnd)));
        return shown;
      },
    };
  }

  #readIndex(): StoredIndex {
    this.#index ??= readIndex(this.#content);
    return this.#index;
  }
}

interface StoredIndex {
  readonly heads: readonly ToolHead[];
  readonly places: ReadonlyMap<string, number>;
  /** Where each record begins, and where the last one ends. */
  readonly ends: Uint32Array;
}

function readIndex(content: Buffer): StoredIndex {
  let end = content.indexOf("\n") + 1;
  const { names, integrations, effects, lengths } = indexSchema.parse(parseJson(content.toString("utf8", 0, end)));
  const places = new Map<string, number>();
  const ends = new Uint32Array(names.length + 1);
  const heads = names.map((name, place) => {
    places.set(name, place);
    ends[place] = end;
    end += lengths[place] ?? 0;
    return { name, integration: integrations[place] ?? "", effect: effects[place] ?? "unknown" };
  });
  ends[names.length] = end;
  return { heads, places, ends };
}

/** The content that {@link StoredTools} reads. */
export function writeTools(heads: readonly ToolHead[], records: readonly Uint8Array[]): Buffer {
  const index = {
    names: heads.map(({ name }) => name),
    integrations: heads.map(({ integration }) => integration),
    effects: heads.map(({ effect }) => effect),
    lengths: records.map(({ length }) => length),
  };
  return Buffer.concat([Buffer.from(`${JSON.stringify(index)}\n`), ...records]);
}

/** A record for {@link writeTools}: lines of JSON, the last with the schema. */
export function writeRecord(entry: CatalogEntry): Buffer {
  const { title, description, needsConfirmation, schemaHash, connections, askBefore, policyReason, keys } = entry;
  const { callLevels, previews } = entry;
  const line: StoredEntry = {
    title,
    description,
    needsConfirmation,
    schemaHash,
    connections,
    askBefore,
    policyReason,
    keys,
    callLevels,
    previews,
  };
  const lines = [JSON.stringify(line), ...(entry.shown?.write() ?? []), JSON.stringify(entry.inputSchema)];
  return Buffer.from(`${lines.join("\n")}\n`);
}
