import { shortenText } from "../shorten-text.ts";

/** A whole value that was meant to be filled in: `<file id>`, `{id}`, `{{id}}`, `YOUR_TOKEN`, `REPLACE_ME`. */
const PLACEHOLDER =
  /^(<[a-z][\w .-]*>|\{\{?\s*[a-z][\w .-]*\}\}?|YOUR[_-][A-Z0-9_-]+|REPLACE[_-](ME|THIS|WITH[_-]\w+)|INSERT[_-]\w+[_-]HERE)$/i;

/** The key of a file object may be any string that matches a file sent along ("File rules" 6). */
const FREE_KEYS = new Set(["s3key"]);

/** A value that was left unfilled, and where. */
interface Placeholder {
  readonly path: string;
  readonly value: string;
}

/**
 * Finds argument values that are unfilled placeholders as a whole; text that merely contains one is fine. Paths and values
 * of more than 500 characters are cut.
 */
export function* findPlaceholders(value: unknown, path = ""): Generator<Placeholder> {
  if (typeof value === "string") {
    if (PLACEHOLDER.test(value.trim())) yield { path: shorten(path), value: shorten(value) };
    return;
  }
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* findPlaceholders(item, `${path}[${index}]`);
    return;
  }
  for (const [key, item] of Object.entries(value)) {
    if (FREE_KEYS.has(key)) continue;
    yield* findPlaceholders(item, path === "" ? shorten(key) : `${path}.${shorten(key)}`);
  }
}

function shorten(text: string): string {
  return shortenText(text, 500);
}
