import { type CleanText, cleanText, cleanWithPlaces } from "./clean-text.ts";
import { decodeBase64Runs, decodePercent } from "./disguises.ts";
import { linkValue, pathValue } from "./find-links.ts";
import { groupsValue } from "./find-numbers.ts";
import { findValues } from "./find-values.ts";
import type { FoundValue, ValueKind } from "./found-value.ts";
import { splitLink } from "./normalise-links.ts";
import { splitClauses } from "./split-clauses.ts";
import { type Verdict, type Witnesses, weighForms, weighValue, weighWords } from "./weigh-forms.ts";
import { nameForm, readWords, shingle, type Token } from "./word-forms.ts";

/** A judged value. */
export interface Judged extends Verdict {
  /** As it is sent. */
  readonly value: string;
  readonly kind: ValueKind;
  /** Address or host, where there is one. */
  readonly place?: string | undefined;
  /** False for a value inside a sink that is none itself, such as the name of a person. */
  readonly goes?: boolean;
}

const LONGEST_TEXT = 60_000;
const LONGEST_NAME = 120;
const SHARE = 0.6;
const PREFIX = /^(?:(?:re|fwd?|aw|wg|tr|antw|sv)\s?: ?)+/i;

/** Judges a whole argument; `kind` where its name tells. */
export function judgeWhole(text: string, kind: ValueKind | undefined, witnesses: Witnesses): Judged[] {
  const clean = cleanText(text).trim();
  if (kind === "path" && !clean.includes("\n")) return judgePath(text, clean, witnesses);
  const link = kind === "link" || /^[a-z][a-z0-9+.-]{1,15}:\/\/\S+$/i.test(clean) ? linkValue(clean, 0) : undefined;
  if (link) return judgeLink(text, clean, link, witnesses);
  const values = findValues(clean);
  const [only] = values;
  if (only && only.at === 0 && only.end === clean.length)
    return judgeOnly(text, clean, { ...only, kind: kindOf(kind, only) }, witnesses);
  if (kind === "phone" || kind === "account") {
    const groups = /^[\d\s()+/.-]+$/.test(clean) ? groupsValue(clean, 0) : undefined;
    if (groups) return [{ ...weighValue(groups, witnesses), value: text, kind }];
  }
  return clean.length > LONGEST_NAME || clean.includes("\n") ? judgeText(text, witnesses) : judgeName(text, witnesses);
}

function kindOf(named: ValueKind | undefined, { kind }: FoundValue): ValueKind {
  const number = kind === "number" || kind === "amount" || kind === "account" || kind === "phone" || kind === "code";
  return number && (named === "amount" || named === "account" || named === "phone") ? named : kind;
}

function judgeOnly(text: string, clean: string, value: FoundValue, witnesses: Witnesses): Judged[] {
  if (value.kind === "link") return judgeLink(text, clean, value, witnesses);
  if (value.kind === "path") return judgePath(text, clean, witnesses);
  const verdict = weighValue(value, witnesses);
  if (verdict.origin !== "unseen") return [{ ...verdict, value: text, kind: value.kind, place: placeOf(value) }];
  const hidden = judgeHidden(text, witnesses);
  return hidden.length > 0
    ? hidden
    : [{ ...byName(clean, value, witnesses), value: text, kind: value.kind, place: placeOf(value) }];
}

/** A code or host that is found in no list of values may be known as a word. */
function byName(clean: string, value: FoundValue, witnesses: Witnesses): Verdict {
  if (value.kind !== "code" && value.kind !== "host") return { origin: "unseen" };
  const name = nameForm(readWords(clean));
  return name ? weighForms([name], witnesses) : { origin: "unseen" };
}

function placeOf({ kind, asks }: FoundValue): string | undefined {
  return kind === "address" || kind === "host" ? asks[0]?.replace(/^\w+:/, "") : undefined;
}

