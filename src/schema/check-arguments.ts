import { type OutputUnit, type Schema, Validator } from "@cfworker/json-schema";
import { readSafePattern } from "../wire/safe-pattern.ts";
import { isRecord, type JsonSchema, type SchemaDraft, setOwn } from "./json-schema.ts";
import { type ArgumentSize, measureArguments } from "./read-arguments.ts";

/** One finding of the validator. */
export type CheckError = OutputUnit;

/** The validator's verdict. `unknown`: checking would have taken too long, or the schema defeats the validator. */
export type CheckResult =
  | { readonly verdict: "valid" }
  | { readonly verdict: "unknown" }
  | { readonly verdict: "invalid"; readonly errors: readonly CheckError[] };

/** Checks arguments against one compiled schema. Never throws; work is bounded whatever schema and arguments hold. */
export interface ArgumentCheck {
  /** Checks the arguments of a call. */
  start(args: unknown, size: ArgumentSize): CheckResult;
  /** Checks changed arguments of the same call, within what is left of its work. */
  again(args: unknown): CheckResult;
}

/** Units of work per call; a schema node applied to a value costs one, dear keywords more. Some 10 ms. */
const BUDGET = 12_000;
const VALUES_PER_UNIT = 20;
const STEPS_PER_UNIT = 128;
const UNIQUE_UNITS = 200;
const CHARACTERS_PER_UNIT = 500;
/** Keys or items that a boolean schema is applied to, and values that are measured. */
const VISITS_PER_UNIT = 8;
/** Longer keys are not checked: the validator writes them into each location. */
const MAX_KEY_LENGTH = 1_000;
/** The same where keys are matched with patterns. */
const MAX_MATCHED_KEY_LENGTH = 128;
/** What is read out of a shorter text cannot be so large that it has to be measured. */
const SHORT_TEXT = 1_000;

/** Counts the work of one check and ends it when there is too much. */
interface Meter {
  left: number;
  /** Characters of the longest text or key in the arguments. */
  longestText: number;
  /** Keys of the largest object in the arguments. */
  keys: number;
  /** Items of the longest list in the arguments. */
  items: number;
  matchesKeys: boolean;
}

/** Compiles a normalised schema. */
export function compileCheck(schema: JsonSchema): ArgumentCheck {
  const meter: Meter = { left: Number.POSITIVE_INFINITY, longestText: 0, keys: 0, items: 0, matchesKeys: false };
  const metered = addMeter(schema, meter);
  /** Building a validator reads every node as well, which is no work of the call. */
  const build = (shortCircuit: boolean): Validator => {
    const { left } = meter;
    meter.left = Number.POSITIVE_INFINITY;
    const validator = new Validator(metered, "2020-12", shortCircuit);
    meter.left = left;
    return validator;
  };
  const first = build(true);
  let all: Validator | undefined;
  const check = (args: unknown): CheckResult => {
    try {
      const quick = first.validate(args);
      if (quick.valid) return { verdict: "valid" };
      all ??= build(false);
      return { verdict: "invalid", errors: listAll(all, args, quick.errors) };
    } catch {
      return { verdict: "unknown" };
    }
  };
  let isShort = true;
  const start = (args: unknown, size: ArgumentSize): CheckResult => {
    meter.left = BUDGET;
    isShort = Math.max(size.longestText, size.longestKey) <= SHORT_TEXT;
    return setSize(meter, size) ? check(args) : { verdict: "unknown" };
  };
  const again = (args: unknown): CheckResult => {
    if (isShort) return check(args);
    const reading = measureArguments(args);
    if (reading.kind !== "json" || !setSize(meter, reading.size)) return { verdict: "unknown" };
    meter.left -= reading.size.values / VISITS_PER_UNIT;
    return check(args);
  };
  return { start, again };
}

/** @returns false for arguments that are not checked. */
function setSize(meter: Meter, size: ArgumentSize): boolean {
  meter.longestText = Math.max(size.longestText, size.longestKey);
  meter.keys = size.mostKeys;
  meter.items = size.mostItems;
  return size.longestKey <= (meter.matchesKeys ? MAX_MATCHED_KEY_LENGTH : MAX_KEY_LENGTH);
}

