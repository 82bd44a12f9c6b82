import { isRecord, setOwn } from "../../../shared/base/json.ts";
import { shortenToSentence } from "../../../shared/base/text.ts";
import { readTypes, type SchemaDraft } from "../../../shared/schema-check/json-schema.ts";
import {
  type FlatNode,
  flattenNode,
  isFull,
  mergeSchemas,
  type Projection,
  type ProjectionPlace,
  spend,
} from "./merge-schemas.ts";

type Source = Readonly<Record<string, unknown>>;

const MAX_FLATTENED = 1_000;
const MAX_BRANCHES = 40;
const MAX_ROUNDS = 4;
const MAX_VALUE_TEXT = 1_000;

/** A union of a node: its branches without references, and the node without it. */
export interface Union {
  readonly branches: readonly FlatNode[];
  readonly rest: Source;
}

/** The first union of a flat node, `anyOf` before `oneOf`. */
export function readUnion({ node, stack }: FlatNode, projection: Projection): Union | undefined {
  for (const keyword of ["anyOf", "oneOf"]) {
    const listed = node[keyword];
    if (!Array.isArray(listed) || listed.length === 0 || listed.length > MAX_FLATTENED) continue;
    const { [keyword]: _, ...rest } = node;
    const branches = listed.map((branch) => {
      if (!isRecord(branch)) return { node: branch === false ? { not: {} } : {}, stack };
      const flat = flattenNode(branch, stack, projection);
      // A branch that leads back stays a reference: it is cut, with its name, when the walk arrives there.
      return flat.nested === undefined ? flat : { node: branch, stack };
    });
    return { branches, rest };
  }
  return undefined;
}

/** Replaces unions that one node can express: a single branch beside null, and alternatives of fixed values. */
export function collapseUnion(flat: FlatNode, projection: Projection): FlatNode {
  let current = flat;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const union = readUnion(current, projection);
    if (union === undefined) return current;
    const collapsed = collapseOnce(union, current, projection);
    if (collapsed === undefined) return current;
    current = collapsed;
  }
  return current;
}

function collapseOnce({ branches, rest }: Union, { stack }: FlatNode, projection: Projection): FlatNode | undefined {
  const concrete = branches.filter(({ node }) => !isNullOnly(node));
  const outerTypes = readTypes(rest.type);
  const addsNull = concrete.length < branches.length && (outerTypes === undefined || outerTypes.includes("null"));
  const nullable = addsNull ? { nullable: true } : {};
  const [single] = concrete;
  if (single === undefined) return { node: { ...rest, type: "null" }, stack };
  const merge = (added: Source) => mergeSchemas(projection, rest, added);
  if (concrete.length === 1) return { node: { ...merge(single.node), ...nullable }, stack: single.stack };
  const pooled = poolValues(
    concrete.map(({ node }) => node),
    projection,
  );
  if (pooled === undefined) return undefined;
  const description = [rest.description, pooled.description].filter((text) => typeof text === "string").join(" ");
  const texts = description === "" ? {} : { description };
  return { node: { ...merge(pooled), ...texts, ...nullable }, stack };
}

function isNullOnly(node: Source): boolean {
  if (node.const === null || node.type === "null") return true;
  if (Array.isArray(node.enum)) return node.enum.length > 0 && node.enum.every((value) => value === null);
  return Array.isArray(node.type) && node.type.length === 1 && node.type[0] === "null";
}

const BESIDE_VALUES: ReadonlySet<string> = new Set(["const", "enum", "type", "title", "description", "default"]);

/** Branches that are nothing but fixed values, as one list with a line per value that has something to say. */
function poolValues(branches: readonly Source[], projection: Projection): SchemaDraft | undefined {
  const values: unknown[] = [];
  const types = new Set<unknown>();
  const lines: string[] = [];
  let areTyped = true;
  for (const branch of branches) {
    const own = branch.const !== undefined ? [branch.const] : branch.enum;
    const isPlain = Object.keys(branch).every((keyword) => BESIDE_VALUES.has(keyword) || keyword.startsWith("x-"));
    if (!isPlain || !Array.isArray(own) || own.length === 0 || !spend(projection, own.length)) return undefined;
    for (const value of own) values.push(value);
    const declared = readTypes(branch.type);
    areTyped &&= declared !== undefined;
    for (const type of declared ?? []) types.add(type);
    const text = [branch.description, branch.title].find((word) => typeof word === "string" && word !== own[0]);
    if (own.length !== 1 || typeof text !== "string") continue;
    lines.push(`${typeof own[0] === "object" ? JSON.stringify(own[0]) : String(own[0])}: ${text}`);
  }
  const pooled: SchemaDraft = { enum: values };
  if (areTyped) pooled.type = [...types];
  if (lines.length > 0) pooled.description = shortenToSentence(lines.join("; "), MAX_VALUE_TEXT);
  return pooled;
}

/** Adds the rest of a node's union to its projection, as `anyOf`. */
export function projectUnion(node: Source, shown: SchemaDraft, place: ProjectionPlace, projection: Projection): void {
  const union = readUnion({ node, stack: place.stack }, projection);
  if (union === undefined) return;
  if (node.anyOf !== undefined && node.oneOf !== undefined) projection.dropped.add("oneOf");
  if (union.branches.length > MAX_BRANCHES || isFull(projection)) {
    projection.dropped.add("anyOf");
    return;
  }
  const distinct = new Map<string, SchemaDraft>();
  for (const branch of union.branches) {
    const at = { depth: place.depth + 1, stack: branch.stack };
    const source = nameRequired(branch.node, node.properties);
    const projected = isImpossible(source) ? undefined : projection.project(source, at, projection);
    if (projected !== undefined) distinct.set(JSON.stringify(projected), projected);
  }
  const branches = [...distinct.values()];
  if (branches.length === 0 || branches.some((branch) => Object.keys(branch).length === 0)) return;
  if ((node.nullable === true || node["x-nullable"] === true) && node.type === undefined) {
    branches.push({ type: "null" });
  }
  shown.anyOf = branches;
}

/** True for the form that {@link readUnion} gives to `false`. */
function isImpossible({ not }: Source): boolean {
  return isRecord(not) && Object.keys(not).length === 0;
}

/** A branch may require properties that only the node around it describes; to be shown, they need a name in it. */
function nameRequired(branch: Source, outer: unknown): Source {
  if (!Array.isArray(branch.required) || !isRecord(outer)) return branch;
  const properties: SchemaDraft = isRecord(branch.properties) ? { ...branch.properties } : {};
  for (const name of branch.required) {
    const isNamed = typeof name === "string" && Object.hasOwn(outer, name) && !Object.hasOwn(properties, name);
    if (isNamed) setOwn(properties, name, {});
  }
  return { ...branch, properties };
}
