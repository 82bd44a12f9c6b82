import { isRecord, parseJson } from "../../base/json.ts";
import { type ArgumentChecker, type CheckError, createChecker, measureSize } from "../check/check-arguments.ts";
import { showValue } from "../check/describe-expected.ts";
import { type ArgumentProblem, createProblem, explainProblems } from "../check/explain-problems.ts";
import { normaliseSchema } from "../check/normalise-schema.ts";
import type { JsonSchema } from "../json-schema.ts";
import { repairArguments } from "./repair-arguments.ts";

/** Result of checking and repairing one call's arguments. */
export interface GuardResult {
  /** True when the arguments fit, as given or repaired, or could not be judged here. */
  readonly ok: boolean;
  /** The arguments to send: the very object given when nothing had to be repaired. `{}` when none could be read. */
  readonly args: Record<string, unknown>;
  /** One short note per repair. Empty for arguments that were fine. */
  readonly repairs: string[];
  /** Remaining problems, at most 6. Empty when `ok`. */
  readonly problems: ArgumentProblem[];
}

/** Judges the arguments of one tool. Takes any value; the root object may come as JSON text. Never throws. */
export type ArgumentGuard = (args: unknown) => GuardResult;

const MAX_ROOT_TEXT = 256 * 1024;
/** Errors that are looked at when there is no time to repair. */
const MAX_TOLD = 20;
/** A repair checks the arguments that many times. */
const REPAIR_CHECKS = 50;

interface GuardedTool {
  readonly schema: JsonSchema;
  readonly checker: ArgumentChecker;
  readonly limitsMs?: readonly number[];
}

/**
 * Makes the guard of one tool. The schema is read on the first call, not before.
 *
 * Valid arguments are returned as they are, defaults are not filled in, and unknown keys stay. Arguments that cannot be
 * checked in time (huge arguments, hostile schemas) pass: the service decides. A refusal is only advice too, since
 * services publish schemas that are stricter than their checks.
 *
 * @example
 * const guard = createArgumentGuard({ type: "object", properties: { page: { type: "integer" } } });
 * guard({ page: "2" }); // { ok: true, args: { page: 2 }, repairs: ["used page = 2"], problems: [] }
 */
export function createArgumentGuard(inputSchema: unknown, options: Pick<GuardedTool, "limitsMs"> = {}): ArgumentGuard {
  let tool: GuardedTool | undefined;
  return (given) => {
    const root = readRoot(given);
    if (root === undefined) return { ok: false, args: {}, repairs: [], problems: [createNoJsonProblem()] };
    if ("problems" in root) return root;
    try {
      if (tool === undefined) {
        const schema = normaliseSchema(inputSchema);
        tool = { schema, checker: createChecker(schema), ...options };
      }
      return judge(root, tool);
    } catch {
      return { ok: true, args: root.args, repairs: root.repairs, problems: [] };
    }
  };
}

interface Root {
  readonly args: Record<string, unknown>;
  readonly repairs: string[];
}

/** Reads the root object; undefined for a value that throws when read. */
function readRoot(given: unknown): Root | GuardResult | undefined {
  try {
    return findRoot(given);
  } catch {
    return undefined;
  }
}

function createNoJsonProblem(): ArgumentProblem {
  return createProblem([], "values JSON can hold", "something it cannot");
}

/** The root object: given as such, as JSON text, or left out by a model that had no arguments to give. */
function findRoot(given: unknown): Root | GuardResult {
  if (isRecord(given)) return { args: given, repairs: [] };
  if (given === undefined || given === null || given === "") return { args: {}, repairs: ["used {} as the arguments"] };
  let value: unknown = given;
  for (let layer = 0; layer < 2 && typeof value === "string" && value.length <= MAX_ROOT_TEXT; layer++) {
    value = parseJson(value);
  }
  if (isRecord(value)) return { args: value, repairs: ["read the arguments from JSON text"] };
  return { ok: false, args: {}, repairs: [], problems: [createProblem([], "object", showValue(given, []))] };
}

function judge(root: Root, tool: GuardedTool): GuardResult {
  const passed = { ok: true, args: root.args, repairs: root.repairs, problems: [] };
  const kind = readKind(root.args);
  if (kind === "large") return passed;
  if (kind === "deep" && endsSomewhere(root.args)) return passed;
  if (kind !== "json") {
    const copy = copyAsJson(root.args);
    if (!isRecord(copy)) return { ...passed, ok: false, problems: [createNoJsonProblem()] };
    const judged = judge({ args: copy, repairs: root.repairs }, tool);
    return judged.ok && judged.repairs === root.repairs ? passed : judged;
  }
  return checkInTime(root, tool) ?? passed;
}

/** Undefined for good arguments, and those that cannot be judged in time. */
function checkInTime({ args, repairs }: Root, { schema, checker, limitsMs }: GuardedTool): GuardResult | undefined {
  let errors: readonly CheckError[] = [];
  const onFirst = (first: readonly CheckError[]) => {
    errors = first;
  };
  const size = measureSize(args);
  const result = checker.run(size, () => checker.check(args, onFirst), limitsMs)?.value;
  if (result?.verdict === "invalid") errors = result.errors;
  else if (result !== undefined || errors.length === 0) return undefined;
  const repair = (): GuardResult => {
    const repaired = repairArguments(args, errors, { schema, recheck: (changed) => checker.check(changed) });
    const notes = [...repairs, ...repaired.repairs];
    const problems = explainProblems(repaired.errors, schema, repaired.args);
    return { ok: problems.length === 0, args: repaired.args, repairs: notes, problems };
  };
  const repaired = checker.run(size * REPAIR_CHECKS, repair, limitsMs);
  if (repaired !== undefined) return repaired.value;
  const told = checker.run(size, () => explainProblems(errors.slice(0, MAX_TOLD), schema, args), limitsMs);
  return told && { ok: false, args, repairs, problems: told.value };
}

/**
 * Kind of a value as JSON. `large`, `deep`: too many values or levels to check here; `other`: holds a value that JSON
 * changes or drops, such as undefined, NaN, a date or a function.
 */
export type ArgumentKind = "json" | "large" | "deep" | "other";

const MAX_VALUES = 10_000;
const MAX_DEPTH = 500;

/** Looks through arguments once, before they are checked. */
export function readKind(args: unknown): ArgumentKind {
  let left = MAX_VALUES;
  let isPlain = true;
  const walk = (value: unknown, depth: number): "large" | "deep" | undefined => {
    if (depth > MAX_DEPTH) return "deep";
    if (--left < 0) return "large";
    if (typeof value === "object" && value !== null) {
      isPlain &&= Array.isArray(value) || isPlainObject(value);
      for (const key of Object.keys(value)) {
        const excess = walk(Reflect.get(value, key), depth + 1);
        if (excess !== undefined) return excess;
      }
    } else if (!(value === null || ["string", "boolean"].includes(typeof value) || Number.isFinite(value))) {
      isPlain = false;
    }
    return undefined;
  };
  return walk(args, 0) ?? (isPlain ? "json" : "other");
}

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return (prototype === Object.prototype || prototype === null) && !("toJSON" in value && isFunction(value.toJSON));
}

function isFunction(value: unknown): boolean {
  return typeof value === "function";
}

/** A value as JSON would carry it; undefined when JSON cannot hold it. */
function copyAsJson(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value));
  } catch {
    return undefined;
  }
}

/** False for a value that contains itself. True also for one too deep to be looked through. */
function endsSomewhere(value: unknown): boolean {
  try {
    JSON.stringify(value);
    return true;
  } catch (error) {
    return error instanceof RangeError;
  }
}
