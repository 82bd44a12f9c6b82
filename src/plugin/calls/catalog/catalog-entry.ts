import { sha256Hex } from "../../../shared/base/hash.ts";
import { isRecord } from "../../../shared/base/json.ts";
import { callLevelsSchema, type LevelCondition } from "../../../shared/wire/call-level.ts";
import { type ActionDetail, SIDE_EFFECT_LEVELS } from "../../../shared/wire/catalog.ts";
import type { JsonSchema, Tool } from "../../../shared/wire/tool.ts";
import { canonicalJson } from "../ask/fingerprint.ts";
import type { Effect } from "../ask/request.ts";
import type { ConnectionChoice } from "../outcome.ts";
import { ShownSchemas } from "../projection.ts";

/** One tool of the catalogue. */
export interface CatalogEntry {
  /** Full tool name; never split to learn the integration. */
  readonly name: string;
  readonly integration: string;
  readonly title: string;
  readonly description: string;
  readonly effect: Effect;
  /** Undefined when the service does not say. */
  readonly needsConfirmation?: boolean | undefined;
  /** Complete schema of the arguments; null until the tool was described, or when the service has none. */
  readonly inputSchema: JsonSchema | null;
  /** SHA-256 of the schema, undefined until described. */
  readonly schemaHash?: string | undefined;
  /** What models are shown of exactly this schema; filled when they are first shown it. */
  readonly shown?: ShownSchemas | undefined;
  /** Connected accounts; empty when the service lists none. */
  readonly connections: readonly ConnectionChoice[];
  /** Questions that the service wants answered before a call. */
  readonly askBefore: readonly string[];
  /** The service's reason for requiring a confirmation. */
  readonly policyReason?: string | undefined;
  /** Set when the service's description of this tool promises idempotency keys for canonical executions. */
  readonly keys?: KeyPromise | undefined;
  /**
   * Set where the service says that a call may do more than the tool's effect, depending on its arguments or on what is there;
   * it takes the level that was shown to whoever confirmed the call. See `findCallEffect`.
   */
  readonly callLevels?: { readonly conditions: readonly LevelCondition[] } | undefined;
  /** True when the service can say what a call would do before anybody is asked. */
  readonly previews?: boolean | undefined;
  /** True when the service says that it holds calls of this tool for its owner. */
  readonly ownerApproves?: boolean | undefined;
}

/** The service's promise to honour idempotency keys in canonical executions. Ours: not in the document. */
export interface KeyPromise {
  /** Lifetime of a key, in milliseconds. */
  readonly keptMs: number;
  /** True when a request may name its account (`connection_id`). */
  readonly namesAccount: boolean;
  /** True when the execution of a key can be looked up without acting. */
  readonly canLookUp: boolean;
}

/** True when a human is asked before anything is sent. */
export function mustAskFirst(entry: Pick<CatalogEntry, "effect" | "needsConfirmation">): boolean {
  return (
    entry.needsConfirmation === true ||
    entry.effect === "write" ||
    entry.effect === "delete" ||
    entry.effect === "admin"
  );
}

/**
 * Reads a tool of a list, search or describe answer; undefined for a truncation notice. The schema is used only from a
 * describe answer: lists and searches carry placeholders. Services put effect and accounts in different places, so
 * several are checked; without any, the effect is `unknown`.
 */
export function readCatalogEntry(tool: Tool, source: "list" | "describe"): CatalogEntry | undefined {
  if (typeof tool.name !== "string" || tool.name === "") return undefined;
  const canonical = isRecord(tool.canonical) ? tool.canonical : {};
  const action = isRecord(canonical.action) ? canonical.action : canonical;
  const inputSchema = source === "describe" ? readSchema(tool.inputSchema) : null;
  return {
    name: tool.name,
    integration: tool.integration ?? readText(canonical.integration_id) ?? "",
    title: readText(action.title) ?? tool.name,
    description: tool.description ?? "",
    effect: readEffect(tool, action),
    needsConfirmation: readFlag(tool.requiresConfirmation) ?? readFlag(action.requires_confirmation),
    inputSchema,
    schemaHash: source === "describe" ? hashSchema(inputSchema) : undefined,
    shown: source === "describe" ? new ShownSchemas() : undefined,
    connections: readConnections(tool, canonical),
    askBefore: readLines(tool.askBefore) ?? readLines(action.ask_before) ?? [],
    policyReason: readText(tool.policyReason),
    ...readKeyPromise(canonical),
    callLevels: callLevelsSchema.safeParse(canonical.call_levels).data,
    ...(canonical.preview === true ? { previews: true } : {}),
    ...(canonical.approvals === "owner" ? { ownerApproves: true } : {}),
  };
}

/** Adds facts from the action detail that the tool's description lacks. */
export function addActionDetail(entry: CatalogEntry, detail: ActionDetail): CatalogEntry {
  return {
    ...entry,
    title: entry.title === entry.name ? (detail.title ?? entry.title) : entry.title,
    effect: entry.effect === "unknown" ? toEffect(detail.side_effect_level) : entry.effect,
    needsConfirmation: entry.needsConfirmation ?? readFlag(detail.requires_confirmation),
  };
}

/** Ignores a schema without a canonical form, such as one nested too deeply: then only the service checks. */
function readSchema(schema: JsonSchema | null | undefined): JsonSchema | null {
  if (schema === null || schema === undefined) return null;
  try {
    canonicalJson(schema);
    return schema;
  } catch {
    return null;
  }
}

function hashSchema(schema: JsonSchema | null): string {
  return sha256Hex(canonicalJson(schema));
}

