import { unescape as decode } from "node:querystring";
import type { OutputUnit } from "@cfworker/json-schema";
import type { CatalogEntry } from "../catalog/catalog-entry.ts";
import { ServiceError } from "../service-error.ts";
import { shortenText } from "../shorten-text.ts";
import { findPlaceholders } from "./find-placeholders.ts";
import { listCauses, UnusableSchema, validateArguments } from "./validate-arguments.ts";

/** Most problems that an answer names. */
const MAX_PROBLEMS = 100;
/** Longest path and longest line of an answer, in characters. */
const MAX_PATH = 500;
const MAX_LINE = 10_000;

/**
 * Checks arguments against the action's schema. File fields pass here: they are checked when the bytes are resolved.
 *
 * @throws ServiceError 400 `invalid_arguments` with one line for each of up to 100 problems in `details`, paths in
 *   `missingFields` and `invalidFields`; 400 `placeholder_argument` when a value was left unfilled, such as `<file id>`. Long
 *   names are cut. 422 `integration_misconfigured` for a schema that nothing can be checked by.
 */
export function checkArguments(entry: CatalogEntry, args: unknown): Record<string, unknown> {
  if (!isObject(args)) {
    throw invalidArguments(entry, [{ path: "", line: "`arguments` must be an object.", isMissing: false }]);
  }
  const errors = findErrors(entry, args);
  if (errors.length > 0) throw invalidArguments(entry, readProblems(dropAlternatives(errors)));
  refusePlaceholders(args);
  return args;
}

function findErrors({ action, integration }: CatalogEntry, args: Record<string, unknown>): readonly OutputUnit[] {
  try {
    return validateArguments(action.inputSchema, args);
  } catch (error) {
    if (!(error instanceof UnusableSchema)) throw error;
    const message = `The arguments of "${action.title}" cannot be checked: the schema that ${integration.name} has for them is broken.`;
    throw new ServiceError(422, "integration_misconfigured", message, {
      type: "configuration",
      hint: "Use another action. Whoever makes the app has to correct the input schema of this one.",
      cause: error.cause,
    });
  }
}

function refusePlaceholders(args: Record<string, unknown>): void {
  const unfilled = new Map<string, string>();
  for (const { path, value } of findPlaceholders(args)) {
    unfilled.set(path, `arguments.${path} is still the placeholder ${value}`);
    if (unfilled.size === MAX_PROBLEMS) break;
  }
  const details = [...unfilled.values()];
  if (details.length === 0) return;
  throw new ServiceError(400, "placeholder_argument", `${details[0]}.`, {
    type: "validation",
    details,
    hint: "Find the real value first, for example with a list or search tool, and send the call again.",
    extra: { invalidFields: [...unfilled.keys()] },
  });
}

interface Problem {
  readonly path: string;
  readonly line: string;
  readonly isMissing: boolean;
}

function invalidArguments(entry: CatalogEntry, problems: readonly Problem[]): ServiceError {
  const details = problems.map((problem) => problem.line);
  const paths = (isMissing: boolean) => [
    ...new Set(problems.filter((problem) => problem.isMissing === isMissing).map((problem) => problem.path)),
  ];
  return new ServiceError(400, "invalid_arguments", details[0] ?? "The arguments are not valid.", {
    type: "validation",
    details,
    hint: `Correct what \`details\` names and send the call again; GET /api/tools/${entry.toolName} shows the full input schema.`,
    extra: { missingFields: paths(true), invalidFields: paths(false).filter((path) => path !== "") },
  });
}

/** Keywords of which one alternative may fail without being wrong by itself, or which say themselves what is wrong. */
const UNIONS = new Set(["anyOf", "oneOf", "not", "contains", "propertyNames"]);
/** Keywords below which the next part of a location is a name or an index. */
const NAMED = new Set([
  ...["properties", "patternProperties", "dependentSchemas", "dependencies"],
  ...["allOf", "anyOf", "oneOf", "prefixItems"],
]);

/** Leaves out what fails inside one alternative of a union. */
function dropAlternatives(units: readonly OutputUnit[]): OutputUnit[] {
  let isInside = false;
  return units.filter(({ keyword, keywordLocation }) => {
    // A `false` schema has the location of the value; it belongs to the keyword before it.
    if (keyword === "false") return !isInside;
    const isAlternative = isInsideUnion(keywordLocation);
    isInside = isAlternative || UNIONS.has(keyword);
    return !isAlternative;
  });
}

function isInsideUnion(keywordLocation: string): boolean {
  const parts = keywordLocation.split("/").slice(1);
  for (let at = 0; at < parts.length - 1; at += 1) {
    const keyword = parts[at] ?? "";
    if (UNIONS.has(keyword)) return true;
    if (NAMED.has(keyword) || /^\d+$/.test(parts[at + 1] ?? "")) at += 1;
  }
  return false;
}

/** Each problem once, though a schema may say the same in several places. */
function readProblems(units: readonly OutputUnit[]): Problem[] {
  const problems = new Map<string, Problem>();
  for (const unit of listCauses(units)) {
    if (problems.size === MAX_PROBLEMS) break;
    const problem = readProblem(unit);
    if (!problems.has(problem.line)) problems.set(problem.line, problem);
  }
  return [...problems.values()];
}

function readProblem(unit: OutputUnit): Problem {
  if (unit.keyword === "") return { path: "", line: unit.error, isMissing: false };
  const path = toPath(unit.instanceLocation);
  const missing = unit.keyword === "required" ? /property "(.*)"\.$/s.exec(unit.error)?.[1] : undefined;
  if (missing !== undefined) {
    const full = shortenText(path === "" ? missing : `${path}.${missing}`, MAX_PATH);
    return { path: full, line: `arguments.${full} is required`, isMissing: true };
  }
  const subject = path === "" ? "arguments" : `arguments.${path}`;
  return { path, line: shortenText(`${subject} ${explain(unit)}`, MAX_LINE), isMissing: false };
}

function explain({ keyword, error }: OutputUnit): string {
  const quoted = [...error.matchAll(/"([^"]*)"/g)].map((match) => match[1]);
  if (keyword === "false") return "is not an argument of this tool";
  if (keyword === "type") return `must be ${quoted[1]}, not ${quoted[0]}`;
  if (keyword === "enum")
    return `must be one of ${error.replace("Instance does not match any of ", "").replace(/\.$/, "")}`;
  if (keyword === "anyOf" || keyword === "oneOf") return "matches none of the allowed forms";
  return `is not valid: ${error}`;
}

/** `#/a/0/b~1c` → `a[0].b/c`; a long one is cut after 500 characters. */
export function toPath(pointer: string): string {
  const path = pointer
    // A character is written as at most 12. Where one is cut in two, this decoder takes what there is.
    .slice(0, MAX_PATH * 12)
    .split("/")
    .slice(1)
    .map((part) => decode(part).replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : path === "" ? part : `${path}.${part}`), "");
  return shortenText(path, MAX_PATH);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
