import { normaliseWord, splitWords } from "../../../src/service/catalog/words.ts";
import type { Meaning } from "./read-wordnet.ts";

/** Words before and after one that count as its company, less the farther they are. */
const WINDOW = 6;
/** The dictionary is small, and says most about words of every day. */
const DICTIONARY_WEIGHT = 4;
/** How much frequent company counts less. */
const SMOOTHING = 0.75;

/**
 * Counts which words stand together, and compares words by the company they keep: the cosine of their positive pointwise
 * mutual information with each context.
 *
 * @param rows words that are compared, and their places
 * @param columns words that count as company, and their places
 */
export function createUse(rows: ReadonlyMap<string, number>, columns: ReadonlyMap<string, number>) {
  const counts = Array.from({ length: rows.size }, () => new Float32Array(columns.size));
  const add = (word: string, other: string, weight: number) => {
    const row = counts[rows.get(word) ?? -1];
    const column = columns.get(other);
    if (row === undefined || column === undefined || word === other) return;
    row[column] = (row[column] ?? 0) + weight;
  };
  const addBoth = (word: string, other: string, weight: number) => {
    add(word, other, weight);
    add(other, word, weight);
  };
  function addText(words: readonly string[], weight = 1): void {
    for (const [at, word] of words.entries()) {
      for (let next = at + 1; next <= at + WINDOW && next < words.length; next += 1) {
        addBoth(word, words[next] ?? "", weight / Math.sqrt(next - at));
      }
    }
  }
  return {
    addText,
    addMeaning({ words, linked }: Meaning, gloss: readonly string[]): void {
      const toWords = (texts: readonly string[]) =>
        texts.flatMap(splitWords).flatMap((word) => normaliseWord(word) ?? []);
      const own = toWords(words);
      addText(gloss, DICTIONARY_WEIGHT / 2);
      const company: [readonly string[], number][] = [
        [gloss, 1],
        [own, 2],
        ...linked.map((others): [readonly string[], number] => [toWords(others), 1]),
      ];
      for (const [others, weight] of company) {
        const share = (DICTIONARY_WEIGHT * weight) / Math.sqrt(others.length || 1);
        for (const word of own) for (const other of others) addBoth(word, other, share);
      }
    },
    /** For a word those that share some of its company, with the cosine. Ends the counting. */
    compare: () => compareRows(counts, columns.size),
  };
}

type Compared = (row: number) => [other: number, cosine: number][];

function compareRows(counts: readonly Float32Array[], width: number): Compared {
  const ofColumn = new Float64Array(width);
  for (const row of counts)
    for (const [column, count] of row.entries()) ofColumn[column] = (ofColumn[column] ?? 0) + count;
  const smooth = ofColumn.map((count) => count ** SMOOTHING);
  const all = smooth.reduce((a, b) => a + b, 0);
  /** For each column the rows that have it. */
  const columns = Array.from({ length: width }, (): [row: number, value: number][] => []);
  const values = counts.map((row, place) => {
    const total = row.reduce((a, b) => a + b, 0);
    const own: [column: number, value: number][] = [];
    for (const [column, count] of row.entries()) {
      const information = Math.log((count * all) / (total * (smooth[column] ?? 1)));
      if (information > 0) own.push([column, information]);
    }
    const length = Math.hypot(...own.map(([, value]) => value)) || 1;
    for (const [column, value] of own) columns[column]?.push([place, value / length]);
    return own.map(([column, value]): [number, number] => [column, value / length]);
  });
  return (row) => {
    const cosines = new Float64Array(counts.length);
    for (const [column, value] of values[row] ?? []) {
      for (const [other, its] of columns[column] ?? []) cosines[other] = (cosines[other] ?? 0) + value * its;
    }
    return [...cosines.entries()].filter(([other, cosine]) => other !== row && cosine > 0);
  };
}
