import { ExactNumber } from "../../../shared/base/exact-number.ts";
import { cloneJson, getAt, isRecord, parseJson, setOwn } from "../../../shared/base/json.ts";
import type { CheckError, CheckResult } from "../../../shared/schema-check/check-arguments.ts";
import { showLiteral } from "../../../shared/schema-check/describe-expected.ts";
import { type JsonSchema, type JsonType, readTypes } from "../../../shared/schema-check/json-schema.ts";
import { hasUncheckedPattern } from "../../../shared/schema-check/normalise-keywords.ts";
import {
  findNode,
  formatPath,
  readValuePath,
  selectErrors,
  type ValuePath,
} from "../../../shared/schema-check/select-errors.ts";

interface Repair {
  readonly schema: JsonSchema;
  readonly recheck: (args: unknown) => CheckResult;
}

/** Arguments after their repair: the very object given when nothing was changed. */
export interface RepairedArguments {
  readonly args: Record<string, unknown>;
  /** One short note per change: `used issue_number = 12`. */
  readonly repairs: string[];
  /** Errors that no repair removed. */
  readonly errors: readonly CheckError[];
}

const MAX_ROUNDS = 8;
const MAX_PLACES = 50;
const MAX_TOGETHER = 400;
/** Arguments with more faults than this are explained, not repaired. */
const MAX_ERRORS = 1_000;

/**
 * Repairs the slips models make, only where a check failed, and only when the change removes the failure: numbers and
 * booleans as text, lists and objects as JSON text, one value for a list, a number for text (unless a pattern that is
 * not run here decides about it), a value of a list of allowed ones in another letter case, null for a key that may be
 * absent. Deepest places first, at most 8 rounds.
 * Defaults are never filled in, unknown keys never dropped, values never cut. The arguments given are not changed.
 */
export function repairArguments(
  args: Record<string, unknown>,
  errors: readonly CheckError[],
  repair: Repair,
): RepairedArguments {
  let state: RepairedArguments = { args, repairs: [], errors };
  if (errors.length > MAX_ERRORS) return state;
  for (let round = 0; round < MAX_ROUNDS && state.errors.length > 0; round++) {
    const before = state;
    state = repairTogether(state, repair);
    if (state !== before) continue;
    for (const location of listPlaces(state.errors)) {
      if (state.errors.some((error) => error.instanceLocation === location)) {
        state = repairPlace(location, state, repair);
      }
    }
    if (state === before) break;
  }
  return state;
}

/**
 * Most calls with several slips have simple ones: they are mended in one go where that removes every one of them. Of
 * unions only the branch that was meant counts here.
 */
function repairTogether(state: RepairedArguments, { schema, recheck }: Repair): RepairedArguments {
  const broken = selectErrors(state.errors, { schema, args: state.args }).filter(
    ({ branches }) => branches === undefined,
  );
  const errorsHere = broken.map(({ error }) => error);
  const places = listPlaces(errorsHere, MAX_TOGETHER);
  if (places.length < 2) return state;
  const changes = places.flatMap((location) => {
    const path = readValuePath(location, state.args);
    const [change] = proposeAt(path, location, state, schema);
    return change === undefined ? [] : [{ location, path, change }];
  });
  if (changes.length < 2) return state;
  const args = applyChanges(state.args, changes);
  const repairs = [...state.repairs, ...changes.map(({ path, change }) => describeChange(path, change))];
  const result = recheck(args);
  if (result.verdict === "unknown") return state;
  const errors = result.verdict === "valid" ? [] : result.errors;
  const isMended = !errors.some((error) => changes.some(({ location }) => isAtOrBelow(error, location)));
  return isMended && countMissing(errors) <= countMissing(state.errors) ? { args, repairs, errors } : state;
}

function listPlaces(errors: readonly CheckError[], limit = MAX_PLACES): string[] {
  const places = new Set(errors.map((error) => error.instanceLocation));
  const depth = (location: string) => location.split("/").length;
  return [...places].sort((a, b) => depth(b) - depth(a)).slice(0, limit);
}

function repairPlace(location: string, state: RepairedArguments, repair: Repair): RepairedArguments {
  const path = readValuePath(location, state.args);
  for (const change of proposeAt(path, location, state, repair.schema)) {
    const args = applyChanges(state.args, [{ path, change }]);
    const result = repair.recheck(args);
    if (result.verdict === "unknown") return state;
    const errors = result.verdict === "valid" ? [] : result.errors;
    if (change.kind === "drop" && countMissing(errors) > countMissing(state.errors)) continue;
    const next = { args, repairs: [...state.repairs, describeChange(path, change)], errors };
    if (errors.length < state.errors.length && !errors.some((error) => isAtOrBelow(error, location))) return next;
    if (change.kind === "use" && typeof change.value === "object") {
      const inner = repairBelow(location, next, repair);
      if (inner.errors.length < state.errors.length && !inner.errors.some((error) => isAtOrBelow(error, location))) {
        return inner;
      }
    }
  }
  return state;
}

