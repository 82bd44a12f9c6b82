import { brotliDecompressSync } from "node:zlib";
import { z } from "zod";
import data from "./related-words.json" with { type: "json" };

/** What other texts say about words, in the form of `normaliseWord`. */
export interface RelatedWords {
  /** Words that stand where this one stands, the nearest first. */
  near(word: string): readonly string[];
  /** How often it stands in all kinds of texts, as a share of their words; 0 for rare and unknown words. */
  readFrequency(word: string): number;
}

/** Every word; for each those near it, by place; and its frequency, as steps of half a power of two below 1. */
const tableSchema = z.object({
  words: z.array(z.string()),
  near: z.array(z.array(z.int())),
  rarity: z.array(z.int()),
});

let read: RelatedWords | undefined;

/**
 * The words that test/package/related-words learned from a dictionary and from descriptions of programs. Read when it is
 * first needed, and kept.
 */
export function readRelatedWords(): RelatedWords {
  read ??= readTable();
  return read;
}

function readTable(): RelatedWords {
  const json = brotliDecompressSync(Buffer.from(data.table, "base64")).toString();
  const { words, near, rarity } = tableSchema.parse(JSON.parse(json));
  const places = new Map(words.map((word, place) => [word, place]));
  return {
    near(word) {
      const place = places.get(word);
      return place === undefined ? [] : (near[place] ?? []).flatMap((at) => words[at] ?? []);
    },
    readFrequency(word) {
      const steps = rarity[places.get(word) ?? -1];
      return steps === undefined ? 0 : 2 ** (-steps / 2);
    },
  };
}
