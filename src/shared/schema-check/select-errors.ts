import { getAt, getOwn, isRecord } from "../base/json.ts";
import type { CheckError } from "./check-arguments.ts";
import type { JsonSchema } from "./json-schema.ts";

/** A keyword the arguments broke. For a union without a matching branch, `branches` holds the errors of each branch. */
export interface BrokenKeyword {
  readonly error: CheckError;
  readonly branches?: readonly (readonly BrokenKeyword[])[];
}

/** Arguments, and the schema that they were checked against. */
export interface CheckedArguments {
  readonly schema: JsonSchema;
  readonly args: unknown;
}

/** Keywords that only say that something below them is wrong. */
const WRAPPERS: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "additionalProperties",
  "unevaluatedProperties",
  "propertyNames",
  "dependentSchemas",
  "items",
  "prefixItems",
  "unevaluatedItems",
  "allOf",
  "$ref",
  "if",
]);

const MAX_ERRORS = 1_000;

/**
 * Reduces the validator's errors to those worth reporting. For a union only the most likely branch is kept: first by
 * the value's type and matching fixed values (discriminators), then by the most known keys and the fewest errors.
 */
export function selectErrors(errors: readonly CheckError[], checked: CheckedArguments): BrokenKeyword[] {
  return select(errors.slice(0, MAX_ERRORS), checked);
}

function select(errors: readonly CheckError[], checked: CheckedArguments): BrokenKeyword[] {
  const selected: BrokenKeyword[] = [];
  for (let index = 0; index < errors.length; index++) {
    const error = errors[index];
    if (error === undefined || WRAPPERS.has(error.keyword)) continue;
    if (!["anyOf", "oneOf", "contains"].includes(error.keyword)) {
      selected.push({ error });
      continue;
    }
    const start = index + 1;
    let end = start;
    while (isInside(errors[end], error, end > start)) end++;
    index = end - 1;
    if (error.keyword === "contains") selected.push({ error });
    else selected.push(...chooseBranch(error, errors.slice(start, end), checked));
  }
  return selected;
}

/** The validator gives a `false` schema the location of the value, so such an error belongs to the one before it. */
function isInside(error: CheckError | undefined, union: CheckError, follows: boolean): boolean {
  if (error === undefined) return false;
  const isBelow =
    error.instanceLocation === union.instanceLocation ||
    error.instanceLocation.startsWith(`${union.instanceLocation}/`);
  if (error.keyword === "false") return isBelow && follows;
  return isBelow && error.keywordLocation.startsWith(`${union.keywordLocation}/`);
}

interface Branch {
  readonly errors: readonly CheckError[];
  readonly broken: readonly BrokenKeyword[];
  readonly declared: ReadonlyMap<string, JsonSchema>;
}

function chooseBranch(union: CheckError, errors: readonly CheckError[], checked: CheckedArguments): BrokenKeyword[] {
  const branches = [...splitBranches(union, errors)].map(([name, own]): Branch => {
    const node = findNode(checked.schema, `${union.keywordLocation}/${name}/_`);
    return { errors: own, broken: select(own, checked), declared: listDeclared(node, checked.schema) };
  });
  // No errors at all: a "oneOf" that more than one branch matched.
  if (branches.length === 0) return [{ error: union }];
  const fitting = branches.filter(({ broken }) => !broken.some((one) => contradicts(one, union.instanceLocation)));
  const value = getAt(checked.args, readValuePath(union.instanceLocation, checked.args));
  const scored = fitting.map((branch) => ({ branch, score: countMismatches(branch, fitting, union, value) }));
  scored.sort((a, b) => a.score - b.score);
  const best = scored[0]?.branch.broken;
  if (best === undefined) return [{ error: union, branches: branches.map(({ broken }) => broken) }];
  const equal = scored.filter(({ score }) => score === scored[0]?.score).map(({ branch }) => branch.broken);
  if (equal.length > 1 && equal.every((broken) => lacksKeysOnly(broken, union))) {
    return [{ error: union, branches: equal }];
  }
  const discriminator = best.find(({ error }) => isFixedValue(error));
  if (discriminator === undefined) return [...best];
  const location = discriminator.error.instanceLocation;
  const sameField = fitting.map(({ broken }) => broken.filter(({ error }) => error.instanceLocation === location));
  if (sameField.every((broken) => broken.length > 0)) return [{ error: discriminator.error, branches: sameField }];
  return [...best];
}

function splitBranches(union: CheckError, errors: readonly CheckError[]): Map<string, CheckError[]> {
  const branches = new Map<string, CheckError[]>();
  let current: CheckError[] = [];
  for (const error of errors) {
    if (error.keyword !== "false" || current.length === 0) {
      const name = error.keywordLocation.slice(union.keywordLocation.length + 1).split("/", 1)[0] ?? "";
      current = branches.get(name) ?? [];
      branches.set(name, current);
    }
    current.push(error);
  }
  return branches;
}

