import { type OutputUnit, type Schema, Validator } from "@cfworker/json-schema";
import { FILE_UPLOADABLE_KEYWORD } from "../../wire/file.ts";
import type { JsonSchema } from "../../wire/tool.ts";
import type { CatalogEntry } from "../catalog/catalog-entry.ts";
import { ServiceError } from "../service-error.ts";
import { findPlaceholders } from "./find-placeholders.ts";

/** Validators by schema: compiling one dereferences the whole schema. */
const validators = new WeakMap<JsonSchema, Validator>();

/** Errors that only say that something below them is wrong. */
const CONTAINER_KEYWORDS = new Set([
  "$ref",
  "additionalProperties",
  "allOf",
  "dependentSchemas",
  "else",
  "if",
  "items",
  "patternProperties",
  "prefixItems",
  "properties",
  "then",
]);

/**
 * Checks arguments against the action's schema. File fields pass here: they are checked when the bytes are resolved.
 *
 * @throws ServiceError 400 `invalid_arguments` with one line per problem in `details`, paths in `missingFields` and
 *   `invalidFields`; 400 `placeholder_argument` when a value was left unfilled, such as `<file id>`.
 */
export function checkArguments(entry: CatalogEntry, args: unknown): Record<string, unknown> {
  if (!isObject(args)) {
    throw invalidArguments(entry, [{ path: "", line: "`arguments` must be an object.", isMissing: false }]);
  }
  const problems = findProblems(entry.action.inputSchema, args);
  if (problems.length > 0) throw invalidArguments(entry, problems);
  const unfilled = findPlaceholders(args);
  if (unfilled.length > 0) {
    const details = unfilled.map(({ path, value }) => `arguments.${path} is still the placeholder ${value}`);
    throw new ServiceError(400, "placeholder_argument", `${details[0]}.`, {
      type: "validation",
      details,
      hint: "Find the real value first, for example with a list or search tool, and send the call again.",
      extra: { invalidFields: unfilled.map(({ path }) => path) },
    });
  }
  return args;
}

interface Problem {
  readonly path: string;
  readonly line: string;
  readonly isMissing: boolean;
}

function findProblems(schema: JsonSchema, args: Record<string, unknown>): Problem[] {
  try {
    return getValidator(schema).validate(args).errors.flatMap(readProblem);
  } catch (error) {
    // The validator writes member names as URIs, which half a surrogate pair cannot be.
    if (!(error instanceof URIError)) throw error;
    return [{ path: "", line: "`arguments` has a member name that is not well-formed Unicode.", isMissing: false }];
  }
}

function invalidArguments(entry: CatalogEntry, problems: readonly Problem[]): ServiceError {
  const details = [...new Set(problems.map((problem) => problem.line))];
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

function getValidator(schema: JsonSchema): Validator {
  const known = validators.get(schema);
  if (known !== undefined) return known;
  const validator = new Validator(openFileFields(schema) as Schema, "2020-12", false);
  validators.set(schema, validator);
  return validator;
}

/** A copy of a schema in which a file field may be any object. */
function openFileFields(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(openFileFields);
  if (!isObject(schema)) return schema;
  if (isFileSchema(schema)) return openFileField(schema);
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, DATA_KEYWORDS.has(key) ? value : openFileFields(value)]),
  );
}

/** Keywords whose values are data, not schemas. */
const DATA_KEYWORDS = new Set(["const", "default", "enum", "examples"]);

function isFileSchema(schema: Record<string, unknown>): boolean {
  const { properties } = schema;
  if (schema[FILE_UPLOADABLE_KEYWORD] === true) return true;
  return isObject(properties) && ["name", "mimetype", "s3key"].every((name) => isObject(properties[name]));
}

function openFileField({ type, items }: Record<string, unknown>): unknown {
  const types = [type].flat();
  if (types.includes("array")) return { type: "array", items: isObject(items) ? openFileField(items) : OBJECT };
  // A URL field holds text; what the text may be is checked when it is fetched.
  const own = types.includes("string") ? types.filter((name) => name === "string" || name === "object") : ["object"];
  return { type: types.includes("null") ? [...own, "null"] : own };
}

const OBJECT = { type: "object" };

function readProblem(unit: OutputUnit): Problem[] {
  // What fails inside one alternative of a union is not wrong by itself.
  const isInsideUnion = /\/(anyOf|oneOf|not|contains)\//.test(unit.keywordLocation);
  if (CONTAINER_KEYWORDS.has(unit.keyword) || isInsideUnion) return [];
  const path = toPath(unit.instanceLocation);
  const missing = unit.keyword === "required" ? /property "(.*)"\.$/s.exec(unit.error)?.[1] : undefined;
  if (missing !== undefined) {
    const full = path === "" ? missing : `${path}.${missing}`;
    return [{ path: full, line: `arguments.${full} is required`, isMissing: true }];
  }
  const subject = path === "" ? "arguments" : `arguments.${path}`;
  return [{ path, line: `${subject} ${explain(unit)}`, isMissing: false }];
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

/** `#/a/0/b~1c` → `a[0].b/c`. */
function toPath(pointer: string): string {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : path === "" ? part : `${path}.${part}`), "");
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
