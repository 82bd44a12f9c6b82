import { isOnlyNamed, isPlace, type Origin } from "../wire/origin.ts";
import type { CardFact } from "./card-layout.ts";
import type { DrawnValue } from "./card-text.ts";
import { describeOrigin, drawOriginValue, drawPlace, type OriginScope } from "./origin-words.ts";

/** What is known of where the values of a call come from. */
export interface JudgedCall {
  /** Undefined where nobody looked. */
  readonly origins?: readonly Origin[] | undefined;
  /** Default `all`. */
  readonly originScope?: OriginScope | undefined;
}

/** Origins as lines for a human. */
export interface OriginLines {
  /**
   * What is not the owner's, and places to send to that only a text of theirs names; at most {@link MOST_LINES} lines: it belongs
   * right below what the call does.
   */
  readonly strangers: readonly string[];
  /** The rest of it, counted in the last line of `strangers`. */
  readonly moreStrangers: readonly string[];
  /** What is the owner's own, or typed by them. */
  readonly known: readonly string[];
  /** Names, dates and paths that nobody brought and that lead nowhere, as a model that writes something makes them. */
  readonly made: readonly string[];
}

/** Labels of the facts of origins. */
export const ORIGIN_LABELS = ["Origin", "Known", "New"] as const;

const MOST_LINES = 6;
/** Values of one source that share a line. */
const SHARED = 4;
const MOST_KNOWN = 3;

interface Line {
  readonly text: string;
  readonly rank: number;
}

/**
 * Draws origins, the most telling first: what looks like something known, where something goes, then other values that somebody
 * else brought or that were never seen. Values of one source share a line, and no source takes two before each other has one.
 */
export function listOrigins({ origins = [], originScope }: JudgedCall, also?: RegExp): OriginLines {
  const isOwn = (one: Origin) => (one.origin === "you" || one.origin === "yours") && !isNamedOnly(one);
  const strange = origins.filter((one) => !isOwn(one));
  const lines = drawStrangers(
    strange.filter((one) => !isMade(one)),
    originScope,
    also,
  );
  const isAll = lines.length <= MOST_LINES;
  const shown = isAll ? lines : lines.slice(0, MOST_LINES - 1);
  const rest = lines.slice(shown.length);
  const isSure = lines.length === 0 || originScope !== "partial";
  const note = [
    ...(isAll ? [] : [`and ${rest.length} more lines of values that are not yours`]),
    ...(isSure ? [] : ["Not all of your data could be looked at: some of this may be yours, or look like it."]),
  ];
  return {
    strangers: [...shown.map(({ text }) => text), ...note],
    moreStrangers: rest.map(({ text }) => text),
    known: drawKnown(origins.filter(isOwn), originScope, also),
    made: drawStrangers(strange.filter(isMade), originScope, also).map(({ text }) => text),
  };
}

/** A place to send to that stands in a text of the owner's: anybody may have brought it there. */
function isNamedOnly(one: Origin): boolean {
  return one.origin === "yours" && isPlace(one) && one.source !== undefined && isOnlyNamed(one.source);
}

const MADE_KINDS = new Set(["name", "date", "path"]);

function isMade({ kind, origin, sink, looks_like }: Origin): boolean {
  return origin === "unseen" && !sink && looks_like === undefined && MADE_KINDS.has(kind);
}

/** The same as facts of a card: those that belong right below what the call does, and those for its end. */
export function drawOrigins(
  call: JudgedCall,
  also?: RegExp,
): { readonly first: CardFact[]; readonly last: CardFact[] } {
  const { strangers, moreStrangers, known, made } = listOrigins(call, also);
  const [label, knownLabel, madeLabel] = ORIGIN_LABELS;
  const fact = (name: string, lines: readonly string[], isBoilerplate = false): CardFact[] => {
    const values = lines.map((line): DrawnValue => ({ line }));
    return values.length === 0 ? [] : [{ label: name, values, ...(isBoilerplate && { isBoilerplate }) }];
  };
  const last = [...fact(label, moreStrangers), ...fact(knownLabel, known, true), ...fact(madeLabel, made, true)];
  return { first: fact(label, strangers), last };
}

function drawStrangers(origins: readonly Origin[], scope: OriginScope | undefined, also?: RegExp): Line[] {
  // A text that was written for this call is no news.
  const told = origins.filter(({ kind, origin }) => kind !== "text" || origin === "somebody");
  const groups = Map.groupBy(told, (one) => `${rank(one)} ${describeOrigin(one, scope, also)}`);
  const lines = [...groups.values()].flatMap((group) => drawGroup(group, scope, also));
  return lines.sort((a, b) => a.rank - b.rank);
}

/** Further lines of a group stand behind the first ones of all. */
const FURTHER = 20;

function drawGroup(group: readonly Origin[], scope: OriginScope | undefined, also?: RegExp): Line[] {
  const [first] = group;
  if (first === undefined) return [];
  const phrase = describeOrigin(first, scope, also);
  const values =
    first.kind === "text" ? countTexts(group, also) : [...new Set(group.map((one) => drawOriginValue(one, also)))];
  const chunks = Array.from({ length: Math.ceil(values.length / SHARED) }, (_, at) =>
    values.slice(at * SHARED, (at + 1) * SHARED),
  );
  return chunks.map((chunk, at) => ({
    text: `${chunk.join(", ")}: ${phrase}`,
    rank: rank(first) + (at === 0 ? 0 : FURTHER),
  }));
}

/** Texts are counted: they stand among the arguments, and would hide what is shorter. */
function countTexts(group: readonly Origin[], also?: RegExp): string[] {
  return [...Map.groupBy(group, ({ argument }) => argument)].map(([argument, { length }]) => {
    return `${length === 1 ? "1 sentence" : `${length} sentences`} ${drawPlace(argument, also)}`;
  });
}

function rank({ kind, origin, sink, looks_like }: Origin): number {
  if (origin === "yours") return sink ? 3 : 7;
  if (looks_like !== undefined) return sink ? 0 : 1;
  if (sink) return origin === "somebody" ? 2 : 3;
  if (kind === "text") return 5;
  return origin === "somebody" ? 4 : 6;
}

/** Where something goes that is known, by name; all else is counted. */
function drawKnown(origins: readonly Origin[], scope: OriginScope | undefined, also?: RegExp): string[] {
  const sinks = origins.filter(({ sink, kind }) => sink && kind !== "text");
  const groups = [...Map.groupBy(sinks, (one) => describeOrigin(one, scope, also))].slice(0, MOST_KNOWN);
  const named = groups.map(([phrase, group]) => {
    const values = [...new Set(group.map((one) => drawOriginValue(one, also)))];
    const more = values.length > SHARED ? ` and ${values.length - SHARED} more` : "";
    return `${values.slice(0, SHARED).join(", ")}${more}: ${phrase}`;
  });
  const others = origins.filter((one) => one.kind !== "text" && !groups.some(([, group]) => group.includes(one)));
  const counted = (["yours", "you"] as const).flatMap((whose) => {
    const count = new Set(others.filter(({ origin }) => origin === whose).map(({ value }) => value)).size;
    const what = count === 1 ? "1 value" : `${count} values`;
    return count === 0 ? [] : [whose === "yours" ? `yours: ${what}` : `typed by you, as this device says: ${what}`];
  });
  return [...named, ...(counted.length === 0 ? [] : [counted.join("; ")])];
}
