import { isRecord, setOwn } from "../../base/json.ts";
import { readTypes, type SchemaDraft } from "../json-schema.ts";
import { canMerge, type FlatNode, mergeWithin, type Projection } from "./merge-schemas.ts";
import { readUnion } from "./project-union.ts";

type Source = Readonly<Record<string, unknown>>;

const MAX_ROUNDS = 4;
/** Branches of one union: at the root, and of unions in its branches. */
const MAX_ROOT_BRANCHES = 1_000;
const MAX_BRANCHES = 40;
const MAX_LISTED = 12;
/** Properties and required keys of all branches together. */
const MAX_KEYS = 20_000;
/** Characters of the schemas that branches have for one property. */
const MAX_TEXT = 1_000_000;

/**
 * Merges unions at the root of a tool's schema into one object, since providers refuse them there: properties of all
 * branches, required only if all branches require it, and one sentence that lists the alternatives.
 */
export function mergeRootUnion(flat: FlatNode, projection: Projection, depth = 0): FlatNode {
  let current = flat;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const union = readUnion(current, projection);
    if (union === undefined) return current;
    const most = depth === 0 ? MAX_ROOT_BRANCHES : MAX_BRANCHES;
    const branches = union.branches
      .slice(0, most)
      .filter(({ node }) => acceptsObjects(node))
      .map((branch) => (depth < MAX_ROUNDS ? mergeRootUnion(branch, projection, depth + 1) : branch))
      .map(({ node }) => node);
    const read = takeWhole(branches, projection);
    const [first] = read;
    const isPartial = union.branches.length > most || read.length < branches.length;
    const { stack } = flat;
    if (first === undefined) current = { node: union.rest, stack };
    else if (branches.length === 1 && !isPartial) current = { node: mergeWithin(projection, union.rest, first), stack };
    else current = { node: mergeBranches(union.rest, read, isPartial), stack };
  }
  return current;
}

/** The first branches, as many as can be merged in time; at least one, unless too much was merged before. */
function takeWhole(branches: readonly Source[], projection: Projection): readonly Source[] {
  let keys = 0;
  const end = branches.findIndex(({ properties, required }, index) => {
    const own = (isRecord(properties) ? Object.keys(properties).length : 0) + readNames(required).length;
    keys += own;
    return !canMerge(projection, own) || (index > 0 && keys > MAX_KEYS);
  });
  return end === -1 ? branches : branches.slice(0, end);
}

function acceptsObjects(node: Source): boolean {
  return (readTypes(node.type)?.includes("object") ?? true) && node.const === undefined && node.enum === undefined;
}

function mergeBranches(rest: Source, branches: readonly Source[], isPartial: boolean): SchemaDraft {
  const merged: SchemaDraft = { ...rest, properties: mergeProperties(rest, branches, isPartial) };
  const required = branches.map((branch) => new Set(readNames(branch.required)));
  const common = [...(required[0] ?? [])].filter((name) => required.every((names) => names.has(name)));
  merged.required = [...readNames(rest.required), ...(isPartial ? [] : common)];
  const allClosed = branches.every(
    (branch) => branch.additionalProperties === false && branch.patternProperties === undefined,
  );
  if (rest.additionalProperties === undefined && allClosed && !isPartial) merged.additionalProperties = false;
  const alternatives = new Set(branches.map((branch) => describeBranch(branch, rest)).filter((text) => text !== ""));
  if (alternatives.size > 1) {
    const listed = [...alternatives].slice(0, MAX_LISTED).join("; or ");
    const sentence = `Give the fields of one of these: ${listed}.`;
    merged.description = typeof rest.description === "string" ? `${sentence} ${rest.description}` : sentence;
  }
  return merged;
}

function readNames(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === "string") : [];
}

/** @param isPartial - true when there are more branches, which may say anything about these properties */
function mergeProperties(rest: Source, branches: readonly Source[], isPartial: boolean): SchemaDraft {
  const own = isRecord(rest.properties) ? rest.properties : {};
  const variants = new Map<string, unknown[]>();
  for (const branch of branches) {
    if (!isRecord(branch.properties)) continue;
    for (const key of Object.keys(branch.properties)) {
      const schemas = variants.get(key) ?? [];
      schemas.push(branch.properties[key]);
      variants.set(key, schemas);
    }
  }
  const merged: SchemaDraft = {};
  for (const key of Object.keys(own)) setOwn(merged, key, own[key]);
  for (const [key, schemas] of variants) {
    const either = isPartial ? {} : joinVariants(schemas);
    if (!Object.hasOwn(own, key)) setOwn(merged, key, either);
    // Constraints that only some branches put on a property of the root do not hold for the others.
    else if (schemas.length === branches.length && !isPartial) setOwn(merged, key, { allOf: [own[key], either] });
  }
  return merged;
}

/**
 * One schema for a property that branches describe each in its own way, an open one when that is too much text. Fixed
 * values are pooled further on.
 */
function joinVariants(schemas: readonly unknown[]): unknown {
  const distinct = new Map<string, unknown>();
  let left = MAX_TEXT;
  for (const schema of new Set(schemas)) {
    const text = JSON.stringify(schema);
    left -= text.length;
    if (left < 0 && distinct.size > 0) return {};
    distinct.set(text, schema);
  }
  const [only] = distinct.values();
  return distinct.size === 1 ? only : { anyOf: [...distinct.values()] };
}

/** `kind "a": title, body` */
function describeBranch(branch: Source, rest: Source): string {
  const properties = isRecord(branch.properties) ? branch.properties : {};
  const told = new Set(readNames(rest.required));
  const fixed: string[] = [];
  const names: string[] = [];
  for (const key of Object.keys(properties)) {
    const property = properties[key];
    const value = isRecord(property) ? (property.const ?? readOnlyValue(property.enum)) : undefined;
    if (typeof value !== "string" && typeof value !== "number") continue;
    fixed.push(`${key} ${JSON.stringify(value)}`);
    told.add(key);
  }
  for (const name of readNames(branch.required)) if (!told.has(name)) names.push(name);
  if (fixed.length === 0 && names.length === 0) names.push(...Object.keys(properties));
  const listed = names.slice(0, MAX_LISTED).join(", ");
  if (fixed.length === 0) return listed;
  return listed === "" ? fixed.join(", ") : `${fixed.join(", ")} with ${listed}`;
}

function readOnlyValue(values: unknown): unknown {
  return Array.isArray(values) && values.length === 1 ? values[0] : undefined;
}
