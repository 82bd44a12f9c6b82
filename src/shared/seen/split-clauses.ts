import type { Verdict, WordRun } from "./weigh-forms.ts";
import { readWords, type Token } from "./word-forms.ts";

/** A piece of a text with one origin. */
export interface JudgedClause {
  readonly at: number;
  readonly end: number;
  readonly verdict: Verdict;
}

/** How words are judged. */
export interface Scales {
  readonly weigh: (tokens: readonly Token[]) => Verdict;
  readonly findRuns: (tokens: readonly Token[]) => readonly WordRun[];
}

interface Piece {
  readonly at: number;
  readonly text: string;
}

const MOST_CLAUSES = 2000;
const MOST_WORDS = 500;
const LINE_END = /\n/g;
/** Not the point of `Mr.`, `No.` or of an initial. */
const SENTENCE_END = /(?<!(?<!\p{L})\p{L}{1,2})\.(?=\s|$)|[!?;](?=\s|$)|[。！？；]/gu;
const CLAUSE_END = /[,:](?=\s|$)|[、，：]/g;

/** Splits a text into lines and sentences, and those that nobody has as a whole into clauses; equal neighbours are one. */
export function splitClauses(text: string, scales: Scales): JudgedClause[] {
  const clauses: JudgedClause[] = [];
  for (const line of cutAt({ at: 0, text }, LINE_END)) {
    const inLine: JudgedClause[] = [];
    for (const clause of cutAt(line, SENTENCE_END).flatMap((sentence) => judgeSentence(sentence, scales))) {
      const last = inLine.at(-1);
      if (last && clause.at >= last.end && isSame(last.verdict, clause.verdict))
        inLine[inLine.length - 1] = { ...last, end: clause.end };
      else inLine.push(clause);
    }
    clauses.push(...inLine);
    if (clauses.length > MOST_CLAUSES) break;
  }
  return clauses;
}

function isSame(one: Verdict, other: Verdict): boolean {
  return (
    one.origin === other.origin && one.source?.title === other.source?.title && one.source?.by === other.source?.by
  );
}

function judgeSentence(sentence: Piece, scales: Scales): JudgedClause[] {
  const whole = judgePiece(sentence, scales);
  if (whole?.verdict.origin !== "unseen") return whole ? [whole] : [];
  const clauses = cutAt(sentence, CLAUSE_END).flatMap((clause) => judgePiece(clause, scales) ?? []);
  if (clauses.some(({ verdict }) => verdict.origin !== "unseen")) return clauses;
  return [whole, ...findPhrases(sentence, scales)];
}

/** Phrases of known origin in a sentence that nobody has. */
function findPhrases({ at, text }: Piece, { findRuns }: Scales): JudgedClause[] {
  const tokens = readWords(text, MOST_WORDS);
  return findRuns(tokens).map(({ from, to, verdict }) => ({
    at: at + (tokens[from]?.at ?? 0),
    end: at + (tokens[to - 1]?.end ?? 0),
    verdict,
  }));
}

function judgePiece({ at, text }: Piece, scales: Scales): JudgedClause | undefined {
  const tokens = readWords(text, MOST_WORDS);
  const first = tokens[0];
  const last = tokens.at(-1);
  if (!first || !last) return undefined;
  return { at: at + first.at, end: at + last.end, verdict: scales.weigh(tokens) };
}

function cutAt({ at, text }: Piece, end: RegExp): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const { 0: sign, index } of text.matchAll(end)) {
    pieces.push({ at: at + from, text: text.slice(from, index) });
    from = index + sign.length;
  }
  pieces.push({ at: at + from, text: text.slice(from) });
  return pieces;
}
