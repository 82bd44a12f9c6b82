import { isRecord, type JsonSchema, readTypes } from "./json-schema.ts";
import { followReference } from "./schema-location.ts";
import { showLiteral } from "./show-value.ts";

const MAX_LISTED = 10;
const MAX_LIST_LENGTH = 120;
const MAX_BRANCHES = 4;
const MAX_DEPTH = 5;

/** What a schema node asks for, in a few words: its values, its types, or those of its branches. */
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
