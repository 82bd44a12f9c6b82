import { cleanText } from "../../shared/base/text.ts";

/** Scripts whose letters look like letters and not like marks. */
const SCRIPTS =
  "Arabic Armenian Bengali Cyrillic Devanagari Ethiopic Georgian Greek Gujarati Gurmukhi Han Hangul Hebrew Hiragana Kannada Katakana Khmer Lao Latin Malayalam Myanmar Oriya Sinhala Tamil Telugu Thai Tibetan";

/**
 * What a name may have beside letters and digits. Of the signs that stand in addresses or look like quotes, a point ends a
 * word, and an apostrophe and a comma stand where they do in a sentence, so that two of them are never together.
 */
const SIGNS = ["[ _()&!?-]", "(?<=[\\p{L}0-9])\\.(?= |$)", "(?<=[\\p{L}0-9]),(?= )", "(?<=\\p{L})'(?=\\p{L})"].join(
  "|",
);

/** Made by the first note: it takes some milliseconds. */
let parts: RegExp | undefined;

function compile(): RegExp {
  const scripts = SCRIPTS.split(" ").map((script) => `\\p{Script=${script}}`);
  // Modifier letters, the saltillo and clicks of Latin look like quotes and bars.
  const unlike = "(?![\\p{Lm}\\ua78b\\ua78c\\u01c0-\\u01c3]|\\p{Default_Ignorable_Code_Point})";
  const letter = `${unlike}(?=[\\p{L}])[${scripts.join("")}]|(?<=[\\p{L}\\p{M}])\\p{M}`;
  return new RegExp(`(${letter}|[0-9]|${SIGNS})|[^]`, "gu");
}

/**
 * A name that somebody else chose, for a sentence of ours: one line, in which letters, digits, blanks and few signs stay and
 * everything else is `\u{…}`. So it can neither end our quotes, also not for the eye, nor be a link.
 *
 * @param longest characters of the name that are kept
 */
export function nameInNote(name: string | null | undefined, longest: number): string {
  const text = cleanText(name ?? "", longest) ?? "somebody";
  parts ??= compile();
  return text.replace(parts, (character: string, kept: string | undefined) => kept ?? writeOut(character));
}

function writeOut(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`;
}
