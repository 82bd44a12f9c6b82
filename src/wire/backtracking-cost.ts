/** In a class: characters beyond 16 bits, which a compiler turns into a branch for each half they begin with. */
const WIDE_CHARACTERS = /\\[pP]\{|\\u\{0*(?:[1-9a-fA-F]|10)[\da-fA-F]{4}\}|[\u{10000}-\u{10FFFF}]/u;
/** Times a compiler writes out what a counted repeat holds. */
const MAX_WRITTEN_OUT = 3;
/** A repeated group with inner choices is unrolled up to this many times; beyond, the pattern is not run. */
const MAX_UNROLL = 8;

/** What a part of a pattern costs. Ways to match: 2^choices × length^repeats. */
interface Cost {
  readonly choices: number;
  readonly repeats: number;
  /** Once counted repeats are written out. */
  readonly places: number;
  /** Places one way passes where there is no choice. */
  readonly run: number;
  /** Places that take characters beyond 16 bits one by one, with the repeats written out that a compiler does. */
  readonly wide: number;
}

/** What {@link readBacktrackingCost} found. */
export interface BacktrackingCost extends Cost {
  /** True for a pattern whose ways to match have no small bound: `choices` and `repeats` bound nothing then. */
  readonly refused: boolean;
  /** True for a pattern with `\b` or `\B`, each of which doubles what is compiled around it. */
  readonly seeksWords: boolean;
  /** True when each alternative starts with `^`; else the search for the start is one of the repeats. */
  readonly anchored: boolean;
}

/**
 * Reads from the alternatives and quantifiers of a pattern how many ways to match they open, and what a compiler writes
 * out for it.
 *
 * @param source - must compile in Unicode mode
 */
export function readBacktrackingCost(source: string): BacktrackingCost {
  const reader = new PatternReader(source);
  const cost = reader.readAlternatives();
  const { refused, seeksWords, anchored } = reader;
  return { ...(anchored ? cost : add(cost, { ...FREE, repeats: 1 })), refused, seeksWords, anchored };
}

const NONE: Cost = { choices: 0, repeats: 0, places: 1, run: 1, wide: 0 };
const WIDE: Cost = { ...NONE, wide: 1 };
const FREE: Cost = { choices: 0, repeats: 0, places: 0, run: 0, wide: 0 };

function add(a: Cost, b: Cost): Cost {
  return {
    choices: a.choices + b.choices,
    repeats: a.repeats + b.repeats,
    places: a.places + b.places,
    run: a.run + b.run,
    wide: a.wide + b.wide,
  };
}

/** Walks the source of a pattern that is known to compile. */
class PatternReader {
  readonly #source: string;
  #at = 0;
  refused = false;
  seeksWords = false;
  /** Of the list of alternatives read last, so of the whole pattern at the end: does each start with `^`? */
  anchored = false;

  constructor(source: string) {
    this.#source = source;
  }

  readAlternatives(): Cost {
    let anchored = this.#source[this.#at] === "^";
    let worst = this.#readSequence();
    let count = 1;
    while (this.#source[this.#at] === "|") {
      this.#at++;
      count++;
      anchored &&= this.#source[this.#at] === "^";
      const next = this.#readSequence();
      worst = {
        choices: Math.max(worst.choices, next.choices),
        repeats: Math.max(worst.repeats, next.repeats),
        places: worst.places + next.places,
        run: Math.max(worst.run, next.run),
        wide: worst.wide + next.wide,
      };
    }
    this.anchored = anchored;
    return count === 1 ? worst : add(worst, { ...FREE, choices: Math.log2(count) });
  }

  #readSequence(): Cost {
    let cost = NONE;
    while (this.#at < this.#source.length && !"|)".includes(this.#source[this.#at] ?? "")) {
      cost = add(cost, this.#quantify(this.#readAtom()));
    }
    return cost;
  }

  #readAtom(): Cost {
    const char = this.#source[this.#at++];
    if (char === "(") {
      this.#at += /^\?(?:[:=!]|<[=!]|<[^>]*>|[a-z-]*:)/.exec(this.#source.slice(this.#at))?.[0].length ?? 0;
      const inner = this.readAlternatives();
      this.#at++;
      return inner;
    }
    if (char === "[") {
      const start = this.#at;
      while (this.#at < this.#source.length && this.#source[this.#at] !== "]") {
        this.#at += this.#source[this.#at] === "\\" ? 2 : 1;
      }
      return WIDE_CHARACTERS.test(this.#source.slice(start, this.#at++)) ? WIDE : NONE;
    }
    if (char === "\\") {
      const letter = this.#source[this.#at++] ?? "";
      if (/[1-9k]/.test(letter)) this.refused = true;
      if (/[bB]/.test(letter)) this.seeksWords = true;
      if (/[pPu]/.test(letter)) {
        this.#at += /^\{[^}]*\}/.exec(this.#source.slice(this.#at))?.[0].length ?? 0;
        if (letter !== "u") return WIDE;
      }
    }
    return NONE;
  }

  #quantify(atom: Cost): Cost {
    const quantifier = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/.exec(this.#source.slice(this.#at));
    if (quantifier === null) return atom;
    this.#at += quantifier[0].length;
    const [text, low, comma, high] = quantifier;
    const least = low === undefined ? (text.startsWith("+") ? 1 : 0) : Number(low);
    const most = low === undefined ? (text.startsWith("?") ? 1 : Infinity) : readMost(low, comma, high);
    const places = atom.places * (most === Infinity ? Math.max(1, least) : most);
    const run = atom.run * Math.max(1, least);
    const wide = atom.wide * Math.min(MAX_WRITTEN_OUT, most === Infinity ? Math.max(1, least) : most);
    const own =
      most === Infinity
        ? { choices: 0, repeats: 1, places, run, wide }
        : { choices: Math.log2(most - least + 1), repeats: 0, places, run, wide };
    if (atom.choices === 0 && atom.repeats === 0) return own;
    if (most > MAX_UNROLL) this.refused = true;
    const times = Math.min(most, MAX_UNROLL);
    const unrolled = { ...FREE, choices: atom.choices * times, repeats: atom.repeats * times };
    return add(own, { ...unrolled, run: atom.run * Math.max(0, times - Math.max(1, least)) });
  }
}

function readMost(low: string, comma: string | undefined, high: string | undefined): number {
  if (!comma) return Number(low);
  return high ? Number(high) : Infinity;
}
