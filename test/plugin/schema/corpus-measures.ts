import { Validator } from "@cfworker/json-schema";
import {
  type ProjectedSchema,
  projectToolSchema,
  type SchemaProfile,
} from "../../../src/plugin/schema/project/project-schema.ts";
import type { RenamedKey } from "../../../src/plugin/schema/project/rename-keys.ts";
import { type ArgumentGuard, createArgumentGuard } from "../../../src/plugin/schema/repair/argument-guard.ts";
import { isRecord } from "../../../src/shared/base/json.ts";

/** One tool of a corpus. */
export interface CorpusTool {
  readonly id: string;
  readonly name: string;
  readonly inputSchema: unknown;
}

/** One set of arguments, labelled by independent validators; `valid` is null where they disagree. */
export interface CorpusInstance {
  readonly id: string;
  readonly kind: string;
  readonly path?: readonly (string | number)[];
  readonly valid: boolean | null;
  readonly args: unknown;
}

export interface Corpus {
  readonly name: string;
  readonly tools: readonly CorpusTool[];
  readonly instances: readonly CorpusInstance[];
}

/** Nulls that OpenAPI's `nullable` allows and strict JSON Schema refuses: accepted on purpose, so not faults. */
const CONTESTED = new Set(["null-for-nullable:true"]);
/** Faults the guard repairs, or that are nulls for keys that may be absent. */
const REPAIRABLE = new Set([
  "numeric-string",
  "bool-string",
  "array-as-json-string",
  "object-as-json-string",
  "scalar-for-array",
  "null-for-optional",
  "enum-case",
  "wrong-type:string<-number",
  "null-for-null-type",
]);

function createGuards(corpus: Corpus): ReadonlyMap<string, ArgumentGuard> {
  return new Map(corpus.tools.map((tool) => [tool.id, createArgumentGuard(tool.inputSchema)]));
}

/** How the guard judges the labelled arguments. */
export function measureGuard(corpus: Corpus): Record<string, number> {
  const guards = createGuards(corpus);
  const counts = { valid: 0, refused: 0, changed: 0, faults: 0, accepted: 0 };
  for (const instance of corpus.instances) {
    const result = guards.get(instance.id)?.(instance.args);
    if (result === undefined) throw new Error(`No tool ${instance.id}`);
    if (instance.valid === true) {
      counts.valid++;
      if (!result.ok) counts.refused++;
      else if (result.args !== instance.args || result.repairs.length > 0) counts.changed++;
    } else if (instance.valid === false && !CONTESTED.has(instance.kind) && !REPAIRABLE.has(instance.kind)) {
      counts.faults++;
      if (result.ok) counts.accepted++;
    }
  }
  return counts;
}

/** How a validator judges the labelled arguments by the projection instead of the original schema. */
export function measureProjection(corpus: Corpus, profile: SchemaProfile): Record<string, number> {
  const shown = new Map(corpus.tools.map((tool) => [tool.id, createJudge(tool, profile)]));
  const counts = { judged: 0, narrow: 0, wide: 0 };
  for (const { id, kind, valid, args } of corpus.instances) {
    if (valid === null || CONTESTED.has(kind)) continue;
    counts.judged++;
    const isShownValid = shown.get(id)?.(args);
    if (valid && !isShownValid) counts.narrow++;
    if (!valid && isShownValid) counts.wide++;
  }
  return counts;
}

function createJudge(tool: CorpusTool, profile: SchemaProfile): (args: unknown) => boolean {
  const { schema, renamed } = projectToolSchema(tool.inputSchema, { profile });
  const validator = new Validator(structuredClone(schema), "2020-12", true);
  return (args) => validator.validate(showRenamedKeys(structuredClone(args), renamed)).valid;
}

/** The reverse of `restoreRenamedKeys`: arguments as a model would write them. Changes `args`. */
export function showRenamedKeys(args: unknown, renamed: readonly RenamedKey[]): unknown {
  for (const { path, original, shown } of renamed.toSorted((a, b) => a.path.length - b.path.length)) {
    for (const holder of holders(args, path)) {
      if (!Object.hasOwn(holder, original)) continue;
      holder[shown] = holder[original];
      delete holder[original];
    }
  }
  return args;
}

function holders(value: unknown, [step, ...rest]: RenamedKey["path"]): Record<string, unknown>[] {
  if (step === undefined) return isRecord(value) ? [value] : [];
  if (step === "[]") return Array.isArray(value) ? value.flatMap((item) => holders(item, rest)) : [];
  if (!isRecord(value)) return [];
  if (step === "{}") return Object.values(value).flatMap((item) => holders(item, rest));
  if (typeof step === "object") {
    return Object.entries(value).flatMap(([key, item]) => (step.anyBut.includes(key) ? [] : holders(item, rest)));
  }
  return Object.hasOwn(value, step) ? holders(value[step], rest) : [];
}

