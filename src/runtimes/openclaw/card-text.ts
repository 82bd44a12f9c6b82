import { redact } from "../../client/redact.ts";
import { cutText, toPlainText } from "../../wire/plain-text.ts";

/** Further characters the host writes out: joiners and letters that show nothing. */
const UNSEEN = /\u200c|\u200d|\u115f|\u1160|\u3164|\uffa0/gu;

/**
 * Text for one line of a card. The host refuses a card that is too long after it has written out what cannot be seen,
 * so that is done here, before lengths are counted. Keys and tokens are taken out.
 */
export function toCardText(text: string): string {
  return showInCard(redact(text));
}

/** The same with keys and tokens left in. */
export function showInCard(text: string): string {
  const plain = toPlainText(text, { escapeSpaces: true });
  return plain.replaceAll(UNSEEN, (character) => `\\u{${character.charCodeAt(0).toString(16).toUpperCase()}}`);
}

/** Lines cut to fit, and how many characters are not shown. */
export interface FittedLines {
  readonly lines: readonly string[];
  readonly hidden: number;
}

/** Cuts the longest lines until all fit into `budget` characters, line ends counted: short lines stay whole. */
export function fitLines(lines: readonly string[], budget: number): FittedLines {
  let left = budget - lines.length;
  let widest = 0;
  const byLength = lines.map(({ length }) => length).sort((a, b) => a - b);
  for (const [index, length] of byLength.entries()) {
    widest = Math.floor(left / (byLength.length - index));
    if (length > widest) break;
    left -= length;
    widest = length;
  }
  const fitted = lines.map((line) => shorten(line, widest));
  const hidden = lines.reduce((sum, line, index) => sum + countHidden(line, fitted[index] ?? ""), 0);
  return { lines: fitted, hidden };
}

function countHidden(line: string, fitted: string): number {
  return line === fitted ? 0 : line.length - (fitted.length - "…".length);
}

/** The text, or its beginning and "…" in at most `max` characters. */
export function shorten(text: string, max: number): string {
  return text.length <= max ? text : `${cutText(text, Math.max(0, max - 1))}…`;
}
