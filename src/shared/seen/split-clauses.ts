import type { Verdict } from "./weigh-forms.ts";
import { readWords, type Token } from "./word-forms.ts";

/** A piece of a text with one origin. */
export interface JudgedClause {
  readonly at: number;
  readonly end: number;
  readonly verdict: Verdict;
}

type Weigh = (tokens: readonly Token[]) => Verdict;

interface Piece {
  readonly at: number;
  readonly text: string;
}

const MOST_CLAUSES = 2000;

/** Splits a text into lines and sentences, and those that nobody has as a whole into clauses; equal neighbours are one. */
export function splitClauses(text: string, weigh: Weigh): JudgedClause[] {
  const clauses: JudgedClause[] = [];
  for (const line of pieces({ at: 0, text }, /[^\n]+/g)) {
    const inLine: JudgedClause[] = [];
    for (const sentence of pieces(line, /(?:[^.!?。！？;；]|[.!?;](?!\s|$)|(?<=\b\p{L}{1,2})\.)+[.!?。！？;；]*/gu)) {
      for (const clause of judgeSentence(sentence, weigh)) {
        const last = inLine.at(-1);
        const same =
          last?.verdict.origin === clause.verdict.origin && last.verdict.source?.title === clause.verdict.source?.title;
        if (last && same) inLine[inLine.length - 1] = { ...last, end: clause.end };
        else inLine.push(clause);
      }
    }
    clauses.push(...inLine);
    if (clauses.length > MOST_CLAUSES) break;
  }
  return clauses;
}

function judgeSentence(sentence: Piece, weigh: Weigh): JudgedClause[] {
  const whole = judgePiece(sentence, weigh);
  if (!whole || whole.verdict.origin !== "unseen") return whole ? [whole] : [];
  const clauses = pieces(sentence, /(?:[^,:、，：]|[,:](?!\s))+[,:、，：]?/g).flatMap(
    (clause) => judgePiece(clause, weigh) ?? [],
  );
  return clauses.some(({ verdict }) => verdict.origin !== "unseen") ? clauses : [whole];
}

function judgePiece({ at, text }: Piece, weigh: Weigh): JudgedClause | undefined {
  const tokens = readWords(text, 500);
  const first = tokens[0];
  const last = tokens.at(-1);
  if (!first || !last) return undefined;
  return { at: at + first.at, end: at + last.end, verdict: weigh(tokens) };
}

function* pieces({ at, text }: Piece, pattern: RegExp): Generator<Piece> {
  for (const match of text.matchAll(pattern)) yield { at: at + match.index, text: match[0] };
}
