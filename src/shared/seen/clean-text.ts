/** Characters that are not drawn: zero-width ones, soft hyphens, direction marks, variation selectors. */
const UNDRAWN = /[\p{Default_Ignorable_Code_Point}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufff9-\ufffb]/gu;

const PLAIN = /^[\t\n\r\x20-\x7e]*$/;

const QUOTES = /[\u2018\u2019\u201a\u201b\u02bc\u2032\u0060\u00b4]/g;

const DASHES = /[\u2010-\u2015\u2212\ufe58]/g;

/** A text as it is compared, and where each of its characters stands in the text that it was made of. */
export interface CleanText {
  readonly text: string;
  /** The piece of the original between two places of the clean text. */
  original(from: number, to: number): string;
}

/** A text in form NFKC without characters that are not drawn, with plain quotes, hyphens and blanks; case stays. */
export function cleanText(text: string): string {
  if (PLAIN.test(text)) return text.includes("`") ? text.replaceAll("`", "'") : text;
  return plainMarks(text.replace(UNDRAWN, "").normalize("NFKC").replace(UNDRAWN, ""));
}

/** The same, with the places in the original; for short texts. */
export function cleanWithPlaces(text: string): CleanText {
  const clean = cleanText(text);
  if (clean.length === text.length) return { text: clean, original: (from, to) => text.slice(from, to) };
  const places: number[] = [];
  let made = "";
  for (const { 0: piece, index } of text.matchAll(/\P{M}\p{M}*|\p{M}+/gsu)) {
    const next = cleanText(piece);
    for (let at = 0; at < next.length; at++) places.push(index);
    made += next;
  }
  places.push(text.length);
  return { text: made, original: (from, to) => text.slice(places[from], places[to]) };
}

/** Lower case, `ss` for `ß`, Latin letters without their accents: how words are compared. */
export function foldWords(clean: string): string {
  const lower = clean.toLowerCase();
  if (PLAIN.test(lower)) return lower;
  return lower
    .normalize("NFD")
    .replace(/[\u0300-\u036f]+/g, "")
    .normalize("NFC")
    .replaceAll("ß", "ss")
    .replaceAll("æ", "ae")
    .replaceAll("œ", "oe")
    .replaceAll("ø", "o");
}

function plainMarks(text: string): string {
  return text
    .replace(QUOTES, "'")
    .replace(/[\u201c-\u201f\u00ab\u00bb]/g, '"')
    .replace(DASHES, "-")
    .replace(/[^\S\n\r\t ]/g, " ");
}
