import { setOwn } from "../../base/json.ts";
import { isCount, readTypes, type SchemaDraft } from "../json-schema.ts";
import { readPattern } from "./read-pattern.ts";

/** A schema in the checking copy. */
export type CheckSchema = SchemaDraft | boolean;

/** How the keyword readers reach the rest of the walk. */
export interface KeywordWalk {
  /** True for the side that answers for the arguments: formats count. */
  readonly isStrict: boolean;
  /** True for a schema that is taken at its word. */
  readonly isWhole: boolean;
  /** Copies a schema that applies to a part of the value. */
  below(schema: unknown): CheckSchema;
  /** Copies a schema that applies to the same value. */
  inPlace(schema: unknown): CheckSchema;
  /** Notes that something was dropped, so that the copy accepts more than the original. */
  lose(): void;
  /** How often something was dropped so far: two readings tell whether the part between them was copied whole. */
  losses(): number;
  /** True when no more nodes are read. */
  full(): boolean;
}

type Source = Readonly<Record<string, unknown>>;

const MAX_VALUES = 5_000;

const COUNTS = [
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
  "minContains",
  "maxContains",
] as const;

/** Copies the keywords about a value itself: its type, what it may be, and its limits. */
export function copyValueKeywords(node: Source, copy: SchemaDraft, walk: KeywordWalk): void {
  copyAllowedValues(node, copy, walk);
  copyNumberKeywords(node, copy, walk);
  for (const keyword of COUNTS) {
    if (isCount(node[keyword])) copy[keyword] = node[keyword];
    else if (node[keyword] !== undefined) walk.lose();
  }
}

function copyAllowedValues(node: Source, copy: SchemaDraft, walk: KeywordWalk): void {
  const types = readTypes(node.type);
  if (types !== undefined) copy.type = types.length === 1 ? types[0] : types;
  else if (node.type !== undefined) walk.lose();
  if (Array.isArray(node.enum)) {
    if (node.enum.length > 0 && node.enum.length <= MAX_VALUES) copy.enum = node.enum;
    else walk.lose();
  }
  if (node.const !== undefined) copy.const = node.const;
  if (walk.isStrict && typeof node.format === "string") copy.format = node.format;
  else if (node.format !== undefined) walk.lose();
  if (node.pattern !== undefined) copyPattern(node.pattern, copy, walk);
}

const unchecked = new WeakSet<object>();

/** True for a node of a checking copy whose text has to match a pattern that is not run here. */
export function hasUncheckedPattern(node: object): boolean {
  return unchecked.has(node);
}

function copyPattern(pattern: unknown, copy: SchemaDraft, walk: KeywordWalk): void {
  const source = readPattern(pattern);
  if (source !== undefined) {
    copy.pattern = source;
    return;
  }
  walk.lose();
  unchecked.add(copy);
}

/** A schema that applies only to values of another one. */
export function onlyIf(condition: SchemaDraft, schema: SchemaDraft): SchemaDraft {
  const node: SchemaDraft = { if: condition };
  setOwn(node, "then", schema);
  return node;
}

/** Adds a schema the same value must match, beside whatever is there. */
export function appendAll(copy: SchemaDraft, schema: CheckSchema): void {
  copy.allOf = [...(Array.isArray(copy.allOf) ? copy.allOf : []), schema];
}

function copyNumberKeywords(node: Source, copy: SchemaDraft, walk: KeywordWalk): void {
  for (const [keyword, exclusive] of [
    ["minimum", "exclusiveMinimum"],
    ["maximum", "exclusiveMaximum"],
  ] as const) {
    const limit = node[keyword];
    const isExclusive = node[exclusive];
    // Draft-04 and OpenAPI 3.0 write `exclusiveMinimum: true` beside the limit.
    if (Number.isFinite(limit)) copy[isExclusive === true ? exclusive : keyword] = limit;
    else if (limit !== undefined) walk.lose();
    if (Number.isFinite(isExclusive)) copy[exclusive] = isExclusive;
    else if (isExclusive !== undefined && typeof isExclusive !== "boolean") walk.lose();
  }
  if (node.multipleOf === undefined) return;
  if (Number.isFinite(node.multipleOf) && Number(node.multipleOf) > 0) copy.multipleOf = node.multipleOf;
  else walk.lose();
}
