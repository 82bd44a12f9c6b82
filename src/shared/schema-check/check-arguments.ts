import { type Schema, Validator } from "@cfworker/json-schema";
import { toDoubles } from "../base/exact-number.ts";
import { isRecord } from "../base/json.ts";
import { within } from "../base/within.ts";
import type { JsonSchema } from "./json-schema.ts";
import { isQuickPattern } from "./read-pattern.ts";

/** One error of the validator; locations are JSON pointers with `#` before them. */
export interface CheckError {
  readonly keyword: string;
  readonly keywordLocation: string;
  readonly instanceLocation: string;
  readonly error: string;
}

/** The validator's verdict. `unknown`: it cannot check these arguments, and `why` ends a sentence that they begin. */
export type CheckResult =
  | { readonly verdict: "valid" }
  | { readonly verdict: "unknown"; readonly why: string }
  | { readonly verdict: "invalid"; readonly errors: readonly CheckError[] };

/** Checks arguments against one schema. */
export interface ArgumentChecker {
  /**
   * Never throws, but may take for ever; use `run` to limit the time.
   *
   * @param onFirst called with the first errors, before all are listed
   */
  check(args: unknown, onFirst?: (errors: readonly CheckError[]) => void): CheckResult;
  /**
   * Runs work that checks arguments of one size, as {@link measureSize} gives it, and ends it when a limit is reached:
   * it is tried once per limit, since a busy machine may have caused the delay. There is no limit when schema and
   * arguments are too small to take long.
   *
   * @param limitsMs default 250, then 1,000
   * @returns undefined when the work was ended each time
   */
  run<T>(size: number, work: () => T, limitsMs?: readonly number[]): { readonly value: T } | undefined;
}

/** A check takes a millisecond; hostile ones would take hours. */
export const LIMITS_MS: readonly number[] = [250, 1_000];
/** Parts of a schema times values that are checked without a limit; some 20 ms. */
const MAX_QUICK = 100_000;
/** Weight of comparing all items of a list with each other. */
const UNIQUE_WEIGHT = 250;
/** A text counts as a value for each so many characters. */
const CHARACTERS_PER_VALUE = 100;
/** Formats that the validator matches in a time that doubles with each character. */
const SLOW_FORMATS: ReadonlySet<unknown> = new Set(["url"]);

/**
 * Compiles a normalised schema.
 *
 * @throws the validator's error for a schema it cannot read
 */
export function createChecker(schema: JsonSchema): ArgumentChecker {
  const first = new Validator(schema as Schema, "2020-12", true);
  let all: Validator | undefined;
  const weight = weigh(schema, false) * Math.max(1, countReferences(schema));
  return {
    check(args, onFirst) {
      try {
        const shown = toDoubles(args);
        const { valid, errors } = first.validate(shown);
        if (valid) return { verdict: "valid" };
        onFirst?.(errors);
        all ??= new Validator(schema as Schema, "2020-12", false);
        return { verdict: "invalid", errors: listAll(all, shown) ?? errors };
      } catch (error) {
        return { verdict: "unknown", why: explainThrown(error) };
      }
    },
    run(size, work, limitsMs = LIMITS_MS) {
      if (weight * size <= MAX_QUICK) return { value: work() };
      for (const limit of limitsMs) {
        const ended = within(limit, work);
        if (ended !== undefined) return ended;
      }
      return undefined;
    },
  };
}

/** Values of arguments, longer texts and names counted as several. Works through its own list, not the stack. */
export function measureSize(args: unknown): number {
  const open = [args];
  let size = 0;
  while (open.length > 0) {
    const value = open.pop();
    size += 1;
    if (typeof value === "string") size += value.length / CHARACTERS_PER_VALUE;
    if (typeof value !== "object" || value === null) continue;
    for (const [name, member] of Object.entries(value)) {
      size += name.length / CHARACTERS_PER_VALUE;
      open.push(member);
    }
  }
  return size;
}

/** Undefined when there are too many: the validator passes them on as arguments of one call. */
function listAll(validator: Validator, args: unknown): readonly CheckError[] | undefined {
  try {
    return validator.validate(args).errors;
  } catch {
    return undefined;
  }
}

function explainThrown(error: unknown): string {
  // It writes member names as URIs, which half a surrogate pair cannot be.
  if (error instanceof URIError) return "has a member name that is not well-formed Unicode";
  return error instanceof RangeError ? "is nested too deeply to be checked" : "cannot be checked";
}

/** The parts of a schema; infinite where a part may take long for one value, or come back to itself. */
function weigh(value: unknown, isDefinition: boolean): number {
  if (typeof value === "string") return 1 + value.length / CHARACTERS_PER_VALUE;
  if (typeof value !== "object" || value === null) return 1;
  let weight = 1;
  for (const [key, part] of Object.entries(value)) {
    if (mayTakeLong(key, part, isDefinition)) return Number.POSITIVE_INFINITY;
    weight += key === "uniqueItems" ? UNIQUE_WEIGHT : weigh(part, isDefinition || key === "$defs");
  }
  return weight;
}

function mayTakeLong(keyword: string, value: unknown, isDefinition: boolean): boolean {
  if (keyword === "patternProperties" && isRecord(value)) return !Object.keys(value).every(isQuickPattern);
  if (typeof value !== "string") return false;
  if (keyword === "$ref") return isDefinition || value === "#";
  return keyword === "pattern" ? !isQuickPattern(value) : keyword === "format" && SLOW_FORMATS.has(value);
}

function countReferences(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const own = "$ref" in value ? 1 : 0;
  return Object.values(value).reduce((sum: number, part) => sum + countReferences(part), own);
}
