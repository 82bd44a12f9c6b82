import { ExactNumber } from "../base/exact-number.ts";
import { getOwn, isRecord } from "../base/json.ts";
import { shortenText } from "../base/text.ts";
import { type JsonSchema, readTypes } from "./json-schema.ts";
import { followReference, type ValuePath } from "./select-errors.ts";

const MAX_LISTED = 10;
const MAX_LIST_LENGTH = 120;
const MAX_BRANCHES = 4;
const MAX_DEPTH = 5;

/** Describes the values a schema node accepts in a few words: its values, its types, or those of its branches. */
export function describeNode(node: unknown, root: JsonSchema, depth = 0): string {
  if (!isRecord(node) || depth > MAX_DEPTH) return "value";
  if (Array.isArray(node.enum)) return listValues(node.enum);
  if (node.const !== undefined) return showLiteral(node.const);
  const types = readTypes(node.type);
  if (types !== undefined) return joinOr(types);
  if (typeof node.$ref === "string") return describeNode(followReference(root, node.$ref), root, depth + 1);
  for (const keyword of ["anyOf", "oneOf"]) {
    const branches = node[keyword];
    if (!Array.isArray(branches)) continue;
    const texts = new Set(branches.slice(0, MAX_BRANCHES).map((branch) => describeNode(branch, root, depth + 1)));
    return joinOr([...texts]);
  }
  const first = Array.isArray(node.allOf) ? node.allOf.find((part) => isRecord(part) && !("if" in part)) : undefined;
  if (first !== undefined) return describeNode(first, root, depth + 1);
  return isRecord(node.properties) ? "object" : "value";
}

/** `"a", "b" or "c"`; a long list is cut and counted. With `near`, the values most like it come first. */
export function listValues(values: readonly unknown[], near?: unknown): string {
  if (values.length === 1) return showLiteral(values[0]);
  const sorted = near === undefined ? values : sortByLikeness(values, near);
  const shown: string[] = [];
  let length = 0;
  for (const value of sorted.slice(0, MAX_LISTED)) {
    const text = showLiteral(value);
    length += text.length;
    if (shown.length > 0 && length > MAX_LIST_LENGTH) break;
    shown.push(text);
  }
  if (shown.length === values.length) return `one of ${shown.join(", ")}`;
  return `one of ${shown.join(", ")}, … (${values.length} values)`;
}

/** `a`, `a or b`, `a, b or c`. */
export function joinOr(texts: readonly string[]): string {
  if (texts.length < 2) return texts[0] ?? "value";
  return `${texts.slice(0, -1).join(", ")} or ${texts.at(-1)}`;
}

/** Values that begin like the wanted one come first; the order is kept otherwise. */
export function sortByLikeness<T>(values: readonly T[], wanted: unknown): T[] {
  const target = toText(wanted).slice(0, 100);
  const score = (value: T): number => {
    const text = toText(value);
    let same = 0;
    while (same < text.length && same < target.length && text[same] === target[same]) same++;
    return text.includes(target) || target.includes(text) ? same + 10 : same;
  };
  return values
    .slice(0, 1_000)
    .map((value) => ({ value, score: score(value) }))
    .sort((a, b) => b.score - a.score)
    .map(({ value }) => value);
}

/** Not every object becomes text by itself: `{"toString": 1}` throws. */
function toText(value: unknown): string {
  return (typeof value === "object" ? showLiteral(value) : String(value)).toLowerCase();
}

const MAX_SHOWN = 60;
const MAX_KEYS = 12;

const SECRET_KEY =
  /pass(?:word|wd|phrase|code)|secret|credential|authorization|bearer|cookie|private_?key|api_?key|access_?key|signing_?key|(?:access|auth|refresh|session|bearer|api|id|bot|csrf|security)_?token|^token$/i;
const SECRET_VALUE =
  /^(?:sk|pk|rk|ghp|gho|ghs|ghu|glpat|xox[abprs]|whsec|svc)[-_][A-Za-z0-9_-]{8,}|^github_pat_|^AKIA[A-Z0-9]{12}|^eyJ[A-Za-z0-9_-]{10,}|^AIza[A-Za-z0-9_-]{20}|-----BEGIN|^(?:Bearer|Basic)\s\S{8}|:\/\/[^/\s:@]+:[^/\s@]+@/;

/** A value in few words: its type and, cut at 60 characters, its JSON. Values that look like secrets are hidden. */
export function showValue(value: unknown, path: ValuePath): string {
  if (value === undefined) return "nothing (missing)";
  if (value === null) return "null";
  if (typeof value === "string") {
    const length = value.length > MAX_SHOWN || isSecret(value, path) ? ` of ${value.length} characters` : "";
    return `string${length} ${showLiteral(value, path)}`;
  }
  if (Array.isArray(value)) return `array ${showLiteral(value, path)}`;
  if (value instanceof ExactNumber) return `number ${showLiteral(value, path)}`;
  return `${typeof value} ${showLiteral(value, path)}`;
}

/** A value as JSON, cut at 60 characters. Values that look like secrets are hidden. */
export function showLiteral(value: unknown, path: ValuePath = []): string {
  if (isSecret(value, path)) return "(hidden)";
  const text = JSON.stringify(shorten(value, path, 0)) ?? String(value);
  return shortenText(text, MAX_SHOWN);
}

/** Only as much of a value as can be shown, with secrets replaced: a value may be megabytes long. */
function shorten(value: unknown, path: ValuePath, depth: number): unknown {
  if (isSecret(value, path)) return "(hidden)";
  if (typeof value === "string") return shortenText(value, MAX_SHOWN);
  if (typeof value === "bigint") return `${value}`;
  if (typeof value !== "object" || value === null || value instanceof ExactNumber) return value;
  if (depth > 3) return Array.isArray(value) ? [] : {};
  if (Array.isArray(value)) {
    return value.slice(0, MAX_KEYS).map((item, index) => shorten(item, [...path, index], depth + 1));
  }
  const keys = Object.keys(value).slice(0, MAX_KEYS);
  return Object.fromEntries(
    keys.map((key) => [key.slice(0, MAX_SHOWN), shorten(getOwn(value, key), [...path, key], depth + 1)]),
  );
}

/** True for text under a key, or of a form, that secrets have. Also for text in a list under such a key. */
function isSecret(value: unknown, path: ValuePath): boolean {
  if (typeof value !== "string") return false;
  if (SECRET_VALUE.test(value.slice(0, 200))) return true;
  const key = path.findLast((part) => typeof part === "string");
  return typeof key === "string" && SECRET_KEY.test(key.replace(/([a-z])([A-Z])/g, "$1_$2").replaceAll("-", "_"));
}
