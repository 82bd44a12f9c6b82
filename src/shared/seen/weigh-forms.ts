import type { Origin } from "../wire/origin.ts";
import type { Evidence, SeenSource } from "./evidence.ts";
import type { FoundValue } from "./found-value.ts";
import { shingle, type Token } from "./word-forms.ts";

/** Where values may come from. */
export interface Witnesses {
  /** The human's words. */
  readonly said?: Evidence | undefined;
  /** The owner's own data. */
  readonly own: Evidence;
  /** Results of tools. */
  readonly seen: Evidence;
  /** Values that earlier calls brought from somebody else into the owner's data: they are not the owner's. */
  readonly carried?: Evidence | undefined;
}

/** A witness that knows nothing. */
export const NOBODY: Evidence = { find: () => undefined };

/** Whose a value is, and where it was seen. */
export interface Verdict {
  readonly origin: Origin["origin"];
  readonly source?: SeenSource;
}

const UNSEEN: Verdict = { origin: "unseen" };

/** One of the witnesses as a question: where does this form come from, if it is theirs? */
type Witness = (form: string) => SeenSource | undefined;

const HUMAN: SeenSource = { app: "", kind: "words", whose: "yours" };

function witnessesOf({ said, own, seen, carried }: Witnesses): readonly (readonly [Origin["origin"], Witness])[] {
  const whose = (whose: SeenSource["whose"], form: string) => {
    if (whose === "yours" && carried?.find(form)) return undefined;
    const sources =
      whose === "somebody" ? [carried?.find(form), own.find(form), seen.find(form)] : [own.find(form), seen.find(form)];
    return sources.find((source, index) => source && (source.whose === whose || (whose === "somebody" && index === 0)));
  };
  return [
    ["you", (form) => said && (said.find(form) ? HUMAN : undefined)],
    ["yours", (form) => whose("yours", form)],
    ["somebody", (form) => whose("somebody", form)],
  ];
}

/** Judges a value by its forms: the whole, or else all its parts. */
export function weighValue({ asks, parts = [] }: Pick<FoundValue, "asks" | "parts">, witnesses: Witnesses): Verdict {
  const whole = weighForms(asks, witnesses);
  if (whole.origin !== "unseen" || parts.length === 0) return whole;
  return mostForeign(parts.map((forms) => weighForms(forms, witnesses)));
}

/** The verdict on what is put together of parts: that of its most foreign one. */
export function mostForeign(verdicts: readonly Verdict[]): Verdict {
  for (const wanted of ["unseen", "somebody", "yours", "you"] as const) {
    const verdict = verdicts.find(({ origin }) => origin === wanted);
    if (verdict) return verdict.source ? { origin: wanted, source: verdict.source } : { origin: wanted };
  }
  return UNSEEN;
}

/** Judges by the first witness that knows one of the forms. */
export function weighForms(forms: readonly string[], witnesses: Witnesses): Verdict {
  for (const [origin, find] of witnessesOf(witnesses)) {
    for (const form of forms) {
      const source = find(form);
      if (source) return origin === "you" ? { origin } : { origin, source };
    }
  }
  return UNSEEN;
}

/**
 * Judges words by the witness that knows most of them, `share` of them at least. The human's words may be rearranged and
 * inflected, if not `inOrder`.
 */
export function weighWords(tokens: readonly Token[], share: number, witnesses: Witnesses, inOrder = false): Verdict {
  let best: Verdict & { covered: number } = { ...UNSEEN, covered: 0 };
  for (const [origin, find] of witnessesOf(witnesses)) {
    const { covered, source } = cover(tokens, find, origin !== "you" ? [3] : inOrder ? [3, 2] : [3, 2, 1]);
    if (!source || covered < share || covered <= best.covered) continue;
    best = origin === "you" ? { origin, covered: covered + 0.15 } : { origin, source, covered };
  }
  return best;
}

/** Words in a row that one witness has, and whose they are. */
export interface WordRun {
  readonly from: number;
  /** The word after the last one. */
  readonly to: number;
  readonly verdict: Verdict;
}

/**
 * Finds runs of words that a witness has, of at least `shortest` words: those of the human, and else the longest of others.
 */
export function findRuns(
  tokens: readonly Token[],
  shortest: { readonly said: number; readonly others: number },
  witnesses: Witnesses,
): WordRun[] {
  const runs: WordRun[] = [];
  const all = witnessesOf(witnesses);
  for (let at = 0; at < tokens.length; ) {
    let best: WordRun | undefined;
    for (const [origin, find] of all) {
      const run = runFrom(
        tokens,
        at,
        origin === "you" ? { length: shortest.said, letters: 3 } : { length: shortest.others, letters: 4 },
        find,
      );
      if (!run || run.to <= (best?.to ?? at) || best?.verdict.origin === "you") continue;
      best = { from: at, to: run.to, verdict: origin === "you" ? { origin } : { origin, source: run.source } };
    }
    if (best) runs.push(best);
    at = best?.to ?? at + 1;
  }
  return runs;
}

function runFrom(tokens: readonly Token[], at: number, shortest: { length: number; letters: number }, find: Witness) {
  for (let length = Math.min(3, tokens.length - at); length >= shortest.length; length--) {
    const word = tokens[at]?.word ?? "";
    if (length === 1 && word.length < shortest.letters && !/\d/.test(word)) continue;
    const first = findShingle(tokens, at, length, find);
    if (!first) continue;
    let to = at + length;
    while (length > 1 && to < tokens.length && findShingle(tokens, to - length + 1, length, find)) to += 1;
    return { to, source: first };
  }
  return undefined;
}

/** Endings that a word may have more or less than the human's. */
const ENDINGS = ["s", "n", "e", "en", "es", "er", "em"];

function findShingle(tokens: readonly Token[], at: number, length: number, find: Witness): SeenSource | undefined {
  const form = shingle(tokens, at, length);
  if (!form) return undefined;
  const exact = find(form);
  const word = tokens[at]?.word ?? "";
  if (exact || length > 1 || word.length < 4) return exact;
  const others = ENDINGS.flatMap((end) => [
    `${form}${end}`,
    ...(word.endsWith(end) && word.length - end.length > 3 ? [form.slice(0, -end.length)] : []),
  ]);
  const other = others.find((one) => find(one));
  return other === undefined ? undefined : find(other);
}

/** The share of words that stand in shingles which a witness knows; lone words count less. */
function cover(
  tokens: readonly Token[],
  find: Witness,
  lengths: readonly number[],
): { covered: number; source?: SeenSource | undefined } {
  const weights = new Array<number>(tokens.length).fill(0);
  let first: SeenSource | undefined;
  for (const wanted of lengths) {
    const length = Math.min(wanted, tokens.length);
    for (let at = 0; at + length <= tokens.length; at++) {
      const source = findShingle(tokens, at, length, find);
      if (!source) continue;
      first ??= source;
      const weight = length === 1 && tokens.length > 1 ? 0.9 : 1;
      for (let word = at; word < at + length; word++) weights[word] = Math.max(weights[word] ?? 0, weight);
    }
  }
  return { covered: weights.reduce((sum, weight) => sum + weight, 0) / Math.max(1, tokens.length), source: first };
}