/** Everything a provider would refuse in a projected schema, in words; for `gemini` by Google's rules as well. */
export function findIllegal({ schema }: ProjectedSchema, profile: SchemaProfile = "full"): string[] {
  const found: string[] = [];
  if (schema.type !== "object" || !isRecord(schema.properties)) found.push("root is not an object with properties");
  for (const keyword of ["anyOf", "oneOf", "allOf", "enum", "not"]) {
    if (schema[keyword] !== undefined) found.push(`root ${keyword}`);
  }
  findIllegalBelow(schema, "#", found);
  if (profile === "gemini") findUntyped(schema, "#", found);
  return found;
}

/** Google takes a type at each node or a union, and no empty list of properties below the root. */
function findUntyped(node: unknown, where: string, found: string[]): void {
  if (!isRecord(node)) return;
  if (typeof node.type !== "string" && !Array.isArray(node.anyOf)) found.push(`${where}: no type`);
  const properties = Object.entries(isRecord(node.properties) ? node.properties : {});
  if (where !== "#" && isRecord(node.properties) && properties.length === 0) found.push(`${where}: no properties`);
  for (const [key, property] of properties) findUntyped(property, `${where}/${key}`, found);
  if (node.type === "array" || node.items !== undefined) findUntyped(node.items ?? {}, `${where}/[]`, found);
  for (const branch of Array.isArray(node.anyOf) ? node.anyOf : []) findUntyped(branch, `${where}/|`, found);
}

function findIllegalBelow(node: unknown, where: string, found: string[]): void {
  if (!isRecord(node)) return;
  for (const keyword of ["$ref", "allOf", "oneOf", "not", "if", "$defs", "definitions", "$schema", "$id", "id"]) {
    if (node[keyword] !== undefined) found.push(`${where}: ${keyword}`);
  }
  for (const keyword of ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]) {
    if (Math.abs(Number(node[keyword] ?? 0)) >= 2 ** 63) found.push(`${where}: ${keyword} beyond 64 bits`);
  }
  const types = Array.isArray(node.type) ? node.type : [node.type];
  if (types.filter((type) => type !== "null").length > 1) found.push(`${where}: list of types`);
  if (types.includes("array") && !isRecord(node.items)) found.push(`${where}: list without items`);
  const properties = isRecord(node.properties) ? node.properties : {};
  for (const key of Object.keys(properties)) {
    if (!/^[A-Za-z0-9_.-]{1,64}$/.test(key) || key === "__proto__") found.push(`${where}: key ${key}`);
    findIllegalBelow(properties[key], `${where}/${key}`, found);
  }
  const required = Array.isArray(node.required) ? node.required : [];
  if (new Set(required).size < required.length) found.push(`${where}: repeated required`);
  for (const name of required) if (!Object.hasOwn(properties, name)) found.push(`${where}: required ${name}`);
  findIllegalBelow(node.items, `${where}/[]`, found);
  findIllegalBelow(node.additionalProperties, `${where}/{}`, found);
  if (Array.isArray(node.anyOf)) for (const branch of node.anyOf) findIllegalBelow(branch, `${where}/|`, found);
}

/** What a message about a fault of a kind has to ask for. */
const EXPECTED: readonly [prefix: string, expected: RegExp][] = [
  ["missing-required", /^required /],
  ["wrong-type:string", /string|one of|"/],
  ["wrong-type:number", /integer|number|one of/],
  ["fractional-integer", /integer|one of|multiple/],
  ["enum-violation", /one of|"|\d/],
  ["pattern-violation", /matching|one of/],
  ["below-minimum", /at least|above|one of/],
  ["above-maximum", /at most|below|one of/],
  ["too-long", /at most|matching|one of/],
  ["empty-string", /at least|matching|one of/],
  ["too-many-items", /at most/],
  ["too-few-items", /at least/],
  ["extra-prop", /no such key|no value|string|number|integer|boolean|object/],
  ["union-garbage", /\w/],
];

/** How good the messages about single faults are: share with the right path, expectation and value, and lengths. */
export function measureMessages(corpus: Corpus): { faults: number; complete: number; p50: number; p95: number } {
  const guards = createGuards(corpus);
  const lengths: number[] = [];
  let faults = 0;
  let complete = 0;
  for (const instance of corpus.instances) {
    const rule = EXPECTED.find(([prefix]) => instance.kind.startsWith(prefix));
    if (instance.valid !== false || rule === undefined || instance.path === undefined) continue;
    const result = guards.get(instance.id)?.(instance.args);
    if (result === undefined || result.ok) continue;
    faults++;
    const path = writePath(instance.path);
    const problem = result.problems.find((one) => one.path === path || one.path.startsWith(`${path}.`));
    lengths.push(...result.problems.map(({ message }) => message.length));
    if (problem !== undefined && rule[1].test(problem.expected) && showsValue(problem.got, instance)) complete++;
  }
  lengths.sort((a, b) => a - b);
  const at = (share: number) => lengths[Math.floor(lengths.length * share)] ?? 0;
  return { faults, complete: faults === 0 ? 1 : complete / faults, p50: at(0.5), p95: at(0.95) };
}

function writePath(path: readonly (string | number)[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === "number") return `${text}[${part}]`;
    return text === "" ? part : `${text}.${part}`;
  }, "");
}

