import { isRecord, setOwn } from "../../../shared/base/json.ts";
import { readTypes, type SchemaDraft } from "../../../shared/schema-check/json-schema.ts";
import { countEntries, type FlatNode, mergeSchemas, type Projection, spend } from "./merge-schemas.ts";
import { readUnion } from "./project-union.ts";

type Source = Readonly<Record<string, unknown>>;

const MAX_ROUNDS = 4;
/** Branches of one union: at the root, and of unions in its branches. */
const MAX_ROOT_BRANCHES = 1_000;
const MAX_BRANCHES = 40;
const MAX_LISTED = 12;
/** Cost of a key of a branch, and of a character of a branch's schema for one. */
const KEY_COST = 10;
const CHARACTER_COST = 0.2;

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
    const cost = ({ properties, required }: Source) => KEY_COST * (countEntries(properties) + countEntries(required));
    const end = branches.findIndex((branch) => !spend(projection, cost(branch)));
    const read = end === -1 ? branches : branches.slice(0, end);
    const [first] = read;
    const isPartial = union.branches.length > most || read.length < branches.length;
    let node = union.rest;
    if (branches.length === 1 && first !== undefined && !isPartial) node = mergeSchemas(projection, node, first);
    else if (first !== undefined) node = mergeBranches(node, read, isPartial, projection);
    current = { node, stack: flat.stack };
  }
  return current;
}

function acceptsObjects(node: Source): boolean {
  return (readTypes(node.type)?.includes("object") ?? true) && node.const === undefined && node.enum === undefined;
}

function mergeBranches(
  rest: Source,
  branches: readonly Source[],
  isPartial: boolean,
  projection: Projection,
): SchemaDraft {
  const properties = mergeProperties(rest, branches, isPartial, projection);
  const merged: SchemaDraft = { ...rest, properties };
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
function mergeProperties(
  rest: Source,
  branches: readonly Source[],
  isPartial: boolean,
  projection: Projection,
): SchemaDraft {
  const own = isRecord(rest.properties) ? rest.properties : {};
  const merged: SchemaDraft = { ...own };
  const entries = branches.flatMap(({ properties }) => (isRecord(properties) ? Object.entries(properties) : []));
  for (const [key, variants] of Map.groupBy(entries, ([name]) => name)) {
    const schemas = variants.map(([, schema]) => schema);
    const either = isPartial ? {} : joinVariants(schemas, projection);
    if (!Object.hasOwn(own, key)) setOwn(merged, key, either);
    // Constraints that only some branches put on a property of the root do not hold for the others.
    else if (schemas.length === branches.length && !isPartial) setOwn(merged, key, { allOf: [own[key], either] });
  }
  return merged;
}

/** One schema for a property that branches describe each in its own way. Fixed values are pooled further on. */
function joinVariants(schemas: readonly unknown[], projection: Projection): unknown {
  const distinct = new Map<string, unknown>();
  for (const schema of new Set(schemas)) {
    const text = JSON.stringify(schema);
    if (!spend(projection, CHARACTER_COST * text.length)) return {};
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
    const [value, ...others] = isRecord(property) ? [property.const ?? property.enum].flat() : [];
    if (others.length > 0 || (typeof value !== "string" && typeof value !== "number")) continue;
    fixed.push(`${key} ${JSON.stringify(value)}`);
    told.add(key);
  }
  for (const name of readNames(branch.required)) if (!told.has(name)) names.push(name);
  if (fixed.length === 0 && names.length === 0) names.push(...Object.keys(properties));
  const listed = names.slice(0, MAX_LISTED).join(", ");
  if (fixed.length === 0) return listed;
  return listed === "" ? fixed.join(", ") : `${fixed.join(", ")} with ${listed}`;
}
