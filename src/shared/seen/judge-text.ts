import { type CleanText, cleanText, cleanWithPlaces } from "./clean-text.ts";
import { wholeLink } from "./find-links.ts";
import { groupsValue } from "./find-numbers.ts";
import { findValues } from "./find-values.ts";
import type { FoundValue, ValueKind } from "./found-value.ts";
import { judgeLink } from "./judge-link.ts";
import { judgePath } from "./judge-path.ts";
import { type Judged, judgeHidden, LONGEST_TEXT, placeOf, SENTENCE_SHARE } from "./judged.ts";
import { splitClauses } from "./split-clauses.ts";
import { findRuns, NOBODY, type Verdict, type Witnesses, weighForms, weighValue, weighWords } from "./weigh-forms.ts";
import { nameForm, readWords, type Token } from "./word-forms.ts";

const LONGEST_NAME = 120;

/** What programs put before a subject. */
const PREFIX = /^(?:(?:re|fwd?|aw|wg|tr|antw|sv) ?: ?){1,5}/i;

/** Judges a whole argument; `kind` where its name tells. */
export function judgeWhole(text: string, kind: ValueKind | undefined, witnesses: Witnesses): Judged[] {
  const clean = cleanText(text).trim();
  if (clean.length > LONGEST_TEXT) return judgeText(text, witnesses);
  if (kind === "path" && !clean.includes("\n")) return judgePath(text, witnesses);
  const link = kind === "link" ? wholeLink(clean) : undefined;
  if (link) return judgeLink(text, link, witnesses, (part) => judgeName(part, witnesses));
  const [only] = clean.length > LONGEST_NAME * 4 ? [] : findValues(clean);
  if (only && only.at === 0 && only.end === clean.length) return judgeOnly(text, only, kind, witnesses);
  if (kind === "phone" || kind === "account") {
    const groups = /^[\d\s()+/.-]+$/.test(clean) ? groupsValue(clean, 0) : undefined;
    if (groups) return [{ ...weighValue(groups, witnesses), value: text, kind }];
  }
  const long = clean.length > LONGEST_NAME || clean.includes("\n") || (kind === "text" && /\p{L}/u.test(clean));
  return long ? judgeText(text, witnesses) : judgeName(text, witnesses);
}

const NUMBERS: ReadonlySet<ValueKind | undefined> = new Set(["number", "amount", "account", "phone", "code"]);

function judgeOnly(text: string, value: FoundValue, named: ValueKind | undefined, witnesses: Witnesses): Judged[] {
  if (value.kind === "link") return judgeLink(text, value, witnesses, (part) => judgeName(part, witnesses));
  if (value.kind === "path") return judgePath(text, witnesses);
  const kind = named && NUMBERS.has(named) && NUMBERS.has(value.kind) ? named : value.kind;
  const verdict = weighValue(value, witnesses);
  const hidden = verdict.origin === "unseen" ? judgeHidden(text, witnesses) : [];
  if (hidden.length > 0) return hidden;
  const judged = verdict.origin === "unseen" ? byName(text, value, witnesses) : verdict;
  return [{ ...judged, value: text, kind, place: placeOf(value) }];
}

/** A code or host that is found in no list of values may be known as a word. */
function byName(text: string, { kind }: FoundValue, witnesses: Witnesses): Verdict {
  const name = kind === "code" || kind === "host" ? nameForm(readWords(cleanText(text))) : undefined;
  return name ? weighForms([name], witnesses) : { origin: "unseen" };
}

/** Names, titles and other short texts: the whole, what stands in them, and their pieces where the whole is not the human's. */
function judgeName(text: string, witnesses: Witnesses): Judged[] {
  const source = cleanWithPlaces(text);
  const { values, judged } = judgeValues(source, witnesses);
  const hidden = judgeHidden(text, witnesses);
  const places = values.filter(({ kind }) => kind === "address" || kind === "link");
  const rest = places.reduce(
    (left, { at, end }) => left.slice(0, at) + " ".repeat(end - at) + left.slice(end),
    source.text,
  );
  const tokens = readWords(rest.replace(PREFIX, (prefix) => " ".repeat(prefix.length)));
  const first = tokens[0];
  const last = tokens.at(-1);
  if (!first || !last || hidden.some(({ value }) => value === text.trim())) return [...judged, ...hidden];
  const goes = places.length === 0;
  const value = goes ? text : source.original(first.at, last.end);
  const whole = weighName(tokens, witnesses);
  const runs = whole.origin === "you" ? [] : findRuns(tokens, { said: 1, others: 1 }, witnesses);
  const pieces = runs
    .filter(({ verdict }) => verdict.origin !== whole.origin)
    .map((run) => ({ ...run.verdict, value: runText(run, tokens, source), kind: "name" as const, goes: false }));
  return [{ ...whole, value, kind: "name", goes }, ...judged, ...pieces, ...hidden];
}

function runText({ from, to }: { from: number; to: number }, tokens: readonly Token[], source: CleanText): string {
  return source.original(tokens[from]?.at ?? 0, tokens[to - 1]?.end ?? 0);
}

function weighName(tokens: readonly Token[], witnesses: Witnesses): Verdict {
  const name = nameForm(tokens);
  const exact: Verdict = name ? weighForms([name], witnesses) : { origin: "unseen" };
  if (exact.origin === "you") return exact;
  const said = weighWords(tokens, 0.85, { said: witnesses.said, own: NOBODY, seen: NOBODY }, true);
  if (said.origin === "you") return said;
  return exact.origin === "unseen" ? weighWords(tokens, 0.99, witnesses, true) : exact;
}

function judgeValues(source: CleanText, witnesses: Witnesses): { values: FoundValue[]; judged: Judged[] } {
  const values = findValues(source.text).filter(({ kind, at, end }) => kind !== "number" || end - at > 1);
  const judged = values.flatMap((value) => {
    const shown = source.original(value.at, value.end);
    if (value.kind === "link") return judgeLink(shown, value, witnesses, (part) => judgeName(part, witnesses));
    return [{ ...weighValue(value, witnesses), value: shown, kind: value.kind, place: placeOf(value) }];
  });
  return { values, judged };
}

/** Judges a text: each value in it, and each line or clause by its words. */
export function judgeText(text: string, witnesses: Witnesses): Judged[] {
  const source = cleanWithPlaces(text.slice(0, LONGEST_TEXT));
  const { judged } = judgeValues(source, witnesses);
  const sentences = splitClauses(source.text, {
    weigh: (tokens) => weighWords(tokens, SENTENCE_SHARE, witnesses),
    findRuns: (tokens) => findRuns(tokens, { said: 2, others: 3 }, witnesses),
  });
  const texts = sentences.map(({ at, end, verdict }) => ({
    ...verdict,
    value: source.original(at, end),
    kind: "text" as const,
  }));
  return [...judged, ...judgeHidden(text, witnesses), ...texts];
}
