/** Controls, invisible format characters, line separators and lone surrogates; joiners that ordinary scripts need are kept. */
const UNSAFE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** How {@link toPlainText} treats its input. */
export interface PlainTextOptions {
  /** Keep line feeds and tabs as they are. Default false: they are escaped too, so that the text stays on one line. */
  readonly keepLines?: boolean;
  /** Longest result in characters; longer text ends in "…". Default: no limit. */
  readonly max?: number;
}

/**
 * Makes text from outside safe to show: terminal escapes, bidirectional overrides and invisible characters become
 * visible `\uXXXX`, which is also valid inside JSON text.
 */
export function toPlainText(text: string, options: PlainTextOptions = {}): string {
  const plain = text.replace(UNSAFE, (character) => {
    if (options.keepLines === true && (character === "\n" || character === "\t")) return character;
    return escapeUnits(character);
  });
  const max = options.max ?? Number.POSITIVE_INFINITY;
  return plain.length <= max ? plain : `${cutText(plain, max - 1)}…`;
}

/** Cuts at `length` UTF-16 units without splitting a surrogate pair. */
export function cutText(text: string, length: number): string {
  const end = Math.max(0, length);
  const last = text.charCodeAt(end - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? end - 1 : end);
}

function escapeUnits(character: string): string {
  if (character === "\n") return "\\n";
  if (character === "\r") return "\\r";
  if (character === "\t") return "\\t";
  let escaped = "";
  for (let index = 0; index < character.length; index += 1) {
    escaped += `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`;
  }
  return escaped;
}
