/** Words that say nothing about which tool is meant. */
const STOP_WORDS = new Set(
  "a about all am an and any are as at be by can could do does for from get give has have how i if in into is it its me my need of on one or our out please show so some that the their them there this to us want was we what when where which who whose will with would you your".split(
    " ",
  ),
);

/** The short half of "I'm", "what's" and "don't". */
const CONTRACTION = /(?<=\p{L})(?:n['’]t|['’](?:s|m|d|ve|re|ll))(?!\p{L})/giu;

/** Splits text and names such as `upload_file`, `uploadFile` or `getURLOf` into words. */
export function splitWords(text: string): string[] {
  return text
    .replace(CONTRACTION, "")
    .replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}

/** False for words that say nothing about which tool is meant. */
export function isMeaningful(word: string): boolean {
  return !STOP_WORDS.has(word);
}

/** Lower case and without the commonest English endings, so that "files" finds `upload_file`; null for a stop word. */
export function normaliseWord(word: string): string | null {
  const lower = word.toLowerCase();
  return STOP_WORDS.has(lower) ? null : stem(lower);
}

/** A word in lower case, without the ending of a plural. */
export function toSingular(word: string): string {
  if (word.length > 4 && word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  if (word.length > 4 && /(?:ss|x|ch|sh)es$/.test(word)) return word.slice(0, -2);
  if (word.length > 3 && word.endsWith("s") && !/(?:ss|us|is)$/.test(word)) return word.slice(0, -1);
  return word;
}

/** A word in lower case, without the ending of a plural or of a verb. */
export function stem(word: string): string {
  const singular = toSingular(word);
  if (singular !== word) return dropE(singular);
  if (word.length > 5 && word.endsWith("ing")) return dropDouble(word.slice(0, -3));
  if (word.length > 4 && word.endsWith("ed")) return dropDouble(word.slice(0, -2));
  return dropE(word);
}

/** "update", "updated" and "updating" meet without their e. */
function dropE(word: string): string {
  return word.length > 4 && word.endsWith("e") ? word.slice(0, -1) : word;
}

function dropDouble(word: string): string {
  const last = word.at(-1);
  return word.length > 3 && last === word.at(-2) && !"lsz".includes(last ?? "") ? word.slice(0, -1) : dropE(word);
}