function proposeAt(path: ValuePath, location: string, state: RepairedArguments, schema: JsonSchema): Change[] {
  if (path.length === 0) return [];
  const here = state.errors.filter((error) => error.instanceLocation === location);
  return proposeChanges(getAt(state.args, path), path, here, schema);
}

/** A key that has to be there is not left out, whatever else that would mend. */
function countMissing(errors: readonly CheckError[]): number {
  return errors.filter(({ keyword }) => keyword === "required" || keyword === "dependentRequired").length;
}

/** A list or object just read from text may need repairs of its own before it fits. */
function repairBelow(location: string, state: RepairedArguments, repair: Repair): RepairedArguments {
  let current = state;
  for (const place of listPlaces(state.errors)) {
    if (place.startsWith(`${location}/`)) current = repairPlace(place, current, repair);
  }
  return current;
}

function isAtOrBelow(error: CheckError, location: string): boolean {
  return error.instanceLocation === location || error.instanceLocation.startsWith(`${location}/`);
}

function applyChanges(
  given: Record<string, unknown>,
  changes: readonly { readonly path: ValuePath; readonly change: Change }[],
): Record<string, unknown> {
  const args = cloneJson(given);
  for (const { path, change } of changes) {
    const holder = getAt(args, path.slice(0, -1));
    const key = path.at(-1);
    if (Array.isArray(holder) && typeof key === "number" && change.kind === "use") holder[key] = change.value;
    if (!isRecord(holder) || typeof key !== "string") continue;
    if (change.kind === "use") setOwn(holder, key, change.value);
    else delete holder[key];
  }
  return isRecord(args) ? args : given;
}

function describeChange(path: ValuePath, change: Change): string {
  if (change.kind === "drop") return `left out ${formatPath(path)} (was null)`;
  return `used ${formatPath(path)} = ${showLiteral(change.value, path)}`;
}

const MAX_JSON_TEXT = 256 * 1024;

/** A change of one value: use another value, or drop the key. */
type Change = { readonly kind: "use"; readonly value: unknown } | { readonly kind: "drop" };

/** Types and values that the failing keywords of one place accept. */
interface Wanted {
  readonly types: ReadonlySet<JsonType>;
  readonly values: readonly unknown[];
}

function readWanted(value: unknown, errors: readonly CheckError[], schema: JsonSchema): Wanted {
  const types = new Set<JsonType>();
  const values: unknown[] = [];
  for (const { keyword, keywordLocation } of errors) {
    if (keyword !== "type" && keyword !== "enum" && keyword !== "const") continue;
    const node = findNode(schema, keywordLocation);
    if (node === undefined) continue;
    // Nobody here could tell that a number is wrong once it is text.
    const isOpen = isNumber(value) && hasUncheckedPattern(node);
    const named = keyword === "type" ? (readTypes(node.type) ?? []) : [];
    for (const type of named) if (type !== "string" || !isOpen) types.add(type);
    if (keyword === "enum" && Array.isArray(node.enum)) values.push(...node.enum);
    if (keyword === "const") values.push(node.const);
  }
  return { types, values };
}

/**
 * The changes worth trying for one value that failed, most likely first. Each converts the given value into a form that
 * the failing keywords accept. Nothing is invented; null is only dropped, never converted.
 */
function proposeChanges(value: unknown, path: ValuePath, errors: readonly CheckError[], schema: JsonSchema): Change[] {
  const wanted = readWanted(value, errors, schema);
  if (value === null) return typeof path.at(-1) === "string" ? [{ kind: "drop" }] : [];
  const scalars: unknown[] = [];
  const lists: unknown[] = [];
  if (typeof value === "string") {
    scalars.push(...matchValues(value, wanted.values), ...readScalars(value, wanted.types));
    lists.push(...readJsonText(value, wanted.types));
  } else if (isNumber(value)) {
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
  const isMeant = (value: unknown) => typeof value !== "object" && String(value).toLowerCase() === folded;
  const matches = new Set(values.filter(isMeant));
  return matches.size === 1 ? [...matches] : [];
}

const NUMBER_TEXT = /^-?(?:0|[1-9]\d{0,99})(?:\.\d{1,99})?(?:[eE][+-]?\d{1,3})?$/;

/** The number or boolean a text writes out, with all its digits. */
function readScalars(text: string, types: ReadonlySet<JsonType>): unknown[] {
  const trimmed = text.trim();
  if (types.has("boolean") && /^(?:true|false)$/i.test(trimmed)) return [trimmed.toLowerCase() === "true"];
  if (!types.has("number") && !types.has("integer")) return [];
  return NUMBER_TEXT.test(trimmed) ? [ExactNumber.read(trimmed)] : [];
}

function isNumber(value: unknown): value is number | ExactNumber {
  return Number.isFinite(value) || value instanceof ExactNumber;
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
