import { FILE_UPLOADABLE_KEYWORD } from "../../wire/file.ts";
import { readSafePattern } from "../../wire/safe-pattern.ts";

type Node = Readonly<Record<string, unknown>>;

/** Keywords whose values are schemas by name. */
const MAPS = new Set(["$defs", "definitions", "properties", "patternProperties", "dependentSchemas", "dependencies"]);
/** Keywords whose values are data, not schemas. */
const DATA = new Set(["const", "default", "enum"]);
/** A pattern for keys is used when it may be run on keys of this many characters; nobody has longer ones. */
const LONG_KEY = 128;
/** Longest list whose items are compared with each other. */
const MAX_UNIQUE = 500;
/** Formats that the validator matches in a time that doubles with each character. */
const SLOW_FORMATS = new Set<unknown>(["url"]);

/**
 * A copy of an action's schema as arguments are checked by it: a file field may be any object, and nothing in it, though an
 * added app may bring any schema, takes long. Patterns of another language than JavaScript, those that could take too long
 * and values too long for theirs are left to the app's own system.
 *
 * @param onVisit called each time the validator looks at a value with a part of the schema; may throw to end it
 */
export function boundSchema(schema: unknown, onVisit: () => void): unknown {
  return copySchema(schema, { onVisit, isWhole: false });
}

/** {@link boundSchema} for a schema that is taken at its word: whoever wrote it answers for its patterns and lists. */
export function watchSchema(schema: unknown, onVisit: () => void): unknown {
  return copySchema(schema, { onVisit, isWhole: true });
}

interface CopyRules {
  readonly onVisit: () => void;
  /** True where nothing is left out, whatever it takes. */
  readonly isWhole: boolean;
}

function copySchema(schema: unknown, rules: CopyRules): unknown {
  if (Array.isArray(schema)) return schema.map((one) => copySchema(one, rules));
  if (!isObject(schema)) return schema;
  if (!rules.isWhole && isFileSchema(schema)) return openFileField(schema);
  const entries = Object.entries(schema);
  const copy = Object.fromEntries(entries.map(([key, value]) => [key, copyKeyword(key, value, rules)]));
  watchVisits(copy, rules.onVisit);
  return rules.isWhole ? copy : boundCopy(copy);
}

function boundCopy(copy: Record<string, unknown>): Node {
  const conditions = [...boundPattern(copy), ...boundUnique(copy)];
  if (SLOW_FORMATS.has(copy.format)) delete copy.format;
  if (isObject(copy.patternProperties)) boundKeyPatterns(copy, copy.patternProperties);
  if (conditions.length > 0) copy.allOf = [...(Array.isArray(copy.allOf) ? copy.allOf : []), ...conditions];
  return copy;
}

function copyKeyword(keyword: string, value: unknown, rules: CopyRules): unknown {
  if (DATA.has(keyword)) return value;
  if (!MAPS.has(keyword) || !isObject(value)) return copySchema(value, rules);
  return Object.fromEntries(Object.entries(value).map(([name, node]) => [name, copySchema(node, rules)]));
}

/** The validator reads this keyword once in each visit, and has no other place to listen at. */
function watchVisits(copy: Record<string, unknown>, onVisit: () => void): void {
  const { $recursiveAnchor } = copy;
  Object.defineProperty(copy, "$recursiveAnchor", {
    get() {
      onVisit();
      return $recursiveAnchor;
    },
  });
}

/** Moves a pattern into a condition: a value that is too long for it is not matched. */
function boundPattern(copy: Record<string, unknown>): Node[] {
  const { pattern } = copy;
  delete copy.pattern;
  const safe = typeof pattern === "string" ? readSafePattern(pattern) : undefined;
  if (safe === undefined) return [];
  return [toCondition({ type: "string", maxLength: safe.maxLength }, { pattern: safe.source })];
}

function boundUnique(copy: Record<string, unknown>): Node[] {
  const { uniqueItems } = copy;
  delete copy.uniqueItems;
  return uniqueItems === true ? [toCondition({ type: "array", maxItems: MAX_UNIQUE }, { uniqueItems })] : [];
}

const THEN = "then";

function toCondition(condition: Node, schema: Node): Node {
  return { if: condition, [THEN]: schema };
}

/** Where a pattern cannot be used, any key may be there: it could have been one of those. */
function boundKeyPatterns(copy: Record<string, unknown>, patterns: Node): void {
  const bounded = Object.entries(patterns).map(([pattern, node]) => {
    const safe = readSafePattern(pattern);
    if (safe === undefined || safe.maxLength < LONG_KEY) return undefined;
    return [`^(?=[^]{0,${LONG_KEY}}$)[^]*?(?:${safe.source})`, node] as const;
  });
  const usable = bounded.filter((entry) => entry !== undefined);
  copy.patternProperties = Object.fromEntries(usable);
  if (usable.length === bounded.length) return;
  delete copy.additionalProperties;
  delete copy.unevaluatedProperties;
}

function isFileSchema(schema: Node): boolean {
  const { properties } = schema;
  if (schema[FILE_UPLOADABLE_KEYWORD] === true) return true;
  return isObject(properties) && ["name", "mimetype", "s3key"].every((name) => isObject(properties[name]));
}

function openFileField({ type, items }: Node): unknown {
  const types = [type].flat();
  if (types.includes("array")) return { type: "array", items: isObject(items) ? openFileField(items) : OBJECT };
  // A URL field holds text; what the text may be is checked when it is fetched.
  const own = types.includes("string") ? types.filter((name) => name === "string" || name === "object") : ["object"];
  return { type: types.includes("null") ? [...own, "null"] : own };
}

const OBJECT = { type: "object" };

function isObject(value: unknown): value is Node {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
