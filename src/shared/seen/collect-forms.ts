import { cleanText } from "./clean-text.ts";
import { readDisguised } from "./disguises.ts";
import { pathValue, wholeLink } from "./find-links.ts";
import { numberForms } from "./find-numbers.ts";
import { findPlaces, findValues } from "./find-values.ts";
import { walkContent } from "./walk-content.ts";
import { nameForm, readWords, shingle } from "./word-forms.ts";

/** Bounds of what is collected from one result. */
export interface CollectLimits {
  /** Most forms; default 20,000. */
  readonly forms?: number;
  /** Most characters that are read; default 250,000. */
  readonly characters?: number;
}

const MOST_NODES = 200_000;
/** What a value costs besides its characters. */
const PER_VALUE = 12;
const LONGEST_NAME = 300;
const PLAIN_NUMBER = /^\d{1,15}$/;

/**
 * Collects the forms of all values in JSON or text, each once: first those of addresses, links, numbers, dates and paths, then
 * words. What is over the limits is left out, so it will count as unseen.
 */
export function collectForms(content: unknown, limits: CollectLimits = {}): string[] {
  const { forms: most = 20_000, characters = 250_000 } = limits;
  const texts = takeTexts(content, characters);
  const forms = new Set<string>();
  const numbers = texts.filter((text) => PLAIN_NUMBER.test(text));
  for (const text of numbers) addAll(forms, [...numberForms(text), `name:${text}`, `words:${text}`], most);
  const others = texts.filter((text) => !PLAIN_NUMBER.test(text));
  const cleaned = others.map((text) => ({ text: cleanText(text), words: true }));
  const disguised = others.flatMap(readDisguised).map(({ text, words }) => ({ text: cleanText(text), words }));
  for (const { text, words } of [...cleaned, ...disguised]) {
    for (const value of words ? findValues(text) : findPlaces(text)) addAll(forms, value.gives, most);
    if (words && text.length <= LONGEST_NAME) addAll(forms, wholeForms(text), most);
  }
  for (const { text, words } of [...cleaned, ...disguised]) {
    if (forms.size >= most) break;
    if (words) addWords(forms, text, most);
  }
  return [...forms];
}

function addAll(forms: Set<string>, more: Iterable<string>, most: number): void {
  for (const form of more) if (forms.size < most) forms.add(form);
}

/** A short text as a whole: a name, a link, or a path with blanks in it. */
function wholeForms(text: string): string[] {
  const name = nameForm(readWords(text, 30));
  const path = text.includes("\n") ? undefined : pathValue(text, 0, text.length);
  const link = text.includes("://") ? wholeLink(text.trim()) : undefined;
  return [...(name ? [name] : []), ...(path?.gives ?? []), ...(link?.gives ?? [])];
}

function addWords(forms: Set<string>, text: string, most: number): void {
  const tokens = readWords(text, most);
  for (let at = 0; at < tokens.length && forms.size < most; at++) {
    for (const length of [1, 2, 3]) {
      const form = shingle(tokens, at, length);
      if (form) forms.add(form);
    }
  }
}

function takeTexts(content: unknown, characters: number): string[] {
  const texts = new Set<string>();
  let left = characters;
  for (const { value } of walkContent(content, MOST_NODES)) {
    const text = String(value).slice(0, left);
    if (texts.has(text)) continue;
    left -= text.length + PER_VALUE;
    if (text !== "") texts.add(text);
    if (left <= 0) break;
  }
  return [...texts];
}
