import { shortenText } from "../base/text.ts";

/** Scripts that spell with joiners, so that leaving one out changes what is seen. */
const JOINING_SCRIPTS =
  "Arabic Bengali Devanagari Gujarati Gurmukhi Kannada Khmer Malayalam Mongolian Myanmar Nko Oriya Sinhala Syriac Tamil Telugu Tibetan";
const LETTERS = JOINING_SCRIPTS.replaceAll(/\w+ ?/g, (script) => `\\p{Script=${script.trim()}}`);
const JOINING = `(?=[\\p{L}\\p{M}])(?!\\p{Default_Ignorable_Code_Point})[${LETTERS}]`;

/** Characters without a shape of their own that are seen all the same: joiners in words and in emoji, emoji style. */
const SEEN = [
  `(?<=${JOINING})[\\u200c\\u200d](?=${JOINING})`,
  "(?<=\\p{Extended_Pictographic}[\\p{Emoji_Modifier}\\ufe0f]?)\\u200d(?=\\p{Extended_Pictographic})",
  "(?<=\\p{Extended_Pictographic})\\ufe0f",
].join("|");

/** Controls, line separators, lone surrogates and whatever shows nothing: format characters, fillers, variations. */
const UNSAFE = `[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\p{Cs}\\p{Default_Ignorable_Code_Point}\\u2800](?<!${SEEN})`;
/** Made by the first text that needs it: it takes some milliseconds. */
let unsafe: RegExp | undefined;

/** Text that has none of them, as most has. */
const PRINTABLE = /^[\x20-\x7e]*$/;

/** Spaces that look like the ordinary one. */
const OTHER_SPACES = /(?! )\p{Zs}/gu;

/** How {@link toPlainText} treats its input. */
export interface PlainTextOptions {
  /** Keep line feeds and tabs as they are. Default false: they are escaped too, so that the text stays on one line. */
  readonly keepLines?: boolean;
  /** Escape every space but the ordinary one, for text whose every character matters. Default false. */
  readonly escapeSpaces?: boolean;
  /** Longest result in characters; longer text ends in "…". Default: no limit. */
  readonly max?: number;
}

/** For text that a human decides on: every character matters. */
export const EXACT: PlainTextOptions = { escapeSpaces: true };

/**
 * Makes text from outside safe to show: terminal escapes, bidirectional overrides and invisible characters become
 * visible `\uXXXX`, which is also valid inside JSON text.
 */
export function toPlainText(text: string, options: PlainTextOptions = {}): string {
  const { max = Number.POSITIVE_INFINITY } = options;
  if (PRINTABLE.test(text)) return shortenText(text, max);
  unsafe ??= new RegExp(UNSAFE, "gu");
  const seen = text.replace(unsafe, (character) => {
    if (options.keepLines === true && (character === "\n" || character === "\t")) return character;
    return escapeUnits(character);
  });
  const plain = options.escapeSpaces === true ? seen.replace(OTHER_SPACES, escapeUnits) : seen;
  return shortenText(plain, max);
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
