import { normaliseWord, splitWords } from "../../../src/service/catalog/words.ts";

/** A tool of a public catalogue. */
export interface ToolText {
  readonly app: string;
  /** Without the app. */
  readonly name: string;
  readonly description: string;
}

/** Words of a description that tell what the name tells. */
const FIRST_WORDS = 14;
/** Fewer tools, or tools of fewer apps, prove nothing. */
const LEAST_TOOLS = 4;
const LEAST_APPS = 3;
/** How much more often than among all names. */
const LEAST_LIFT = 2.5;

/**
 * For words of descriptions, such as "removes", the words of names that they stand for, such as `delete`: by place, with
 * the share of the tools described by the one that are named by the other. Words that stand in both prove nothing.
 */
export function compareNames(
  tools: readonly ToolText[],
  places: ReadonlyMap<string, number>,
): Map<number, Map<number, number>> {
  const named = new Map<string, number>();
  const described = new Map<string, number>();
  const pairs = new Map<string, Set<string>[]>();
  const different = [...new Map(tools.map((tool) => [`${tool.name}\n${tool.description}`, tool])).values()];
  for (const [at, { app, name, description }] of different.entries()) {
    const own = toWords(name);
    const said = toWords(description.split(". ")[0] ?? "", FIRST_WORDS);
    for (const word of own) named.set(word, (named.get(word) ?? 0) + 1);
    for (const word of said) {
      if (own.has(word)) continue;
      described.set(word, (described.get(word) ?? 0) + 1);
      for (const other of own) {
        const [apps, ids] = pairs.get(`${word} ${other}`) ?? [new Set<string>(), new Set<string>()];
        pairs.set(`${word} ${other}`, [apps?.add(app) ?? new Set(), ids?.add(String(at)) ?? new Set()]);
      }
    }
  }
  const shares = new Map<number, Map<number, number>>();
  for (const [pair, [apps, ids]] of pairs) {
    const [word = "", other = ""] = pair.split(" ");
    const [place, otherPlace] = [places.get(word), places.get(other)];
    const count = ids?.size ?? 0;
    const share = count / (described.get(word) ?? 1);
    const lift = share / ((named.get(other) ?? 1) / different.length);
    if (place === undefined || otherPlace === undefined || count < LEAST_TOOLS || (apps?.size ?? 0) < LEAST_APPS)
      continue;
    if (lift >= LEAST_LIFT) shares.set(place, (shares.get(place) ?? new Map()).set(otherPlace, share));
  }
  return shares;
}

function toWords(text: string, most = Number.POSITIVE_INFINITY): Set<string> {
  return new Set(
    splitWords(text)
      .flatMap((word) => normaliseWord(word) ?? [])
      .slice(0, most),
  );
}
