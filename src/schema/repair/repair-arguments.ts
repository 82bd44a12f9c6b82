import { cloneJson, getOwn, isRecord, setOwn } from "../../base/json.ts";
import type { CheckError, CheckResult } from "../check/check-arguments.ts";
import { showLiteral } from "../check/describe-expected.ts";
import { formatPath, getAt, readValuePath, type ValuePath } from "../check/schema-location.ts";
import { selectErrors } from "../check/select-errors.ts";
import type { JsonSchema } from "../json-schema.ts";
import { type Change, proposeChanges } from "./propose-changes.ts";

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
  schema: JsonSchema,
  recheck: Recheck,
): RepairedArguments {
  let state: RepairedArguments = { args, repairs: [], errors };
  if (errors.length > MAX_ERRORS) return state;
  for (let round = 0; round < MAX_ROUNDS && state.errors.length > 0; round++) {
    const before = state;
    state = repairTogether(state, schema, recheck);
    if (state !== before) continue;
    for (const location of listPlaces(state.errors)) {
      if (state.errors.some((error) => error.instanceLocation === location)) {
        state = repairPlace(location, state, schema, recheck);
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
function repairTogether(state: RepairedArguments, schema: JsonSchema, recheck: Recheck): RepairedArguments {
  const broken = selectErrors(state.errors, { schema, args: state.args }).filter(
    ({ branches }) => branches === undefined,
  );
  const places = listPlaces(
    broken.map(({ error }) => error),
    MAX_TOGETHER,
  );
  if (places.length < 2) return state;
  const args = cloneJson(state.args);
  const repairs = [...state.repairs];
  const changed: string[] = [];
  for (const location of places) {
    const path = readValuePath(location, args);
    const [change] = proposeAt(path, location, state, schema);
    if (change === undefined) continue;
    changeInPlace(args, path, change);
    repairs.push(describeChange(path, change));
    changed.push(location);
  }
  if (changed.length < 2 || !isRecord(args)) return state;
  const result = recheck(args);
  if (result.verdict === "unknown") return state;
  const errors = result.verdict === "valid" ? [] : result.errors;
  const isMended = !errors.some((error) => changed.some((location) => isAtOrBelow(error, location)));
  return isMended && countMissing(errors) <= countMissing(state.errors) ? { args, repairs, errors } : state;
}

/** Where something is wrong, deepest first. */
function listPlaces(errors: readonly CheckError[], limit = MAX_PLACES): string[] {
  const places = new Set(errors.map((error) => error.instanceLocation));
  const depths = [...places].map((location) => ({ location, depth: location.split("/").length }));
  const sorted = depths.sort((a, b) => b.depth - a.depth).map(({ location }) => location);
  return sorted.slice(0, limit);
}

function repairPlace(
  location: string,
  state: RepairedArguments,
  schema: JsonSchema,
  recheck: Recheck,
): RepairedArguments {
  const path = readValuePath(location, state.args);
  for (const change of proposeAt(path, location, state, schema)) {
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

function changeInPlace(args: unknown, path: ValuePath, change: Change): void {
  const holder = getAt(args, path.slice(0, -1));
  const key = path.at(-1);
  if (Array.isArray(holder) && typeof key === "number" && change.kind === "use") holder[key] = change.value;
  if (!isRecord(holder) || typeof key !== "string") return;
  if (change.kind === "use") setOwn(holder, key, change.value);
  else delete holder[key];
}

/** A copy of the arguments with one value changed; what is beside the way to it is shared. */
function applyChange(args: Record<string, unknown>, path: ValuePath, change: Change): Record<string, unknown> {
  const changed = changeAt(args, path, change);
  return isRecord(changed) ? changed : args;
}

function changeAt(value: unknown, [key, ...rest]: ValuePath, change: Change): unknown {
  if (key === undefined) return change.kind === "use" ? change.value : undefined;
  if (Array.isArray(value)) {
    const items = [...value];
    items[Number(key)] = changeAt(items[Number(key)], rest, change);
    return items;
  }
  if (!isRecord(value)) return value;
  const copy = { ...value };
  if (change.kind === "drop" && rest.length === 0) delete copy[String(key)];
  else setOwn(copy, String(key), changeAt(getOwn(value, String(key)), rest, change));
  return copy;
}

function describeChange(path: ValuePath, change: Change): string {
  if (change.kind === "drop") return `left out ${formatPath(path)} (was null)`;
  return `used ${formatPath(path)} = ${showLiteral(change.value, path)}`;
}
