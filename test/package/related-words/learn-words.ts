import { normaliseWord, splitWords } from "../../../src/service/catalog/words.ts";
import { compareNames, type ToolText } from "./compare-names.ts";
import { createUse } from "./compare-use.ts";
import type { Meaning } from "./read-wordnet.ts";

/** What there is to learn from. */
export interface Texts {
  readonly meanings: readonly Meaning[];
  /** Paragraphs about programs. */
  readonly paragraphs: readonly string[];
  readonly tools: readonly ToolText[];
}

/** See `related-words.ts` of the catalog. */
export interface WordTable {
  readonly words: readonly string[];
  readonly near: readonly (readonly number[])[];
  readonly rarity: readonly number[];
}

/** Words that are learned about: the most frequent of dictionary, descriptions and tools, each counting alike. */
const WORDS = 3_200;
/** Words that they are compared by: the most frequent of all. */
const CONTEXTS = 8_000;
/** Most related words of one. */
const MOST_NEAR = 4;
/** Less similar words are left out; the cosine of how they are used. */
const LEAST_SIMILAR = 0.2;
/** How much more than likeness it says when tools described by one word are named by the other. */
const NAME_WEIGHT = 2;
/** Rarity of a word that no dictionary has. */
const RAREST = 40;
/** Added to the similarity of words that mean the same somewhere. */
const SYNONYM_BONUS = 0.15;

const toWords = (text: string) => splitWords(text).flatMap((word) => normaliseWord(word) ?? []);

/** Learns which words stand for which, and how frequent each is. */
export function learnWords(texts: Texts): WordTable {
  const glosses = texts.meanings.map(({ gloss }) => toWords(gloss));
  const paragraphs = texts.paragraphs.map(toWords);
  const said = countWords([...glosses, ...texts.meanings.map(({ words }) => words.flatMap(toWords))]);
  const written = countWords(paragraphs);
  const offered = countWords(texts.tools.map(({ name, description }) => toWords(`${name} ${description}`)));
  const words = listFrequent(addShares([said, written, offered]), WORDS).filter((word) => /^\p{L}{3,24}$/u.test(word));
  const places = new Map(words.map((word, place) => [word, place]));
  const contexts = listFrequent(addShares([said, written]), CONTEXTS);
  const use = createUse(places, new Map(contexts.map((word, place) => [word, place])));
  for (const paragraph of paragraphs) use.addText(paragraph);
  for (const [at, meaning] of texts.meanings.entries()) use.addMeaning(meaning, glosses[at] ?? []);
  const similar = use.compare();
  const same = findSynonyms(texts.meanings, places);
  const renamed = compareNames(texts.tools, places);
  const near = words.map((_, place) => {
    const scores = new Map(similar(place).map(([other, cosine]) => [other, cosine]));
    for (const other of same.get(place) ?? []) scores.set(other, (scores.get(other) ?? 0) + SYNONYM_BONUS);
    for (const [other, share] of renamed.get(place) ?? [])
      scores.set(other, Math.max(scores.get(other) ?? 0, NAME_WEIGHT * share));
    return [...scores]
      .filter(([other, score]) => other !== place && score >= LEAST_SIMILAR)
      .sort((a, b) => b[1] - a[1] || a[0] - b[0])
      .slice(0, MOST_NEAR)
      .map(([other]) => other);
  });
  return { words, near, rarity: measureRarity(words, said) };
}

/** In language of every day: what programs are described with, such as "file", is what a question is about. */
function measureRarity(words: readonly string[], said: ReadonlyMap<string, number>): number[] {
  const all = sum(said.values());
  return words.map((word) => Math.min(RAREST, Math.round(-2 * Math.log2((said.get(word) ?? 0) / all))));
}

function countWords(texts: readonly (readonly string[])[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of texts.flat()) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

/** The shares that words have of each count, added. */
function addShares(counts: readonly ReadonlyMap<string, number>[]): Map<string, number> {
  const shares = new Map<string, number>();
  for (const one of counts) {
    const all = sum(one.values());
    for (const [word, count] of one) shares.set(word, (shares.get(word) ?? 0) + count / all);
  }
  return shares;
}

function listFrequent(counts: ReadonlyMap<string, number>, most: number): string[] {
  return [...counts]
    .sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
    .slice(0, most)
    .map(([word]) => word);
}

function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

/** For each word those that have a meaning in common with it, of words that are a meaning's only word. */
function findSynonyms(meanings: readonly Meaning[], places: ReadonlyMap<string, number>): Map<number, Set<number>> {
  const same = new Map<number, Set<number>>();
  for (const { words } of meanings) {
    const single = words
      .map(toWords)
      .flatMap(([word, ...more]) => (more.length === 0 ? (places.get(word ?? "") ?? []) : []));
    for (const word of single) same.set(word, new Set([...(same.get(word) ?? []), ...single]));
  }
  return same;
}
