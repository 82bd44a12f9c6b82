import { getAt, isRecord } from "../base/json.ts";
import { shortenText } from "../base/text.ts";
import type { CheckError } from "./check-arguments.ts";
import { describeNode, joinOr, listValues, showLiteral, showValue, sortByLikeness } from "./describe-expected.ts";
import { type JsonSchema, readTypes } from "./json-schema.ts";
import {
  type BrokenKeyword,
  type CheckedArguments,
  findNode,
  formatPath,
  listDeclared,
  readValuePath,
  selectErrors,
  type ValuePath,
} from "./select-errors.ts";

/** One place where arguments do not fit, in words for the caller. */
export interface ArgumentProblem {
  /** Dotted path with `[i]` for list items, `attachments[0].name`; empty for the arguments as a whole. */
  readonly path: string;
  /** The allowed type or values, in words. */
  readonly expected: string;
  /** The given type and value, cut at 60 characters; text that looks like a secret is hidden. */
  readonly got: string;
  /** `path: expected X, got Y`; for a missing required value, `path: is required and missing, expected X`. */
  readonly message: string;
  readonly isMissing: boolean;
}

/** Most problems told at once, and alternatives named for one. */
const MAX_PROBLEMS = 6;
const MAX_MISSING = 100;
/** Longest path and longest message, in characters: they may repeat names of some megabytes. */
const MAX_PATH = 500;
const MAX_MESSAGE = 2_000;
/** Characters of the locations that are looked at. */
const MAX_LOOKED = 1_000_000;
/** Longest pattern told, and longest text told with its length. */
const MAX_PATTERN = 80;
const MAX_MEASURED = 60;

interface Finding {
  readonly path: ValuePath;
  readonly expected: string;
  readonly isMissing?: boolean;
  readonly got?: string;
}

/** Words a problem; its path is cut at 500 characters, its message at 2,000. */
export function createProblem(path: ValuePath, expected: string, got: string, isMissing = false): ArgumentProblem {
  const text = shortenText(formatPath(path), MAX_PATH);
  const why = isMissing ? `is required and missing, expected ${expected}` : `expected ${expected}, got ${got}`;
  const message = shortenText(`${text || "arguments"}: ${why}`, MAX_MESSAGE);
  return { path: text, expected: isMissing ? `required ${expected}` : expected, got, message, isMissing };
}

/** Turns a validator's errors into problems, one per place. */
export function explainProblems(
  errors: readonly CheckError[],
  schema: JsonSchema,
  args: unknown,
  max = MAX_PROBLEMS,
): ArgumentProblem[] {
  const context: CheckedArguments = { schema, args };
  const problems = new Map<string, ArgumentProblem>();
  const explained = new Set<string>();
  let looked = 0;
  for (const broken of selectErrors(errors, context)) {
    if (problems.size >= max * 4 || (problems.size > 0 && looked > MAX_LOOKED)) break;
    looked += broken.error.instanceLocation.length;
    // The validator repeats itself for each missing key.
    const id = `${broken.error.instanceLocation} ${broken.error.keywordLocation}`;
    if (explained.has(id)) continue;
    explained.add(id);
    for (const { path, expected, got, isMissing } of describe(broken, context)) {
      const problem = createProblem(path, expected, got ?? showValue(getAt(args, path), path), isMissing);
      const isListing = problem.expected.startsWith("one of ");
      if (!problems.has(problem.path) || isListing) problems.set(problem.path, problem);
    }
  }
  return [...problems.values()].slice(0, max);
}

function describe(broken: BrokenKeyword, context: CheckedArguments): Finding[] {
  const { error, branches } = broken;
  const path = readValuePath(error.instanceLocation, context.args);
  const value = getAt(context.args, path);
  if (branches !== undefined) {
    const missing = describeAlternatives(error, branches, path, context);
    return [missing ?? { path, expected: describeBranches(branches, value, context) }];
  }
  if (error.keyword === "false") return [describeUnknownKey(path, context)];
  const node = findNode(context.schema, error.keywordLocation);
  if (node === undefined) return [{ path, expected: "a value the schema accepts" }];
  if (error.keyword === "required") return describeMissing(path, value, node, context);
  if (error.keyword === "dependentRequired") return describeDependent(path, value, node);
  return [describeKeyword(error.keyword, node, path, context)];
}

