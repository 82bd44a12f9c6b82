import { readRelatedWords } from "./related-words.ts";
import { normaliseWord, splitWords, stem, toSingular } from "./words.ts";

/** What a word counts in each field; the number of a field's words matters within the field alone. */
export type FieldWeights = Readonly<Record<string, number>>;

/** A word of a question, found in things: how much it says for each. */
export interface Evidence {
  readonly things: Uint32Array;
  readonly scores: Float64Array;
}

/** Constants of BM25: how soon another occurrence adds nothing, and how much a long field counts less. */
const SATURATION = 1.2;
const LENGTH_SHARE = 0.4;
/** Of a name in the singular for a word in the plural: "files" are rather listed than read. */
const OTHER_NUMBER_WEIGHT = 0.9;
/** Of words that begin with the one that was typed, or with which it begins, by the share of letters they have in common. */
const PREFIX_WEIGHT = 0.4;
const PREFIX_FROM = 3;
const STEM_FROM = 4;
/** Of a word that nobody knows and that one wrong letter makes a known one. */
const MISSPELLED_WEIGHT = 0.2;
const FUZZY_FROM = 4;
/** Of words near the one that was typed, from the nearest on. */
const NEAR_WEIGHTS = [0.45, 0.4, 0.35, 0.3];
/** Frequency, as a share of all words, from which a word counts half: people say it whatever they want. */
const COMMON_FREQUENCY = 0.003;

interface Term {
  readonly things: number[];
  readonly scores: number[];
}

const NOWHERE: Term = { things: [], scores: [] };

/**
 * An index of things by the words in their fields, ranked as BM25F does: the fields of a thing are added before its score
 * levels off, so that the same word in name and description is no second proof.
 */
export function createWordIndex(things: readonly Readonly<Record<string, string>>[], weights: FieldWeights) {
  const terms = indexFields(things, weights);
  const sorted = [...terms.keys()].sort();
  const count = things.length;
  const rarityOf = (term: Term) => Math.log(1 + (count - term.things.length + 0.5) / (term.things.length + 0.5));
  const scratch = new Float64Array(count);

  /**
   * What each word says, in lower case: of all forms of it that a thing has, the best counts. A form that several words
   * may mean ("make a new …") counts for the one that it fits best.
   */
  function lookUp(typed: readonly string[]): Evidence[] {
    const forms = typed.map((word) => findForms(stem(word), word, terms, sorted));
    const best = new Map<string, number>();
    for (const own of forms) for (const [form, weight] of own) best.set(form, Math.max(weight, best.get(form) ?? 0));
    return typed.map((word, at) => {
      const own = [...(forms[at] ?? [])].filter(([form, weight]) => best.get(form) === weight);
      for (const [form] of own) best.delete(form);
      return weigh(stem(word), own);
    });
  }

  function weigh(word: string, forms: readonly (readonly [form: string, weight: number])[]): Evidence {
    const own = terms.get(word);
    // A related word may be far rarer than the word that was typed, and is no better evidence for that.
    const most = own === undefined ? Number.POSITIVE_INFINITY : 1.5 * rarityOf(own);
    const { readFrequency } = readRelatedWords();
    const said = COMMON_FREQUENCY / (COMMON_FREQUENCY + readFrequency(word));
    const found: number[] = [];
    for (const [form, weight] of forms) {
      const term = terms.get(form) ?? NOWHERE;
      const factor = said * weight * Math.min(rarityOf(term), most);
      for (let at = 0; at < term.things.length; at += 1) {
        const thing = term.things[at] ?? 0;
        const score = factor * (term.scores[at] ?? 0);
        const before = scratch[thing] ?? 0;
        if (before === 0) found.push(thing);
        if (score > before) scratch[thing] = score;
      }
    }
    const evidence = {
      things: Uint32Array.from(found),
      scores: Float64Array.from(found, (thing) => scratch[thing] ?? 0),
    };
    for (const thing of found) scratch[thing] = 0;
    return evidence;
  }
  return { lookUp, has: (word: string) => terms.has(stem(word)) };
}

