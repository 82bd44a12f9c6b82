/** Cuts at `length` UTF-16 units without splitting a surrogate pair. */
export function cutText(text: string, length: number): string {
  const end = Math.max(0, length);
  const last = text.charCodeAt(end - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? end - 1 : end);
}

/** Cuts a text to at most `limit` characters, the `…` at its end counted. */
export function shortenText(text: string, limit: number): string {
  return text.length <= limit ? text : `${cutText(text, limit - 1)}…`;
}

/**
 * Cuts a text to at most `limit` characters: after the last sentence that fits when that keeps half of it, else with
 * `…` at the end.
 */
export function shortenToSentence(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const head = text.slice(0, limit);
  const end = Math.max(head.lastIndexOf(". "), head.lastIndexOf(".\n"), head.lastIndexOf("! "), head.lastIndexOf("? "));
  return end >= limit / 2 ? head.slice(0, end + 1) : shortenText(text, limit);
}

/**
 * Text that a caller sent and a human will read before deciding: control and direction characters are removed, so
 * that it cannot rewrite the text around it; cut to `longest` characters; null when nothing is left.
 */
export function cleanText(text: string | undefined, longest: number): string | null {
  const plain = (text ?? "")
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, " ")
    .replace(/\s+/g, " ")
    .trim();
  return [...plain].slice(0, longest).join("").trim() || null;
}
