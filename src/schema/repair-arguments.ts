import type { CheckError, CheckResult } from "./check-arguments.ts";
import { cloneJson, isRecord, type JsonSchema, type JsonType, readTypes, setOwn } from "./json-schema.ts";
import { findNode, formatPath, getAt, readValuePath, type ValuePath } from "./schema-location.ts";
import { showLiteral } from "./show-value.ts";

/** Checks a changed copy of the arguments. */
export type Recheck = (args: unknown) => CheckResult;

/** Arguments after repair, what was changed, and the errors that are left. */
export interface RepairedArguments {
  readonly args: Record<string, unknown>;
  /** One short note per change: `used issue_number = 12`. */
  readonly repairs: string[];
  readonly errors: readonly CheckError[];
}

const MAX_ROUNDS = 8;
const MAX_PLACES = 50;
const MAX_JSON_TEXT = 256 * 1024;

/** A way to change one value: what to put there, or to leave the key out. */
type Change = { readonly kind: "use"; readonly value: unknown } | { readonly kind: "drop" };

/**
 * Repairs the slips models make, only where a check failed, and only when the change removes the failure: numbers and
 * booleans as text, lists and objects as JSON text, one value for a list, a number for text, a value of a list of
 * allowed ones in another letter case, null for a key that may be absent. Deepest places first, at most 8 rounds.
 * Defaults are never filled in, unknown keys never dropped, values never cut. The arguments given are not changed.
 */
export function repairArguments(
  args: Record<string, unknown>,
  errors: readonly CheckError[],
  schema: JsonSchema,
  recheck: Recheck,
): RepairedArguments {
  let state: RepairedArguments = { args, repairs: [], errors };
  for (let round = 0; round < MAX_ROUNDS && state.errors.length > 0; round++) {
    const before = state;
    for (const location of listPlaces(state.errors)) {
      if (state.errors.some((error) => error.instanceLocation === location)) {
        state = repairPlace(location, state, schema, recheck);
      }
    }
    if (state === before) break;
  }
  return state;
}

/** Where something is wrong, deepest first. */
function listPlaces(errors: readonly CheckError[]): string[] {
  const places = new Set(errors.map((error) => error.instanceLocation));
  const depth = (location: string) => location.split("/").length;
  return [...places].sort((a, b) => depth(b) - depth(a)).slice(0, MAX_PLACES);
}

function repairPlace(
  location: string,
  state: RepairedArguments,
  schema: JsonSchema,
  recheck: Recheck,
): RepairedArguments {
  const path = readValuePath(location, state.args);
  if (path.length === 0) return state;
  const wanted = readWanted(
    state.errors.filter((error) => error.instanceLocation === location),
    schema,
  );
  for (const change of proposeChanges(getAt(state.args, path), path, wanted)) {
    const args = applyChange(state.args, path, change);
    const result = recheck(args);
    if (result.verdict === "unknown") return state;
    const errors = result.verdict === "valid" ? [] : result.errors;
    if (change.kind === "drop" && countMissing(errors) > countMissing(state.errors)) continue;
    const next = { args, repairs: [...state.repairs, describeChange(path, change)], errors };
    if (errors.length < state.errors.length && !errors.some((error) => isAtOrBelow(error, location))) return next;
    if (change.kind === "use" && typeof change.value === "object") {
      const inner = repairBelow(location, next, schema, recheck);
      if (inner.errors.length < state.errors.length && !inner.errors.some((error) => isAtOrBelow(error, location))) {
        return inner;
      }
    }
  }
  return state;
}

/** A key that has to be there is not left out, whatever else that would mend. */
function countMissing(errors: readonly CheckError[]): number {
  return errors.filter(({ keyword }) => keyword === "required" || keyword === "dependentRequired").length;
}

/** A list or object just read from text may need repairs of its own before it fits. */
function repairBelow(
  location: string,
  state: RepairedArguments,
  schema: JsonSchema,
  recheck: Recheck,
): RepairedArguments {
  let current = state;
  for (const place of listPlaces(state.errors)) {
    if (place.startsWith(`${location}/`)) current = repairPlace(place, current, schema, recheck);
  }
  return current;
}

function isAtOrBelow(error: CheckError, location: string): boolean {
  return error.instanceLocation === location || error.instanceLocation.startsWith(`${location}/`);
}

/** What the failing keywords of one place ask for. */
interface Wanted {
  readonly types: ReadonlySet<JsonType>;
  readonly values: readonly unknown[];
}