/** True when a branch is not of the value's kind at all. */
function contradicts({ error }: BrokenKeyword, location: string): boolean {
  return error.instanceLocation === location && ["type", "enum", "const", "false", "not"].includes(error.keyword);
}

function isFixedValue(error: CheckError): boolean {
  return error.keyword === "const" || error.keyword === "enum";
}

function lacksKeysOnly(broken: readonly BrokenKeyword[], union: CheckError): boolean {
  return broken.every(({ error }) => error.keyword === "required" && error.instanceLocation === union.instanceLocation);
}

/** Faults that count for a branch: many in one list weigh less than one key it does not know. */
const MAX_FAULTS = 9;

/** How much speaks against a branch having been meant: another one's discriminator, unknown keys, faults. */
function countMismatches(branch: Branch, all: readonly Branch[], union: CheckError, value: unknown): number {
  let mismatches = Math.min(branch.broken.length, MAX_FAULTS);
  if (branch.declared.size > 0 && isRecord(value)) {
    mismatches += 10 * Object.keys(value).filter((key) => !branch.declared.has(key)).length;
  }
  for (const { error } of branch.broken) {
    if (isFixedValue(error) && all.some((other) => other !== branch && agrees(other, error, union)))
      mismatches += 1_000;
  }
  return mismatches;
}

/** True when a branch demands a fixed value where another one's failed, and got it. */
function agrees({ errors, declared }: Branch, { instanceLocation }: CheckError, union: CheckError): boolean {
  const key = instanceLocation.slice(union.instanceLocation.length + 1);
  const node = key.includes("/") ? undefined : declared.get(decodeURIComponent(key));
  if (node === undefined || (node.const === undefined && node.enum === undefined)) return false;
  return !errors.some((error) => error.instanceLocation === instanceLocation);
}

const MAX_NODES = 200;

/**
 * The keys a node of a normalised schema declares for an object, itself or through references, `allOf` and branches,
 * with the first node that declares each. Empty for a node that accepts any key, such as a map.
 */
export function listDeclared(node: unknown, schema: JsonSchema): ReadonlyMap<string, JsonSchema> {
  const declared = new Map<string, JsonSchema>();
  const queue: unknown[] = [node];
  for (let index = 0; index < queue.length && index < MAX_NODES; index++) {
    const part = queue[index];
    if (!isRecord(part)) continue;
    if (isRecord(part.additionalProperties) || isRecord(part.patternProperties)) return new Map();
    const properties = isRecord(part.properties) ? part.properties : {};
    for (const key of Object.keys(properties)) {
      const property = followFirst(properties[key], schema);
      if (!declared.has(key)) declared.set(key, property);
    }
    if (typeof part.$ref === "string") queue.push(followReference(schema, part.$ref));
    for (const list of [part.allOf, part.anyOf, part.oneOf]) if (Array.isArray(list)) queue.push(...list);
  }
  return declared;
}

/** The node itself, or the target of its reference. */
function followFirst(node: unknown, schema: JsonSchema): JsonSchema {
  const target = isRecord(node) && typeof node.$ref === "string" ? followReference(schema, node.$ref) : node;
  return isRecord(target) ? target : {};
}

/** The keys and list positions that lead from the arguments to a value. */
export type ValuePath = readonly (string | number)[];

/** Reads a validator's `instanceLocation`. Parts that index a list come out as numbers. */
export function readValuePath(location: string, args: unknown): ValuePath {
  const path: (string | number)[] = [];
  let value = args;
  for (const part of splitPointer(location)) {
    const isIndex = Array.isArray(value) && /^\d+$/.test(part);
    path.push(isIndex ? Number(part) : part);
    value = getOwn(value, part);
  }
  return path;
}

/** A path as people read it: keys joined by dots, list positions as `[i]`. Empty for the arguments as a whole. */
export function formatPath(path: ValuePath): string {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else text += text === "" ? part : `.${part}`;
  }
  return text;
}

/**
 * The schema node that holds the keyword a validator's `keywordLocation` names: the way down the schema, following
 * references. Undefined when the location is not one of this schema.
 */
export function findNode(schema: JsonSchema, keywordLocation: string): JsonSchema | undefined {
  const parts = splitPointer(keywordLocation).slice(0, -1);
  let place: unknown = schema;
  for (const part of parts) {
    const next = getOwn(place, part);
    place = part === "$ref" && typeof next === "string" ? followReference(schema, next) : next;
  }
  return isRecord(place) ? place : undefined;
}

/** Follows a reference of a normalised schema: to its root or to one of its definitions. */
export function followReference(schema: JsonSchema, reference: string): unknown {
  if (reference === "#") return schema;
  return getOwn(schema.$defs, reference.slice("#/$defs/".length));
}

function splitPointer(location: string): string[] {
  return location
    .split("/")
    .slice(1)
    .map((part) => decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~"));
}
