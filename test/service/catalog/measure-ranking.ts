import { readFileSync } from "node:fs";
import { z } from "zod";

const labelledSchema = z.array(z.strictObject({ query: z.string(), tools: z.array(z.string()).min(1) }));

/** A request in a user's words and the tools that answer it. */
export type LabelledQuery = z.infer<typeof labelledSchema>[number];

/** Reads a labelled set below `queries/`. */
export function readQueries(name: string): LabelledQuery[] {
  return labelledSchema.parse(JSON.parse(readFileSync(new URL(`./queries/${name}.json`, import.meta.url), "utf8")));
}

/** How well a ranking finds what was meant; all but `misses` between 0 and 1. */
export interface RankingQuality {
  readonly hit1: number;
  readonly hit5: number;
  /** Mean of 1 / rank of the first right tool. */
  readonly mrr: number;
  /** Queries whose tools are not among the first five, with what is. */
  readonly misses: readonly string[];
}

/** Measures a search against a labelled set. */
export function measureRanking(queries: readonly LabelledQuery[], search: (query: string) => string[]): RankingQuality {
  const ranked = queries.map(({ query, tools }) => {
    const found = search(query);
    const place = found.findIndex((name) => tools.includes(name)) + 1;
    return { query, rank: place === 0 ? Number.POSITIVE_INFINITY : place, found: found.slice(0, 5) };
  });
  const share = (isGood: (rank: number) => boolean) => ranked.filter(({ rank }) => isGood(rank)).length / ranked.length;
  return {
    hit1: share((rank) => rank === 1),
    hit5: share((rank) => rank <= 5),
    mrr: ranked.reduce((sum, { rank }) => sum + 1 / rank, 0) / ranked.length,
    misses: ranked
      .filter(({ rank }) => rank > 5)
      .map(({ query, rank, found }) => `${query} (${rank}): ${found.join(", ")}`),
  };
}

/** One line for a test's output. */
export function describeQuality(name: string, count: number, { hit1, hit5, mrr }: RankingQuality): string {
  const show = (value: number) => value.toFixed(3);
  return `${name}: ${count} queries, hit@1 ${show(hit1)}, hit@5 ${show(hit5)}, MRR ${show(mrr)}`;
}