function readWanted(errors: readonly CheckError[], schema: JsonSchema): Wanted {
  const types = new Set<JsonType>();
  const values: unknown[] = [];
  for (const { keyword, keywordLocation } of errors) {
    if (keyword !== "type" && keyword !== "enum" && keyword !== "const") continue;
    const node = findNode(schema, keywordLocation);
    if (node === undefined) continue;
    if (keyword === "type") for (const type of readTypes(node.type) ?? []) types.add(type);
    if (keyword === "enum" && Array.isArray(node.enum)) values.push(...node.enum);
    if (keyword === "const") values.push(node.const);
  }
  return { types, values };
}

function proposeChanges(value: unknown, path: ValuePath, wanted: Wanted): Change[] {
  if (value === null) return typeof path.at(-1) === "string" ? [{ kind: "drop" }] : [];
  const scalars: unknown[] = [];
  const lists: unknown[] = [];
  if (typeof value === "string") {
    scalars.push(...matchValues(value, wanted.values), ...readScalars(value, wanted.types));
    lists.push(...readJsonText(value, wanted.types));
  } else if (typeof value === "number" && Number.isFinite(value)) {
    const wantsNumber = wanted.types.has("number") || wanted.types.has("integer");
    const wantsText = wanted.types.has("string") || wanted.values.includes(String(value));
    if (wantsText && !wantsNumber) scalars.push(String(value));
  }
  if (wanted.types.has("array") && value !== undefined && !Array.isArray(value)) {
    lists.push([value]);
    if (typeof value === "string") lists.push(...readScalars(value, SCALARS).map((scalar) => [scalar]));
  }
  return [...scalars, ...lists].map((use) => ({ kind: "use", value: use }));
}

const SCALARS: ReadonlySet<JsonType> = new Set(["number", "boolean"]);

/** The one allowed value a text means: the same but for letter case and outer blanks, or the value's own text. */
function matchValues(text: string, values: readonly unknown[]): unknown[] {
  const folded = text.trim().toLowerCase();
  const matches = new Set(values.filter((value) => isScalar(value) && String(value).toLowerCase() === folded));
  return matches.size === 1 ? [...matches] : [];
}

function isScalar(value: unknown): boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

const NUMBER_TEXT = /^-?(?:0|[1-9]\d{0,99})(?:\.\d{1,99})?(?:[eE][+-]?\d{1,3})?$/;
const MAX_DIGITS = 15;

/** The number or boolean a text writes out. Numbers that would lose digits stay text. */
function readScalars(text: string, types: ReadonlySet<JsonType>): unknown[] {
  const trimmed = text.trim();
  if (types.has("boolean") && /^(?:true|false)$/i.test(trimmed)) return [trimmed.toLowerCase() === "true"];
  if (!types.has("number") && !types.has("integer")) return [];
  if (!NUMBER_TEXT.test(trimmed)) return [];
  const number = Number(trimmed);
  const digits = trimmed.replace(/[eE].*$/, "").replace(/[^0-9]/g, "").length;
  const isExact = digits <= MAX_DIGITS || (/^-?\d+$/.test(trimmed) && BigInt(number) === BigInt(trimmed));
  return Number.isFinite(number) && isExact ? [number] : [];
}

function readJsonText(text: string, types: ReadonlySet<JsonType>): unknown[] {
  const trimmed = text.trim();
  const wanted = trimmed.startsWith("[") ? "array" : trimmed.startsWith("{") ? "object" : undefined;
  if (wanted === undefined || trimmed.length > MAX_JSON_TEXT) return [];
  const value = parseJson(trimmed);
  if (value === undefined) return [];
  if (types.has(wanted)) return [value];
  return wanted === "object" && types.has("array") ? [[value]] : [];
}

/** The value of a JSON text, or undefined when it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A copy of the arguments with one value changed. */
function applyChange(args: Record<string, unknown>, path: ValuePath, change: Change): Record<string, unknown> {
  const copy = cloneJson(args);
  const parent = getAt(copy, path.slice(0, -1));
  const key = path.at(-1);
  if (Array.isArray(parent) && typeof key === "number" && change.kind === "use") parent[key] = change.value;
  if (isRecord(parent) && typeof key === "string") {
    if (change.kind === "drop") delete parent[key];
    else setOwn(parent, key, change.value);
  }
  return isRecord(copy) ? copy : {};
}

function describeChange(path: ValuePath, change: Change): string {
  if (change.kind === "drop") return `left out ${formatPath(path)} (was null)`;
  return `used ${formatPath(path)} = ${showLiteral(change.value, path)}`;
}