function judgePath(text: string, clean: string, witnesses: Witnesses): Judged[] {
  const path = pathValue(clean, 0, clean.length);
  if (!path) return [];
  const verdict = weighForms(path.asks, witnesses);
  if (verdict.origin !== "unseen") return [{ ...verdict, value: text, kind: "path" }];
  const cut = Math.max(text.lastIndexOf("/"), text.lastIndexOf("\\"));
  const [folder, name] = (path.parts ?? []).map((forms) => weighForms(forms, witnesses));
  if (folder && name && cut > 0) {
    return [
      {
        ...(folder.origin === "unseen" ? byWords(text.slice(0, cut), witnesses) : folder),
        value: text.slice(0, cut),
        kind: "path",
      },
      {
        ...(name.origin === "unseen" ? byWords(text.slice(cut + 1), witnesses) : name),
        value: text.slice(cut + 1),
        kind: "path",
      },
    ];
  }
  return [{ ...byWords(text, witnesses), value: text, kind: "path" }];
}

/** A name that stands in no path: the owner's words or a stranger's may have it, the owner's data never. */
function byWords(text: string, witnesses: Witnesses): Verdict {
  const tokens = readWords(cleanText(text));
  const name = nameForm(tokens);
  const verdict = weighWords(tokens, 0.99, witnesses);
  if (verdict.origin !== "yours") return verdict;
  return name ? weighForms([name], { ...witnesses, own: witnesses.seen }) : { origin: "unseen" };
}

