import type { CatalogEntry } from "./catalog-entry.ts";

const MAX_SUGGESTIONS = 3;
const MIN_SCORE = 0.34;
/** Of the best score. */
const MIN_SHARE = 0.7;

/**
 * Up to three tools whose name is close to `wanted`, reads before everything else. They are shown, never run. A name
 * much further away than the closest one is left out, so that the one that was meant is not crowded out.
 */
export function suggestTools(entries: Iterable<CatalogEntry>, wanted: string): CatalogEntry[] {
  const words = splitName(wanted);
  const scored = [...entries].map((entry) => ({ entry, score: scoreName(words, splitName(entry.name)) }));
  const best = scored.reduce((max, { score }) => Math.max(max, score), 0);
  const close = scored
    .filter(({ score }) => score >= MIN_SCORE && score >= best * MIN_SHARE)
    .sort((a, b) => rank(a.entry) - rank(b.entry) || b.score - a.score || (a.entry.name < b.entry.name ? -1 : 1));
  return close.slice(0, MAX_SUGGESTIONS).map(({ entry }) => entry);
}

function rank(entry: CatalogEntry): number {
  return entry.effect === "read" ? 0 : 1;
}

function splitName(name: string): string[] {
  const words = name
    .replaceAll(/([a-z])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  return words.filter((word) => word !== "").map((word) => (word.length > 3 ? word.replace(/s$/, "") : word));
}

/** Share of letter pairs two names have in common (Dice), averaged with the share of common words. */
function scoreName(wanted: readonly string[], words: readonly string[]): number {
  const common = wanted.filter((word) => words.includes(word)).length;
  const byWord = (2 * common) / Math.max(1, wanted.length + words.length);
  return (byWord + dice(wanted.join("_"), words.join("_"))) / 2;
}

function dice(a: string, b: string): number {
  const pairs = (text: string) => Array.from({ length: Math.max(0, text.length - 1) }, (_, i) => text.slice(i, i + 2));
  const left = pairs(a);
  const right = pairs(b);
  if (left.length + right.length === 0) return 0;
  const pool = [...right];
  let common = 0;
  for (const pair of left) {
    const index = pool.indexOf(pair);
    if (index === -1) continue;
    common += 1;
    pool.splice(index, 1);
  }
  return (2 * common) / (left.length + right.length);
}