function readEffect(tool: Tool, action: Record<string, unknown>): Effect {
  const level = toEffect(action.side_effect_level ?? tool.side_effect_level);
  if (level !== "unknown") return level;
  if (tool.mode === "destructive") return "delete";
  return tool.mode === "read" || tool.mode === "write" ? tool.mode : "unknown";
}

function toEffect(value: unknown): Effect {
  return SIDE_EFFECT_LEVELS.find((level) => level === value) ?? "unknown";
}

/** Our service's promise, `canonical.idempotency_key`; the document does not name one. */
function readKeyPromise(canonical: Record<string, unknown>): { keys?: KeyPromise } {
  const promise = canonical.idempotency_key;
  if (!isRecord(promise)) return {};
  const { kept_seconds: seconds, connection_id, lookup } = promise;
  if (typeof seconds !== "number" || !(seconds > 0)) return {};
  return { keys: { keptMs: seconds * 1_000, namesAccount: connection_id === true, canLookUp: lookup === true } };
}

function readConnections(tool: Tool, canonical: Record<string, unknown>): ConnectionChoice[] {
  const list = [tool.connections, canonical.connections].find(Array.isArray) ?? [];
  const defaultId = readId(tool.defaultConnectionId);
  return list.flatMap((item: unknown) => {
    if (!isRecord(item)) return [];
    const id = readId(item.id);
    if (id === undefined) return [];
    const isDefault = item.isDefault === true || item.is_default === true || id === defaultId;
    return [{ id, label: readText(item.label) ?? id, ...(isDefault ? { isDefault } : {}) }];
  });
}

function readId(value: unknown): string | undefined {
  return typeof value === "number" ? String(value) : readText(value);
}

function readText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Any value that is present and not false, such as 1 or "true", counts as true: an extra question is safer. */
function readFlag(value: unknown): boolean | undefined {
  return value === undefined || value === null ? undefined : value !== false;
}

function readLines(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter((line) => typeof line === "string") : undefined;
}

const MAX_LINES = 12;

/** What changed between two schemas of one tool, one line each, by argument name. Empty when they are equal. */
export function compareSchemas(before: JsonSchema | null, after: JsonSchema | null): string[] {
  if (canonicalJson(before) === canonicalJson(after)) return [];
  const [oldProperties, newProperties] = [readProperties(before), readProperties(after)];
  const [oldRequired, newRequired] = [readRequired(before), readRequired(after)];
  const lines: string[] = [];
  for (const name of Object.keys(newProperties)) {
    const required = newRequired.has(name);
    if (!Object.hasOwn(oldProperties, name)) {
      lines.push(`new ${required ? "required" : "optional"} argument ${name}`);
    } else if (canonicalJson(oldProperties[name]) !== canonicalJson(newProperties[name])) {
      lines.push(`argument ${name} has a new definition`);
    } else if (required !== oldRequired.has(name)) {
      lines.push(`argument ${name} is now ${required ? "required" : "optional"}`);
    }
  }
  for (const name of Object.keys(oldProperties)) {
    if (!Object.hasOwn(newProperties, name)) lines.push(`argument ${name} is gone`);
  }
  if (lines.length === 0) lines.push("rules that concern several arguments changed");
  return lines.length <= MAX_LINES ? lines : [...lines.slice(0, MAX_LINES), `${lines.length - MAX_LINES} more changes`];
}

function readProperties(schema: JsonSchema | null): Record<string, unknown> {
  return isRecord(schema?.properties) ? schema.properties : {};
}

function readRequired(schema: JsonSchema | null): Set<unknown> {
  return new Set(Array.isArray(schema?.required) ? schema.required : []);
}

const MAX_SUGGESTIONS = 3;
const MIN_SCORE = 0.34;
const MIN_SHARE = 0.7;

/**
 * Up to three tools whose name is close to `wanted`, reads first. They are shown, never run. Names much less similar
 * than the closest are left out, so that they do not crowd out the intended one.
 */
export function suggestTools<Tool extends Pick<CatalogEntry, "name" | "effect">>(
  entries: Iterable<Tool>,
  wanted: string,
): Tool[] {
  const words = splitName(wanted);
  const scored = [...entries].map((entry) => ({ entry, score: scoreName(words, splitName(entry.name)) }));
  const best = scored.reduce((max, { score }) => Math.max(max, score), 0);
  const close = scored
    .filter(({ score }) => score >= MIN_SCORE && score >= best * MIN_SHARE)
    .sort((a, b) => rank(a.entry) - rank(b.entry) || b.score - a.score || (a.entry.name < b.entry.name ? -1 : 1));
  return close.slice(0, MAX_SUGGESTIONS).map(({ entry }) => entry);
}

function rank(entry: Pick<CatalogEntry, "effect">): number {
  return entry.effect === "read" ? 0 : 1;
}

function splitName(name: string): string[] {
  const words = name
    .replaceAll(/([a-z])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  return words.filter((word) => word !== "").map((word) => (word.length > 3 ? word.replace(/s$/, "") : word));
}

/** Share of letter pairs two names have in common (Dice), averaged with the share of common words. */
function scoreName(wanted: readonly string[], words: readonly string[]): number {
  const common = wanted.filter((word) => words.includes(word)).length;
  const byWord = (2 * common) / Math.max(1, wanted.length + words.length);
  return (byWord + dice(wanted.join("_"), words.join("_"))) / 2;
}

function dice(a: string, b: string): number {
  const pairs = (text: string) => new Set(Array.from(text.slice(1), (letter, index) => text[index] + letter));
  const [left, right] = [pairs(a), pairs(b)];
  return (2 * left.intersection(right).size) / Math.max(1, left.size + right.size);
}