/** A link: the whole, or else what it begins with; and what its parameters and steps carry. */
function judgeLink(text: string, clean: string, value: FoundValue, witnesses: Witnesses): Judged[] {
  const parts = splitLink(clean);
  const host = parts?.host;
  const whole = weighValue(value, witnesses);
  if (whole.origin !== "unseen" || !parts) return [{ ...whole, value: text, kind: "link", place: host }];
  const prefixes = value.gives.filter((form) => form.startsWith("link:")).toSorted((a, b) => b.length - a.length);
  const begun = prefixes.map((form) => weighForms([form], witnesses)).find(({ origin }) => origin !== "unseen");
  const at = weighForms([`host:${host}`], witnesses);
  const shown = [begun, at].find((verdict) => verdict?.origin === "somebody") ?? { origin: "unseen" };
  const carried = [...clean.matchAll(/[?&#;=/]([^?&#;=/]{2,200})/g)].flatMap(({ 1: raw = "" }) => {
    const decoded = cleanText(decodePercent(raw.replaceAll("+", " ")));
    return judgeWhole(decoded, undefined, witnesses)
      .filter(({ origin }) => origin === "yours" || origin === "you")
      .map((judged) => ({ ...judged, value: raw, goes: false }));
  });
  const known =
    at.origin === "you" || at.origin === "yours"
      ? [{ ...at, value: host ?? "", kind: "host" as const, goes: false }]
      : [];
  return [
    { ...shown, value: text, kind: "link", place: host },
    ...carried.filter(({ value: raw }) => raw !== host),
    ...known,
  ];
}

/** Names, titles and other short texts: the whole, what stands in them, and their pieces where the whole is not known. */
function judgeName(text: string, witnesses: Witnesses): Judged[] {
  const source = cleanWithPlaces(text);
  const values = findValues(source.text).filter((value) => value.kind !== "number" || value.end - value.at > 1);
  const judged = values.flatMap((value) => judgeValue(value, source, witnesses));
  const places = values.filter(({ kind }) => kind === "address" || kind === "link");
  const rest = places.reduce(
    (left, { at, end }) => left.slice(0, at) + " ".repeat(end - at) + left.slice(end),
    source.text,
  );
  const bare = rest.replace(PREFIX, (prefix) => " ".repeat(prefix.length));
  const tokens = readWords(bare);
  if (tokens.length === 0) return [...judged, ...judgeHidden(text, witnesses)];
  const from = tokens[0]?.at ?? 0;
  const shown = source.original(
    places.length > 0 ? from : 0,
    places.length > 0 ? (tokens.at(-1)?.end ?? 0) : source.text.length,
  );
  const goes = places.length === 0;
  const whole = weighName(tokens, witnesses);
  const pieces = whole.origin === "you" ? [] : splitName(tokens, source, witnesses);
  const other = pieces.filter((piece) => piece.origin !== whole.origin).map((piece) => ({ ...piece, goes: false }));
  return [{ ...whole, value: shown, kind: "name", goes }, ...judged, ...other, ...judgeHidden(text, witnesses)];
}

function weighName(tokens: readonly Token[], witnesses: Witnesses): Verdict {
  const name = nameForm(tokens);
  const exact = name ? weighForms([name], witnesses) : undefined;
  if (exact?.origin === "you") return exact;
  const said = weighWords(tokens, 0.85, { ...witnesses, own: NOBODY, seen: NOBODY, carried: undefined });
  if (said.origin === "you") return said;
  return exact && exact.origin !== "unseen" ? exact : weighWords(tokens, 0.99, witnesses);
}

const NOBODY = { find: () => undefined };

/** The pieces of a name, each as long as one source has it. */
function splitName(tokens: readonly Token[], source: CleanText, witnesses: Witnesses): Judged[] {
  const pieces: Judged[] = [];
  for (let at = 0; at < tokens.length; ) {
    let taken = 1;
    let verdict: Verdict = { origin: "unseen" };
    for (const length of [3, 2, 1]) {
      const form = shingle(tokens, at, length);
      const lone = length === 1 && (tokens[at]?.word.length ?? 0) < 3;
      if (!form || lone) continue;
      verdict = weighForms([form], witnesses);
      taken = length;
      if (verdict.origin !== "unseen") break;
    }
    const value = source.original(tokens[at]?.at ?? 0, tokens[at + taken - 1]?.end ?? 0);
    if (verdict.origin !== "unseen") pieces.push({ ...verdict, value, kind: "name" });
    at += taken;
  }
  return pieces;
}

function judgeValue(value: FoundValue, source: CleanText, witnesses: Witnesses): Judged[] {
  const shown = source.original(value.at, value.end);
  if (value.kind === "link") return judgeLink(shown, source.text.slice(value.at, value.end), value, witnesses);
  return [{ ...weighValue(value, witnesses), value: shown, kind: value.kind, place: placeOf(value) }];
}

/** Judges a text: each value in it, and each line or clause by its words. */
export function judgeText(text: string, witnesses: Witnesses): Judged[] {
  const source = cleanWithPlaces(text.slice(0, LONGEST_TEXT));
  const values = findValues(source.text).filter((value) => value.kind !== "number" || value.end - value.at > 1);
  const judged = values.flatMap((value) => judgeValue(value, source, witnesses));
  const sentences = splitClauses(source.text, (tokens) => weighWords(tokens, SHARE, witnesses));
  const texts = sentences.map(({ at, end, verdict }) => ({
    ...verdict,
    value: source.original(at, end),
    kind: "text" as const,
  }));
  return [...judged, ...judgeHidden(text, witnesses), ...texts];
}

/** What base64 in an argument says, where that is known. */
function judgeHidden(text: string, witnesses: Witnesses): Judged[] {
  return decodeBase64Runs(text.slice(0, LONGEST_TEXT))
    .slice(0, 20)
    .flatMap(({ run, decoded }) => {
      const clean = cleanText(decoded);
      const values = findValues(clean);
      const verdicts = values.map((value) => ({ ...weighValue(value, witnesses), kind: value.kind }));
      const words = { ...weighWords(readWords(clean, 1000), SHARE, witnesses), kind: "text" as const };
      const found = [...verdicts, words].filter(({ origin }) => origin !== "unseen");
      const worst = found.find(({ origin }) => origin === "yours") ?? found[0];
      return worst ? [{ ...worst, value: run }] : [];
    });
}