/** All errors, or the first ones when there are more than can be listed in time. */
function listAll(validator: Validator, args: unknown, first: readonly CheckError[]): readonly CheckError[] {
  try {
    return validator.validate(args).errors;
  } catch {
    return first;
  }
}

/**
 * A copy of the schema whose nodes count each time the validator applies them. The validator reads every keyword of a
 * node once per application, so an accessor under a keyword that normalised schemas never hold is called exactly then;
 * it cannot be told to stop, but what the accessor throws ends it.
 */
function addMeter(node: unknown, meter: Meter): Schema {
  if (!isRecord(node)) return node === false ? { not: {} } : {};
  const copy: SchemaDraft = {};
  for (const keyword of Object.keys(node)) copy[keyword] = copyKeyword(keyword, node[keyword], meter);
  const own = countOwnUnits(node);
  const measures = node.minLength !== undefined || node.maxLength !== undefined;
  const pattern = typeof node.pattern === "string" ? readSafePattern(node.pattern) : undefined;
  const keyPatterns = isRecord(node.patternProperties) ? Object.keys(node.patternProperties).length : 0;
  if (keyPatterns > 0) meter.matchesKeys = true;
  const keyVisits = KEY_LOOPS.filter((keyword) => typeof node[keyword] === "boolean").length / VISITS_PER_UNIT;
  const itemVisits = ITEM_LOOPS.filter((keyword) => typeof node[keyword] === "boolean").length / VISITS_PER_UNIT;
  Object.defineProperty(copy, "$recursiveRef", {
    enumerable: false,
    get(): undefined {
      meter.left -= own + (keyPatterns + keyVisits) * meter.keys + itemVisits * meter.items;
      if (measures) meter.left -= meter.longestText / CHARACTERS_PER_UNIT;
      if (pattern !== undefined) meter.left -= pattern.steps(meter.longestText) / STEPS_PER_UNIT;
      if (meter.left < 0) throw new RangeError("Too much to check.");
      return undefined;
    },
  });
  return copy;
}

const NODE = new Set(["additionalProperties", "propertyNames", "items", "contains", "not", "if", "then", "else"]);
const NODE_LIST = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);
const NODE_MAP = new Set(["properties", "patternProperties", "dependentSchemas", "$defs"]);

function copyKeyword(keyword: string, value: unknown, meter: Meter): unknown {
  const copyNode = (node: unknown) => (typeof node === "boolean" ? node : addMeter(node, meter));
  if (NODE.has(keyword) || keyword.startsWith("unevaluated")) return copyNode(value);
  if (NODE_LIST.has(keyword) && Array.isArray(value)) return value.map(copyNode);
  if (!NODE_MAP.has(keyword) || !isRecord(value)) return value;
  const copy: SchemaDraft = {};
  for (const key of Object.keys(value)) setOwn(copy, key, copyNode(value[key]));
  return copy;
}

/** With a boolean schema the validator goes through all keys or items, and no node below counts that. */
const KEY_LOOPS = ["additionalProperties", "unevaluatedProperties", "propertyNames"];
const ITEM_LOOPS = ["items", "unevaluatedItems", "contains"];

function countOwnUnits(node: JsonSchema): number {
  let values = 0;
  if (Array.isArray(node.enum)) values += node.enum.length;
  if (Array.isArray(node.required)) values += node.required.length;
  if (isRecord(node.properties)) values += Object.keys(node.properties).length;
  const needed = isRecord(node.dependentRequired) ? Object.values(node.dependentRequired) : [];
  for (const names of needed) if (Array.isArray(names)) values += names.length;
  const characters = countCharacters(node.enum) + countCharacters(node.const);
  const units = values / VALUES_PER_UNIT + characters / CHARACTERS_PER_UNIT;
  return 1 + Math.floor(units) + (node.uniqueItems === true ? UNIQUE_UNITS : 0);
}

/** Length of allowed values as JSON: the validator writes them into each of its errors. */
function countCharacters(value: unknown): number {
  try {
    return JSON.stringify(value)?.length ?? 0;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
