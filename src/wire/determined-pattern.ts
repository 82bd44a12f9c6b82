/** A part of a pattern: the places it can begin and end with, and whether it can match nothing. */
interface Part {
  readonly first: readonly number[];
  readonly last: readonly number[];
  readonly nullable: boolean;
}

const NOTHING: Part = { first: [], last: [], nullable: true };
const MAX_PLACES = 100;
const ASCII = String.fromCharCode(...Array.from({ length: 128 }, (_, code) => code));
const BEYOND_ASCII = 1n << 128n;
/** Atoms that take nothing beyond ASCII; of all others it is assumed. */
const ASCII_ONLY = /^(?:[^.\\[]|\\[dwtnrfv]|\\[^A-Za-z0-9]|\[(?!\^)(?:[^\\\]]|\\[dwtnrf]|\\[^A-Za-z0-9])*\])$/;

/** What matching a pattern costs at most: places × length^repeats steps. */
export interface DeterminedCost {
  readonly places: number;
  readonly repeats: number;
}

/**
 * Judges a pattern by what its places can take. In one that leaves no choice the next character of a value fits at most
 * one place, and there is one way to get there: backtracking ends at once, however repeats are nested, as in
 * `^[a-z]+(-[a-z]+)*$`, but not in `^([a-z]+-?)*$`. The one choice allowed is whether a list goes on whose entries end in
 * a character of their own, as in `^([a-z]+-)*[a-z]+$`.
 *
 * @param source - must compile in Unicode mode
 * @returns undefined for every other pattern, for one with assertions that look around, and for one with over 100 places
 */
export function readDeterminedCost(source: string): DeterminedCost | undefined {
  const reader = new PlaceReader(source);
  const whole = reader.readAlternatives();
  const places = reader.places.length;
  if (reader.isDetermined(whole, [])) return { places, repeats: 1 };
  // In a list of lists each choice would be made anew in each entry.
  if (reader.isNested) return undefined;
  return reader.isDetermined(whole, reader.lists) ? { places, repeats: 1 + 2 * reader.lists.length } : undefined;
}

/** A repeated group whose last place takes what no other place in it does. */
interface EndedList {
  readonly first: ReadonlySet<number>;
  /** Its places, the one at the end left out: inside an entry nothing may be open. */
  readonly inner: ReadonlySet<number>;
}

class PlaceReader {
  /** What each place takes: a bit for each ASCII character, and one for all others. */
  readonly places: bigint[] = [];
  readonly lists: EndedList[] = [];
  /** True when a list, or another repeated group, holds a list. */
  isNested = false;
  readonly #source: string;
  readonly #characters = new Map<string, bigint>();
  readonly #follow: Set<number>[] = [];
  #at = 0;
  #refused = false;

  constructor(source: string) {
    this.#source = source;
  }

