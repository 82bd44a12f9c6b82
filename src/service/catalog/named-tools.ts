import { splitWords, toSingular } from "./words.ts";

/** Names that one question is searched for; more only cost time. */
const MAX_NAMES = 32;
/** Words of a question that are looked at. */
const MAX_WORDS = 256;
/** Between the names of a list. */
const GLUE = new Set(["and", "or", "the", "tool", "tools", "also", "then", "use", "call", "with"]);
/** Names in a row that nobody says by chance. */
const ROW = 3;

/** A thing and its names. */
export interface Named<T> {
  readonly thing: T;
  /** Means it wherever it stands, such as `mail_search`; undefined for an app. */
  readonly full?: string;
  /** Words that others may say by chance, such as `search`. */
  readonly short: string;
}

/** A word of a question. */
interface Word {
  readonly text: string;
  /** Number of the part without a blank in it. */
  readonly chunk: number;
  /** Number of the part that commas, lines, quotes or "and" enclose. */
  readonly item: number;
  readonly isQuoted: boolean;
}

interface Hit<T> {
  readonly things: readonly T[];
  readonly length: number;
  /** Sure: it can only be a name. Likely: it is one when the question has nothing but names. */
  readonly kind: "sure" | "likely" | "by chance";
}

/**
 * Finds the things that a question names, in any case, number and style of separators: by full name anywhere; by short
 * name where it is quoted, written as code is, or of several words and a whole item of a list, and where the question is
 * a list of nothing but names. The things of each name together, in the order of the question.
 */
export function createNameFinder<T>(things: readonly Named<T>[]): (question: string) => readonly (readonly T[])[] {
  const names: Names<T> = {
    full: groupByName(things.flatMap(({ thing, full }) => (full === undefined ? [] : [[full, thing]]))),
    short: groupByName(things.map(({ thing, short }) => [short, thing])),
    longest: Math.max(1, ...things.map(({ full, short }) => splitWords(full ?? short).length)),
  };
  return (question) => {
    const hits: Hit<T>[] = [];
    const words = readWords(question);
    let others = 0;
    for (let at = 0; at < words.length && hits.length < MAX_NAMES; ) {
      const hit = findAt(words, at, names);
      if (hit !== undefined) hits.push(hit);
      else if (!GLUE.has(words[at]?.text ?? "")) others += 1;
      at += hit?.length ?? 1;
    }
    const isList = others === 0 && (hits.length >= ROW || hits.every(({ kind }) => kind !== "by chance"));
    return [...new Set(hits.filter(({ kind }) => kind === "sure" || isList).map((hit) => hit.things))];
  };
}

/** By the form of a name as it is, and by its form in the singular. */
interface ByName<T> {
  readonly exact: ReadonlyMap<string, readonly T[]>;
  readonly singular: ReadonlyMap<string, readonly T[]>;
}

interface Names<T> {
  readonly full: ByName<T>;
  readonly short: ByName<T>;
  /** Words of the longest. */
  readonly longest: number;
}

function groupByName<T>(named: readonly (readonly [string, T])[]): ByName<T> {
  const keyed = named.map(([name, thing]) => ({
    thing,
    keys: toKeys(splitWords(name).map((word) => word.toLowerCase())),
  }));
  const group = (form: 0 | 1) =>
    new Map(
      [...Map.groupBy(keyed, ({ keys }) => keys[form])].map(([key, own]) => [key, own.map(({ thing }) => thing)]),
    );
  return { exact: group(0), singular: group(1) };
}

/** Forms under which a name is looked up: without separators, as it is and in the singular. */
function toKeys(words: readonly string[]): [string, string] {
  return [words.join(""), words.map(toSingular).join("")];
}

function readWords(question: string): Word[] {
  const quoted = question.split(/(["`“”„])/u);
  let item = 0;
  let chunk = 0;
  let isQuoted = false;
  const words: Word[] = [];
  for (const piece of quoted) {
    if (/^["`“”„]$/u.test(piece)) {
      isQuoted = !isQuoted;
      continue;
    }
    for (const part of piece.split(/[,;\n()]+|\s(?:and|or)\s/iu)) {
      item += 1;
      for (const text of part.split(/\s+/u)) {
        chunk += 1;
        for (const word of splitWords(text)) words.push({ text: word.toLowerCase(), chunk, item, isQuoted });
      }
    }
  }
  return words.slice(0, MAX_WORDS);
}

/** The longest name that begins with the word at `at`. */
function findAt<T>(words: readonly Word[], at: number, { full, short, longest }: Names<T>): Hit<T> | undefined {
  for (let length = Math.min(longest, words.length - at); length > 0; length -= 1) {
    const part = words.slice(at, at + length);
    const keys = toKeys(part.map(({ text }) => text));
    const find = (names: ByName<T>) => names.exact.get(keys[0]) ?? names.singular.get(keys[1]);
    const whole = find(full);
    if (whole !== undefined) return { things: whole, length, kind: "sure" };
    const things = find(short);
    if (things !== undefined) return { things, length, kind: judgeShort(part, words[at - 1], words[at + length]) };
  }
  return undefined;
}

function judgeShort(part: readonly Word[], before: Word | undefined, after: Word | undefined): Hit<unknown>["kind"] {
  const [first] = part;
  const fills = (mark: "item" | "chunk") => part.every((word) => word[mark] === first?.[mark]);
  const isItem = fills("item") && before?.item !== first?.item && after?.item !== first?.item;
  if (isItem && (part.length > 1 || first?.isQuoted === true)) return "sure";
  if (part.length > 1 && fills("chunk")) return "sure";
  return isItem || part.length > 1 ? "likely" : "by chance";
}
