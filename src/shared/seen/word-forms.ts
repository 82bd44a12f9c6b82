import { foldWords } from "./clean-text.ts";

/** A word, or a character of a script without blanks, and where it stands in the clean text. */
export interface Token {
  readonly word: string;
  readonly at: number;
  readonly end: number;
}

const TOKEN =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}ー々]|(?:(?![\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}ー々])[\p{L}\p{N}\p{M}']){1,60}/gu;

const EASTERN = /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}ー々]$/u;

/** Words of a clean text, at most `most`. */
export function readWords(text: string, most = Number.POSITIVE_INFINITY): Token[] {
  const tokens: Token[] = [];
  for (const { 0: word, index } of text.matchAll(TOKEN)) {
    const folded = foldWords(word).replace(/^'+|'+$/g, "");
    if (folded !== "") tokens.push({ word: folded, at: index, end: index + word.length });
    if (tokens.length >= most) break;
  }
  return tokens;
}

/** The form of `length` words from `from` on; undefined past the end, and for a lone character of a script without blanks. */
export function shingle(tokens: readonly Token[], from: number, length: number): string | undefined {
  if (from + length > tokens.length) return undefined;
  const words = tokens.slice(from, from + length).map(({ word }) => word);
  if (length === 1 && EASTERN.test(words[0] ?? "")) return undefined;
  return `words:${words.join(" ")}`;
}

/** The form of a whole short text, such as a name or a title; undefined for an empty or long one. */
export function nameForm(tokens: readonly Token[]): string | undefined {
  return tokens.length === 0 || tokens.length > 24 ? undefined : `name:${tokens.map(({ word }) => word).join(" ")}`;
}
