import { z } from "zod";
import { isRecord } from "../../shared/base/json.ts";
import { toPlainText } from "../../shared/card/plain-text.ts";
import type { JsonSchema } from "../../shared/wire/tool.ts";
import { type ProjectedSchema, type SchemaProfile, writeToolSchema } from "../schema/project/project-schema.ts";

/** To be raised whenever a schema may be shown in another way than before: older projections are then made anew. */
export const PROJECTION_VERSION = 2;

const factsSchema = z.object({
  renamed: z.array(
    z.object({
      path: z.array(z.union([z.string(), z.object({ anyBut: z.array(z.string()) })])),
      original: z.string(),
      shown: z.string(),
    }),
  ),
  notes: z.array(z.string()),
});

/** What a model is shown of a tool's schema, kept as text: most readers want a copy of their own, or none. */
export class EntryProjection implements ProjectedSchema {
  /** JSON text of the schema. */
  readonly text: string;
  /** JSON text of the other members. */
  readonly facts: string;
  #read: z.infer<typeof factsSchema> | undefined;
  #schema: JsonSchema | undefined;

  constructor(text: string, facts: string) {
    this.text = text;
    this.facts = facts;
  }

  /** The schema, read once; not to be changed. */
  get schema(): JsonSchema {
    this.#schema ??= JSON.parse(this.text) as JsonSchema;
    return this.#schema;
  }

  get renamed(): ProjectedSchema["renamed"] {
    return this.#readFacts().renamed;
  }

  get notes(): string[] {
    return this.#readFacts().notes;
  }

  #readFacts() {
    this.#read ??= factsSchema.parse(JSON.parse(this.facts));
    return this.#read;
  }
}

/** What models are shown of one schema, by profile, as far as it was asked for. */
export class ShownSchemas {
  readonly #projections = new Map<SchemaProfile, EntryProjection>();
  /** True when some were not among what was read. */
  hasNew = false;

  /** From the lines of {@link write}; those of another version are left out. */
  static read(text: string): ShownSchemas {
    const shown = new ShownSchemas();
    const lines = text.split("\n");
    for (let at = 0; at + 1 < lines.length; at += 2) {
      const [head = "", schema = ""] = [lines[at], lines[at + 1]];
      for (const profile of ["full", "gemini"] as const) {
        const start = `${PROJECTION_VERSION} ${profile} `;
        if (!head.startsWith(start)) continue;
        shown.#projections.set(profile, new EntryProjection(schema, head.slice(start.length)));
      }
    }
    return shown;
  }

  get(profile: SchemaProfile): EntryProjection | undefined {
    return this.#projections.get(profile);
  }

  add(profile: SchemaProfile, projection: EntryProjection): void {
    this.#projections.set(profile, projection);
    this.hasNew = true;
  }

  /** Lines of text, two for each projection. */
  write(): string[] {
    return [...this.#projections].flatMap(([profile, { text, facts }]) => [
      `${PROJECTION_VERSION} ${profile} ${facts}`,
      text,
    ]);
  }
}

/** Shown while a tool's schema is not known: any object is accepted and the service decides. */
const OPEN = new EntryProjection(
  '{"type":"object","properties":{},"additionalProperties":true}',
  '{"renamed":[],"notes":[]}',
);

interface DescribedTool {
  readonly inputSchema: JsonSchema | null;
  readonly shown?: ShownSchemas | undefined;
}

/** The projection of the tool's schema for a model, with the renamed keys; computed once per schema. */
export function projectEntry(entry: DescribedTool, profile: SchemaProfile): EntryProjection {
  const known = entry.shown?.get(profile);
  if (known !== undefined) return known;
  if (entry.inputSchema === null) return OPEN;
  const projection = project(entry.inputSchema, profile);
  entry.shown?.add(profile, projection);
  return projection;
}

function project(inputSchema: JsonSchema, profile: SchemaProfile): EntryProjection {
  const { schema, text, renamed, notes } = writeToolSchema(inputSchema, profile);
  const cleaned = SUSPECT.test(text) ? JSON.stringify(cleanSchema(schema)) : text;
  return new EntryProjection(cleaned, JSON.stringify({ renamed, notes }));
}

/** Finds whatever in JSON text could need cleaning: all but printable ASCII, line feeds and tabs. */
const SUSPECT = /[^ -~]|\\[^"\\nt]/;

/**
 * Removes control characters, direction marks and invisible letters from the texts of a projected schema: descriptions
 * show them as codes, defaults and examples that contain any are dropped. Names are already legal. Enum values stay
 * unchanged, because the model must be able to return them.
 */
function cleanSchema(schema: JsonSchema): JsonSchema {
  const entries = Object.entries(schema).filter(([keyword, value]) => !SAMPLES.has(keyword) || isPlain(value));
  const cleaned = entries.map(([keyword, value]) => [keyword, cleanValue(keyword, value)] as const);
  return Object.fromEntries(cleaned);
}

const TEXTS: ReadonlySet<string> = new Set(["title", "description"]);
const SAMPLES: ReadonlySet<string> = new Set(["default", "examples"]);
const CHOICES: ReadonlySet<string> = new Set(["enum", "const"]);

function cleanValue(keyword: string, value: unknown): unknown {
  if (TEXTS.has(keyword) && typeof value === "string") return toPlainText(value, { keepLines: true });
  if (CHOICES.has(keyword)) return value;
  if (Array.isArray(value)) return value.map((branch: unknown) => (isRecord(branch) ? cleanSchema(branch) : branch));
  if (!isRecord(value)) return value;
  if (keyword !== "properties") return cleanSchema(value);
  return Object.fromEntries(
    Object.entries(value).map(([name, node]) => [name, isRecord(node) ? cleanSchema(node) : node]),
  );
}

function isPlain(value: unknown): boolean {
  if (typeof value === "string") return toPlainText(value, { keepLines: true }) === value;
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(([name, part]) => isPlain(name) && isPlain(part));
}
