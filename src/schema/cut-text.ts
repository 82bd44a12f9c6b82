/**
 * Cuts a text to at most `limit` characters: after the last sentence that fits when that keeps half of it, else inside
 * a word with `…` at the end.
 */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const head = text.slice(0, limit);
  const end = Math.max(head.lastIndexOf(". "), head.lastIndexOf(".\n"), head.lastIndexOf("! "), head.lastIndexOf("? "));
  return end >= limit / 2 ? head.slice(0, end + 1) : cutAnywhere(text, limit);
}

/** Cuts a text to at most `limit` characters, `…` at the end counted, and never through a surrogate pair. */
export function cutAnywhere(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}