function showsValue(got: string, { kind, path = [], args }: CorpusInstance): boolean {
  if (kind.startsWith("missing-required")) return got.includes("missing");
  let value = args;
  for (const part of path) value = isRecord(value) || Array.isArray(value) ? Reflect.get(value, part) : undefined;
  if (Array.isArray(value)) return got.includes(String(value.length)) || got.includes("[");
  return kind.startsWith("extra-prop") || got.includes(JSON.stringify(value).slice(0, 20)) || got.includes("hidden");
}

/** A slip: valid arguments with one value as a model might write it. */
interface Slip {
  readonly kind: string;
  readonly args: unknown;
  readonly intended: unknown;
}

/** Makes every slip of the repair table out of one set of valid arguments. */
export function makeSlips(args: unknown): Slip[] {
  const slips: Slip[] = [];
  const visit = (value: unknown, path: readonly (string | number)[]): void => {
    const slip = (kind: string, written: unknown) =>
      slips.push({ kind, args: replaceAt(args, path, written), intended: args });
    if (path.length > 0) {
      if (typeof value === "number") slip("number as text", String(value));
      if (typeof value === "boolean") slip("boolean as text", String(value));
      if (Array.isArray(value)) slip("array as JSON text", JSON.stringify(value));
      if (Array.isArray(value) && value.length === 1 && !Array.isArray(value[0]))
        slip("single value for a list", value[0]);
      if (isRecord(value)) slip("object as JSON text", JSON.stringify(value));
      if (typeof value === "string" && /^-?(0|[1-9]\d{0,9})$/.test(value)) slip("number for text", Number(value));
      if (typeof value === "string" && value !== value.toUpperCase())
        slip("enum in other letter case", value.toUpperCase());
    }
    if (isRecord(value)) for (const key of Object.keys(value)) visit(value[key], [...path, key]);
    else if (Array.isArray(value)) for (const [index, item] of value.entries()) visit(item, [...path, index]);
  };
  visit(args, []);
  return slips;
}

function replaceAt(args: unknown, path: readonly (string | number)[], written: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return written;
  if (Array.isArray(args)) return args.map((item, index) => (index === step ? replaceAt(item, rest, written) : item));
  if (!isRecord(args)) return args;
  return Object.fromEntries(
    Object.entries(args).map(([key, value]) => [key, key === step ? replaceAt(value, rest, written) : value]),
  );
}

function removeAt(args: unknown, path: readonly (string | number)[]): unknown {
  const [step, ...rest] = path;
  if (Array.isArray(args)) return args.map((item, index) => (index === step ? removeAt(item, rest) : item));
  if (!isRecord(args)) return args;
  const entries = Object.entries(args).filter(([key]) => key !== step || rest.length > 0);
  return Object.fromEntries(entries.map(([key, value]) => [key, key === step ? removeAt(value, rest) : value]));
}

/** Share of slips repaired exactly as meant, of those the original schema refuses; per kind `[right, all]`. */
export function measureRepairs(corpus: Corpus): Record<string, [right: number, all: number]> {
  const guards = createGuards(corpus);
  const table: Record<string, [number, number]> = {};
  const originals = new Map(corpus.tools.map((tool) => [tool.id, createOriginalJudge(tool)]));
  for (const { id, kind, path, valid, args } of corpus.instances) {
    if (kind === "null-for-optional" && valid === false && path !== undefined) {
      const result = guards.get(id)?.(args);
      const [right, all] = table["null for an absent optional"] ?? [0, 0];
      const isRight = result?.ok && JSON.stringify(result.args) === JSON.stringify(removeAt(args, path));
      table["null for an absent optional"] = [right + (isRight ? 1 : 0), all + 1];
    }
    if (valid !== true) continue;
    const judge = originals.get(id);
    const guard = guards.get(id);
    if (judge === undefined || guard === undefined || !judge(args)) continue;
    for (const slip of makeSlips(args)) {
      const result = guard(slip.args);
      if (judge(slip.args) || (result.ok && result.repairs.length === 0)) continue;
      const isRight = result.ok && JSON.stringify(result.args) === JSON.stringify(slip.intended);
      const [right, all] = table[slip.kind] ?? [0, 0];
      table[slip.kind] = [right + (isRight ? 1 : 0), all + 1];
    }
  }
  return table;
}

function createOriginalJudge(tool: CorpusTool): (args: unknown) => boolean {
  const validator = new Validator(Object(structuredClone(tool.inputSchema)), "2020-12", true);
  return (args) => {
    try {
      return validator.validate(args).valid;
    } catch {
      return false;
    }
  };
}
