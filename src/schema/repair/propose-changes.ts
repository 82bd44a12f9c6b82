import { parseJson } from "../../base/json.ts";
import type { CheckError } from "../check/check-arguments.ts";
import { hasUncheckedPattern } from "../check/normalise-values.ts";
import { findNode, type ValuePath } from "../check/schema-location.ts";
import { type JsonSchema, type JsonType, readTypes } from "../json-schema.ts";

const MAX_JSON_TEXT = 256 * 1024;

/** A way to change one value: what to put there, or to leave the key out. */
export type Change = { readonly kind: "use"; readonly value: unknown } | { readonly kind: "drop" };

/** What the failing keywords of one place ask for. */
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
    const isOpen = typeof value === "number" && hasUncheckedPattern(node);
    const named = keyword === "type" ? (readTypes(node.type) ?? []) : [];
    for (const type of named) if (type !== "string" || !isOpen) types.add(type);
    if (keyword === "enum" && Array.isArray(node.enum)) values.push(...node.enum);
    if (keyword === "const") values.push(node.const);
  }
  return { types, values };
}

/**
 * The changes worth trying for one value that failed, most likely first: what the failing keywords ask for, read out of
 * what is there. Nothing is invented, and null is only ever left out.
 */
export function proposeChanges(
  value: unknown,
  path: ValuePath,
  errors: readonly CheckError[],
  schema: JsonSchema,
): Change[] {
  const wanted = readWanted(value, errors, schema);
  if (value === null) return typeof path.at(-1) === "string" ? [{ kind: "drop" }] : [];
  const scalars: unknown[] = [];
  const lists: unknown[] = [];
  if (typeof value === "string") {
    scalars.push(...matchValues(value, wanted.values), ...readScalars(value, wanted.types));
    lists.push(...readJsonText(value, wanted.types));
  } else if (typeof value === "number" && Number.isFinite(value)) {
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
  const matches = new Set(values.filter((value) => isScalar(value) && String(value).toLowerCase() === folded));
  return matches.size === 1 ? [...matches] : [];
}

function isScalar(value: unknown): boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

const NUMBER_TEXT = /^-?(?:0|[1-9]\d{0,99})(?:\.\d{1,99})?(?:[eE][+-]?\d{1,3})?$/;
const MAX_DIGITS = 15;

/** The number or boolean a text writes out. Numbers that would lose digits stay text. */
function readScalars(text: string, types: ReadonlySet<JsonType>): unknown[] {
  const trimmed = text.trim();
  if (types.has("boolean") && /^(?:true|false)$/i.test(trimmed)) return [trimmed.toLowerCase() === "true"];
  if (!types.has("number") && !types.has("integer")) return [];
  if (!NUMBER_TEXT.test(trimmed)) return [];
  const number = Number(trimmed);
  const digits = trimmed.replace(/[eE].*$/, "").replace(/[^0-9]/g, "").length;
  const isExact = digits <= MAX_DIGITS || (/^-?\d+$/.test(trimmed) && BigInt(number) === BigInt(trimmed));
  return Number.isFinite(number) && isExact ? [number] : [];
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
