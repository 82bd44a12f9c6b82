/** Cuts at `length` UTF-16 units without splitting a surrogate pair. */
export function cutText(text: string, length: number): string {
  const end = Math.max(0, length);
  const last = text.charCodeAt(end - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? end - 1 : end);
}

/** The text in one line: a space for each run of white space, none at its ends. */
export function toOneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
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

/** The text as one word of a POSIX shell, in single quotes. */
export function quoteWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** A time in UTC as most programs write it: day, time, and a fraction of a second that counts. */
const WRITTEN = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.0+|(\.\d{1,9}))?Z$/;

/** Such a time as a person reads it, with nothing left out; undefined for any other text. */
export function readableTime(text: string): string | undefined {
  const [, day, time, fraction = ""] = WRITTEN.exec(text) ?? [];
  return day && `${day} ${time}${fraction} UTC`;
}

/** A time in UTC to the second, as a person reads it, e.g. `2026-03-04 10:15:00 UTC`; `iso` is as `toISOString` writes it. */
export function exactTime(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
}

/** The form in which texts are searched: lower case, Unicode form NFC. */
export function foldText(text: string): string {
  return text.normalize("NFC").toLowerCase();
}

/** The words of a search, in the form of {@link foldText}. */
export function toSearchWords(query: string): string[] {
  return foldText(query)
    .split(/\s+/)
    .filter((word) => word !== "");
}

const SNIPPET_LENGTH = 160;

/** The part of a text around the first word of a search. */
export function cutSnippet(text: string, words: readonly string[]): string {
  const flat = toOneLine(text);
  const at = Math.max(0, ...words.map((word) => foldText(flat).indexOf(word)));
  const from = Math.max(0, at - SNIPPET_LENGTH / 2);
  const cut = flat.slice(from, from + SNIPPET_LENGTH).toWellFormed();
  return `${from > 0 ? "…" : ""}${cut}${from + SNIPPET_LENGTH < flat.length ? "…" : ""}`;
}

/** True when a line of a text, one of those that do not match `except`, is not in another text as often. */
export function losesLines(before: string, after: string, except: RegExp): boolean {
  const counts = new Map<string, number>();
  for (const line of after.split(/\r?\n/)) counts.set(line, (counts.get(line) ?? 0) + 1);
  return before.split(/\r?\n/).some((line) => {
    if (line.trim() === "" || except.test(line)) return false;
    const left = counts.get(line) ?? 0;
    counts.set(line, left - 1);
    return left <= 0;
  });
}
