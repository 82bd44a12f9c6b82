import { ExactNumber, parseExactly } from "../../../shared/base/exact-number.ts";
import { isRecord, parseJson } from "../../../shared/base/json.ts";
import {
  type ArgumentChecker,
  type CheckError,
  createChecker,
  measureSize,
} from "../../../shared/schema-check/check-arguments.ts";
import { showValue } from "../../../shared/schema-check/describe-expected.ts";
import { type ArgumentProblem, createProblem, explainProblems } from "../../../shared/schema-check/explain-problems.ts";
import type { JsonSchema } from "../../../shared/schema-check/json-schema.ts";
import { normaliseSchema } from "../../../shared/schema-check/normalise-schema.ts";
import { repairArguments } from "./repair-arguments.ts";

/** Result of a check before sending, with the repairs made. */
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
/** Larger arguments, by {@link measureSize}, are not judged. */
const MAX_SIZE = 20_000;
/** Deeper arguments are written as JSON first, which ends where a check would run out of stack. */
const MAX_DEPTH = 500;
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
    if ("problems" in root) return root;
    const { args, repairs } = root;
    const passed = { ok: true, args, repairs, problems: [] };
    const size = measureSize(root.plain);
    if (size > MAX_SIZE) return passed;
    try {
      if (tool === undefined) {
        const schema = normaliseSchema(inputSchema);
        tool = { schema, checker: createChecker(schema), ...options };
      }
      const judged = checkInTime(root, tool, size) ?? passed;
      return judged.repairs.length > repairs.length ? judged : { ...judged, args };
    } catch {
      return passed;
    }
  };
}

interface Root {
  readonly args: Record<string, unknown>;
  /** The arguments as JSON carries them. */
  readonly plain: Record<string, unknown>;
  readonly repairs: string[];
}

/** The root object: given as such, as JSON text, or left out by a model that had no arguments to give. */
function readRoot(given: unknown): Root | GuardResult {
  const refuse = (expected: string, got: string): GuardResult => {
    return { ok: false, args: {}, repairs: [], problems: [createProblem([], expected, got)] };
  };
  const isLeftOut = given === undefined || given === null || given === "";
  let value: unknown = isLeftOut ? {} : given;
  const note = isLeftOut ? "used {} as the arguments" : "read the arguments from JSON text";
  try {
    for (let layer = 0; layer < 2 && typeof value === "string" && value.length <= MAX_ROOT_TEXT; layer++) {
      value = parseJson(value);
    }
    if (!isRecord(value)) return refuse("object", showValue(given, []));
    const plain: unknown = isPlain(value) ? value : parseExactly(JSON.stringify(value));
    if (isRecord(plain)) return { args: value, plain, repairs: value === given ? [] : [note] };
  } catch (error) {
    // Nested too deeply to be judged here.
    if (error instanceof RangeError && isRecord(value)) return { ok: true, args: value, repairs: [], problems: [] };
  }
  return refuse("values JSON can hold", "something it cannot");
}

/** False for values that JSON changes or drops, such as undefined, NaN, a date or a function; also for very many. */
function isPlain(args: unknown): boolean {
  let level = [args];
  for (let left = MAX_SIZE, depth = 0; level.length > 0; depth++) {
    left -= level.length;
    if (left < 0 || depth > MAX_DEPTH) return false;
    const below: unknown[] = [];
    for (const value of level) {
      if (!isPlainValue(value)) return false;
      if (typeof value === "object" && value !== null) for (const part of Object.values(value)) below.push(part);
    }
    level = below;
  }
  return true;
}

function isPlainValue(value: unknown): boolean {
  if (value instanceof ExactNumber) return true;
  if (typeof value !== "object" || value === null) {
    return value === null || typeof value === "string" || typeof value === "boolean" || Number.isFinite(value);
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  return (Array.isArray(value) || prototype === Object.prototype || prototype === null) && !("toJSON" in value);
}

/** Undefined for good arguments, and those that cannot be judged in time. */
function checkInTime(
  { plain: args, repairs }: Root,
  { schema, checker, limitsMs }: GuardedTool,
  size: number,
): GuardResult | undefined {
  let errors: readonly CheckError[] = [];
  const onFirst = (first: readonly CheckError[]) => {
    errors = first;
  };
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
