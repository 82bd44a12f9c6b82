import type { CheckError } from "./check-arguments.ts";

/** A keyword the arguments broke. With `branches`: a union none of whose branches fits, and what each found. */
export interface BrokenKeyword {
  readonly error: CheckError;
  readonly branches?: readonly (readonly BrokenKeyword[])[];
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

const MAX_ERRORS = 400;

/**
 * Reduces the validator's errors to those worth telling. Of a union only the branch that was meant is kept: the one of
 * the value's type whose fixed values (discriminators) agree, then the one with the fewest faults.
 */
export function selectErrors(errors: readonly CheckError[]): BrokenKeyword[] {
  return select(errors.slice(0, MAX_ERRORS));
}

function select(errors: readonly CheckError[]): BrokenKeyword[] {
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
    else selected.push(...chooseBranch(error, errors.slice(start, end)));
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

function chooseBranch(union: CheckError, errors: readonly CheckError[]): BrokenKeyword[] {
  const branches = splitBranches(union, errors).map(select);
  const fitting = branches.filter((branch) => !branch.some((broken) => contradicts(broken, union.instanceLocation)));
  const best = fitting.toSorted((a, b) => countFaults(a) - countFaults(b))[0];
  // No errors at all: a "oneOf" that more than one branch matched.
  if (branches.length === 0) return [{ error: union }];
  if (best === undefined) return [{ error: union, branches }];
  const discriminator = best.find(({ error }) => isFixedValue(error));
  if (discriminator === undefined) return best;
  const location = discriminator.error.instanceLocation;
  const sameField = fitting.map((branch) => branch.filter((broken) => broken.error.instanceLocation === location));
  if (sameField.every((broken) => broken.length > 0)) return [{ error: discriminator.error, branches: sameField }];
  return best;
}

function splitBranches(union: CheckError, errors: readonly CheckError[]): CheckError[][] {
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
  return [...branches.values()];
}

/** True when a branch is not of the value's kind at all. */
function contradicts({ error }: BrokenKeyword, location: string): boolean {
  return error.instanceLocation === location && ["type", "enum", "const", "false", "not"].includes(error.keyword);
}

function isFixedValue(error: CheckError): boolean {
  return error.keyword === "const" || error.keyword === "enum";
}

function countFaults(branch: readonly BrokenKeyword[]): number {
  let faults = 0;
  for (const { error } of branch) faults += isFixedValue(error) ? 100 : 1;
  return faults;
}