  /** @param lists - those of which it may be open whether they go on */
  isDetermined(whole: Part, lists: readonly EndedList[]): boolean {
    if (this.#refused || this.#at < this.#source.length) return false;
    return [whole.first, ...this.#follow].every((next, index) => {
      const isInner = lists.some(({ inner }) => inner.has(index - 1));
      const kinds = Map.groupBy(next, (place) => (isInner ? -1 : lists.findIndex(({ first }) => first.has(place))));
      return [...kinds.values()].every((places) => this.#areDisjoint(places));
    });
  }

  readAlternatives(): Part {
    const parts = [this.#readSequence()];
    while (this.#source[this.#at] === "|") {
      this.#at++;
      parts.push(this.#readSequence());
    }
    if (parts.filter(({ nullable }) => nullable).length > 1) this.#refused = true;
    return {
      first: parts.flatMap(({ first }) => first),
      last: parts.flatMap(({ last }) => last),
      nullable: parts.some(({ nullable }) => nullable),
    };
  }

  #readSequence(): Part {
    let whole = NOTHING;
    while (!this.#refused && this.#at < this.#source.length && !"|)".includes(this.#source[this.#at] ?? "")) {
      const [place, list] = [this.places.length, this.lists.length];
      const part = this.#quantify(this.#readAtom(), place, list);
      this.#link(whole.last, part.first);
      whole = {
        first: whole.nullable ? [...whole.first, ...part.first] : whole.first,
        last: part.nullable ? [...whole.last, ...part.last] : part.last,
        nullable: whole.nullable && part.nullable,
      };
    }
    return whole;
  }

  #readAtom(): Part {
    const atom =
      /^(?:[\^$]|\\[bB]|\((?:\?:|\?<[^=!>][^>]*>)?|\[(?:\\.|[^\\\]])*\]|\\[pPu]\{[^}]*\}|\\[^1-9kcux]|[^\\])/su;
    const text = atom.exec(this.#source.slice(this.#at))?.[0] ?? "";
    this.#at += text.length;
    if (text === "" || (text === "(" && this.#source[this.#at] === "?")) this.#refused = true;
    if (this.#refused || /^(?:[\^$]|\\[bB])$/.test(text)) return NOTHING;
    if (text.startsWith("(")) {
      const inner = this.readAlternatives();
      this.#at++;
      return inner;
    }
    if (this.places.length === MAX_PLACES) {
      this.#refused = true;
      return NOTHING;
    }
    const place = this.places.push(this.#readCharacters(text)) - 1;
    this.#follow.push(new Set());
    return { first: [place], last: [place], nullable: false };
  }

  /** @param place - the part's first place; @param list - the first of the lists in it */
  #quantify(part: Part, place: number, list: number): Part {
    const quantifier = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/.exec(this.#source.slice(this.#at));
    if (quantifier === null) return part;
    this.#at += quantifier[0].length;
    const [text, low, comma, high] = quantifier;
    // Nothing, repeated or left out, is nothing in two ways.
    if (part.nullable) this.#refused = true;
    const isOnce = low === undefined ? text.startsWith("?") : Number(comma === "" ? low : high || 2) < 2;
    if (!isOnce) {
      if (this.lists.length > list) this.isNested = true;
      if (this.#endsItself(part, place)) this.lists.push(this.#describeList(part, place));
      this.#link(part.last, part.first);
    }
    return { ...part, nullable: low === undefined ? !text.startsWith("+") : Number(low) === 0 };
  }

  #endsItself({ last }: Part, from: number): boolean {
    const [end] = last;
    if (end === undefined || last.length > 1 || this.#follow[end]?.has(end)) return false;
    for (let place = from; place < this.places.length; place++) {
      if (place !== end && !this.#areDisjoint([place, end])) return false;
    }
    return this.places.length - from > 1;
  }

  #describeList({ first, last }: Part, from: number): EndedList {
    const places = Array.from({ length: this.places.length - from }, (_, index) => from + index);
    return { first: new Set(first), inner: new Set(places.filter((place) => !last.includes(place))) };
  }

  /** Notes what may come after what. Twice the same means two ways to go on. */
  #link(from: readonly number[], to: readonly number[]): void {
    for (const place of from) {
      const next = this.#follow[place];
      for (const other of to) {
        if (next?.has(other)) this.#refused = true;
        if (this.#refused) return;
        next?.add(other);
      }
    }
  }

  #areDisjoint(places: readonly number[]): boolean {
    let taken = 0n;
    for (const place of places) {
      const characters = this.places[place] ?? 0n;
      if ((taken & characters) !== 0n) return false;
      taken |= characters;
    }
    return true;
  }

  #readCharacters(atom: string): bigint {
    const known = this.#characters.get(atom);
    if (known !== undefined) return known;
    let taken = 0n;
    for (const [character] of ASCII.matchAll(new RegExp(atom, "gu"))) taken |= 1n << BigInt(character.charCodeAt(0));
    const isAscii = ASCII_ONLY.test(atom) && !/[^\0-\x7f]/.test(atom);
    if (!isAscii) taken |= BEYOND_ASCII;
    this.#characters.set(atom, taken);
    return taken;
  }
}