/** A union: the fixed values or the types of all branches together. */
function describeBranches(
  branches: readonly (readonly BrokenKeyword[])[],
  value: unknown,
  { schema }: CheckedArguments,
): string {
  const values: unknown[] = [];
  const others = new Set<string>();
  for (const branch of branches) {
    const fixed = branch.find(({ error }) => error.keyword === "enum" || error.keyword === "const");
    const first = fixed ?? branch.find(({ error }) => error.keyword === "type") ?? branch[0];
    if (first === undefined) continue;
    const node = findNode(schema, first.error.keywordLocation);
    if (fixed === undefined) for (const text of describeNode(node, schema).split(/, | or /)) others.add(text);
    else if (Array.isArray(node?.enum)) values.push(...node.enum);
    else values.push(node?.const);
  }
  const unique = [...new Set(values)];
  const parts = [...others];
  if (unique.length > 0) parts.push(listValues(unique, value));
  return joinOr(parts);
}

/** Describes a union whose branches all lack required keys: the keys of the first, then the alternatives. */
function describeAlternatives(
  union: CheckError,
  branches: readonly (readonly BrokenKeyword[])[],
  path: ValuePath,
  { schema, args }: CheckedArguments,
): Finding | undefined {
  const value = getAt(args, path);
  const around = findNode(schema, union.keywordLocation);
  const lists = branches.map((branch) => {
    const names = branch.flatMap(({ error }) => {
      const required = error.keyword === "required" ? findNode(schema, error.keywordLocation)?.required : undefined;
      return Array.isArray(required) ? required.filter((key) => isRecord(value) && !Object.hasOwn(value, key)) : [];
    });
    return [...new Set(names.map(String))];
  });
  const [[first, ...rest] = [], ...others] = lists;
  if (first === undefined || lists.some((names) => names.length === 0)) return undefined;
  const known = listDeclared(around, schema).get(first);
  const also = rest.length === 0 ? "" : ` together with ${rest.join(", ")}`;
  const either = others.slice(0, MAX_PROBLEMS).map((names) => names.join(" and "));
  return {
    path: [...path, first],
    isMissing: true,
    expected: `${describeNode(known, schema)}${also} (or give ${either.join(" or ")})`,
  };
}

function describeUnknownKey(path: ValuePath, { schema, args }: CheckedArguments): Finding {
  const key = path.at(-1);
  const known = findKnownKeys(schema, args, path.slice(0, -1));
  if (typeof key !== "string" || known.length === 0) return { path, expected: "no value here" };
  const near = sortByLikeness(known, key).slice(0, 8).join(", ");
  return { path, expected: `no such key (known: ${near}${known.length > 8 ? ", …" : ""})` };
}

/** Keys declared for an object, as far as they can be found without deciding between branches. */
function findKnownKeys(schema: JsonSchema, args: unknown, path: ValuePath): string[] {
  let node: unknown = schema;
  for (const part of path) {
    if (!isRecord(node)) return [];
    if (typeof part === "number") node = node.items;
    else node = isRecord(node.properties) ? node.properties[part] : undefined;
  }
  if (!isRecord(node) || !isRecord(node.properties) || getAt(args, path) === undefined) return [];
  return Object.keys(node.properties);
}

function describeMissing(path: ValuePath, value: unknown, node: JsonSchema, context: CheckedArguments): Finding[] {
  const required = Array.isArray(node.required) ? node.required : [];
  const properties = isRecord(node.properties) ? node.properties : {};
  const missing = required.filter((key) => isRecord(value) && !Object.hasOwn(value, key));
  return missing.slice(0, MAX_MISSING).map((key) => ({
    path: [...path, key],
    isMissing: true,
    expected: describeNode(Object.hasOwn(properties, key) ? properties[key] : true, context.schema),
  }));
}

