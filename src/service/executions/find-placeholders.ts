/** A whole value that was meant to be filled in: `<file id>`, `{id}`, `{{id}}`, `YOUR_TOKEN`, `REPLACE_ME`. */
const PLACEHOLDER =
  /^(<[a-z][\w .-]*>|\{\{?\s*[a-z][\w .-]*\}\}?|YOUR[_-][A-Z0-9_-]+|REPLACE[_-](ME|THIS|WITH[_-]\w+)|INSERT[_-]\w+[_-]HERE)$/i;

/** The key of a file object may be any string that matches a file sent along ("File rules" 6). */
const FREE_KEYS = new Set(["s3key"]);

/** Finds argument values that are unfilled placeholders as a whole; text that merely contains one is fine. */
export function findPlaceholders(value: unknown, path = ""): { path: string; value: string }[] {
  if (typeof value === "string") return PLACEHOLDER.test(value.trim()) ? [{ path, value }] : [];
  if (Array.isArray(value)) return value.flatMap((item, index) => findPlaceholders(item, `${path}[${index}]`));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) =>
    FREE_KEYS.has(key) ? [] : findPlaceholders(item, path === "" ? key : `${path}.${key}`),
  );
}