function indexFields(things: readonly Readonly<Record<string, string>>[], weights: FieldWeights): Map<string, Term> {
  const normalise = keepResults(normaliseWord);
  const terms = new Map<string, Term>();
  const fields = Object.keys(weights);
  const words = things.map((thing) =>
    fields.map((field) => splitWords(thing[field] ?? "").flatMap((word) => normalise(word) ?? [])),
  );
  const plurals = things.map(({ name = "" }) => splitWords(name.toLowerCase()).flatMap((word) => toPlural(word) ?? []));
  const means = fields.map(
    (_, field) => words.reduce((sum, own) => sum + (own[field]?.length ?? 0), 0) / words.length || 1,
  );
  for (const [thing, own] of words.entries()) {
    const counts = new Map<string, number>();
    for (const [field, name] of fields.entries()) {
      const text = own[field] ?? [];
      const length = 1 - LENGTH_SHARE + (LENGTH_SHARE * text.length) / (means[field] ?? 1);
      const weight = (weights[name] ?? 0) / length;
      for (const word of text) counts.set(word, (counts.get(word) ?? 0) + weight);
    }
    for (const word of plurals[thing] ?? []) counts.set(word, counts.get(stem(word.slice(1))) ?? 1);
    for (const [word, weighed] of counts) {
      const term = terms.get(word) ?? { things: [], scores: [] };
      if (term.things.length === 0) terms.set(word, term);
      term.things.push(thing);
      term.scores.push((weighed * (SATURATION + 1)) / (weighed + SATURATION));
    }
  }
  return terms;
}

/** Words of the index that may be meant by this one, and how likely, between 0 and 1. */
function findForms(
  word: string,
  typed: string,
  terms: ReadonlyMap<string, Term>,
  sorted: readonly string[],
): Map<string, number> {
  const forms = new Map<string, number>();
  const put = (form: string, weight: number) => {
    if (weight > (forms.get(form) ?? 0)) forms.set(form, weight);
  };
  const isKnown = terms.has(word);
  const plural = toPlural(typed);
  if (plural !== undefined && terms.has(plural)) put(plural, 1);
  if (isKnown) put(word, forms.size === 0 ? 1 : OTHER_NUMBER_WEIGHT);
  if (word.length >= PREFIX_FROM) {
    for (let at = findFirst(sorted, word); sorted[at]?.startsWith(word); at += 1) {
      const longer = sorted[at] ?? word;
      if (longer !== word) put(longer, (PREFIX_WEIGHT * word.length) / longer.length);
    }
  }
  for (let length = word.length - 1; !isKnown && length >= STEM_FROM; length -= 1) {
    const shorter = word.slice(0, length);
    if (terms.has(shorter)) put(shorter, (PREFIX_WEIGHT * length) / word.length);
  }
  const { near, readFrequency } = readRelatedWords();
  for (const [place, other] of near(word).entries()) {
    if (terms.has(other)) put(other, NEAR_WEIGHTS[place] ?? 0);
  }
  if (forms.size === 0 && word.length >= FUZZY_FROM && readFrequency(word) === 0) {
    for (const form of sorted) if (isOneEditAway(word, form)) put(form, MISSPELLED_WEIGHT);
  }
  return forms;
}

/** How the index has a word that stands in the plural in a name; undefined for one in the singular. */
function toPlural(word: string): string | undefined {
  return toSingular(word) === word ? undefined : `=${word}`;
}

/** Place of the first word that is not before this one. */
function findFirst(sorted: readonly string[], word: string): number {
  let from = 0;
  let to = sorted.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((sorted[middle] ?? "") < word) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** Whether one letter more, less or other, or two that changed places, makes one word of the other. */
function isOneEditAway(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) return false;
  let start = 0;
  while (start < a.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  const [left, right] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  return Math.max(left.length, right.length) <= 1 || (left.length === 2 && left === `${right[1]}${right[0]}`);
}

/** Names and texts repeat their words many times. */
function keepResults<T>(make: (word: string) => T): (word: string) => T {
  const kept = new Map<string, T>();
  return (word) => {
    const known = kept.get(word);
    if (known !== undefined) return known;
    const made = make(word);
    kept.set(word, made);
    return made;
  };
}