function describeDependent(path: ValuePath, value: unknown, node: JsonSchema): Finding[] {
  const findings: Finding[] = [];
  const rules = isRecord(node.dependentRequired) ? node.dependentRequired : {};
  for (const key of Object.keys(rules)) {
    const needed = rules[key];
    if (!isRecord(value) || !Object.hasOwn(value, key) || !Array.isArray(needed)) continue;
    for (const name of needed) {
      if (findings.length < MAX_MISSING && !Object.hasOwn(value, name)) {
        findings.push({ path: [...path, name], isMissing: true, expected: `value (because "${key}" is given)` });
      }
    }
  }
  return findings;
}

/** Describes the value a broken keyword expects; `limit` is the keyword's value as text. */
type Expectation = (limit: string, node: JsonSchema, context: CheckedArguments & { readonly value: unknown }) => string;

const EXPECTATIONS: ReadonlyMap<string, Expectation> = new Map<string, Expectation>([
  ["type", (_, node, { schema }) => describeTypes(node, schema)],
  ["enum", (_, node, { value }) => listValues(Array.isArray(node.enum) ? node.enum : [], value)],
  ["const", (_, node) => showLiteral(node.const)],
  ["pattern", (pattern) => `string matching ${shortenText(pattern, MAX_PATTERN)}`],
  ["format", (format) => `string in the format ${format}`],
  ["not", () => "a value the schema does not exclude"],
  ["oneOf", () => "a value of exactly one of the allowed forms"],
  ["contains", (_, node, { schema }) => `at least one ${describeNode(node.contains, schema)} in the list`],
  ["uniqueItems", () => "no two equal items"],
  ["minLength", (limit) => `string of at least ${limit} characters`],
  ["maxLength", (limit) => `string of at most ${limit} characters`],
  ["minimum", (limit) => `number of at least ${limit}`],
  ["maximum", (limit) => `number of at most ${limit}`],
  ["exclusiveMinimum", (limit) => `number above ${limit}`],
  ["exclusiveMaximum", (limit) => `number below ${limit}`],
  ["multipleOf", (limit) => `multiple of ${limit}`],
  ["minItems", (limit) => `list of at least ${limit} items`],
  ["maxItems", (limit) => `list of at most ${limit} items`],
  ["minProperties", (limit) => `object with at least ${limit} keys`],
  ["maxProperties", (limit) => `object with at most ${limit} keys`],
  ["minContains", (limit) => `list with at least ${limit} matching items`],
  ["maxContains", (limit) => `list with at most ${limit} matching items`],
]);

function describeKeyword(keyword: string, node: JsonSchema, path: ValuePath, context: CheckedArguments): Finding {
  const value = getAt(context.args, path);
  const limit = typeof node[keyword] === "object" ? "" : String(node[keyword]);
  const expected = EXPECTATIONS.get(keyword)?.(limit, node, { ...context, value }) ?? "a value the schema accepts";
  const got = /^(?:min|max)/.test(keyword) ? describeSize(value, path) : undefined;
  return { path, expected, ...(got !== undefined && { got }) };
}

function describeTypes(node: JsonSchema, schema: JsonSchema): string {
  if (Array.isArray(node.enum) || node.const !== undefined) return describeNode(node, schema);
  return joinOr(readTypes(node.type) ?? []);
}

/** The size of a value, for a limit that it broke; undefined for a number and for long text, which tells its length itself. */
function describeSize(value: unknown, path: ValuePath): string | undefined {
  if (Array.isArray(value)) return `${value.length} items`;
  if (isRecord(value)) return `${Object.keys(value).length} keys`;
  if (typeof value !== "string" || value.length > MAX_MEASURED) return undefined;
  return `${showLiteral(value, path)} (${[...value].length})`;
}
