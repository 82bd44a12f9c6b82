/** A regular expression that may be run, and the longest value it may be run on. */
export interface SafePattern {
  readonly source: string;
  /** In characters, 16 to 1,000. Longer values are left to the service. */
  readonly maxLength: number;
  /** Upper bound of the steps to match a value of that many characters, or of `maxLength` when that is less. */
  steps(length: number): number;
}

const MAX_SOURCE = 2_000;
const MAX_VALUE = 1_000;
const MIN_VALUE = 16;
/** Base-2 logarithm of the steps one match may take. */
const STEP_BITS = 16;
/** Places in a pattern once its counted repeats are written out: what compiling it costs. */
const MAX_PLACES = 5_000;
/** A repeated group with inner choices is unrolled up to this many times; beyond, the pattern is not run. */
const MAX_UNROLL = 8;

/**
 * Judges a `pattern` keyword. JavaScript matches by backtracking, so a pattern is run only when the number of ways to
 * match a value is small by construction: no repeated group that itself holds a choice or a repeat, no backreference.
 *
 * @returns undefined when the pattern does not compile in Unicode mode, or could take too long.
 */
export function readSafePattern(pattern: string): SafePattern | undefined {
  if (pattern.length > MAX_SOURCE || /^\/\^.*\/[a-z]*$/s.test(pattern)) return undefined;
  const source = compiles(pattern) ? pattern : pattern.replace(/\\([ !"#%&',:;<=>@`~_-])/g, "$1");
  if (!compiles(source)) return undefined;
  const cost = new PatternReader(source).read();
  if (cost === undefined || cost.choices > STEP_BITS || cost.places > MAX_PLACES) return undefined;
  const room = cost.repeats === 0 ? MAX_VALUE : Math.floor(2 ** ((STEP_BITS - cost.choices) / cost.repeats));
  if (room < MIN_VALUE) return undefined;
  const maxLength = Math.min(MAX_VALUE, room);
  const steps = (length: number) => 2 ** cost.choices * Math.min(length, maxLength) ** Math.max(1, cost.repeats);
  return { source, maxLength, steps };
}

function compiles(source: string): boolean {
  try {
    new RegExp(source, "u");
    return true;
  } catch {
    return false;
  }
}

/** Ways to match: 2^choices × length^repeats. */
interface Cost {
  readonly choices: number;
  readonly repeats: number;
  readonly places: number;
}

const NONE: Cost = { choices: 0, repeats: 0, places: 1 };

function add(a: Cost, b: Cost): Cost {
  return { choices: a.choices + b.choices, repeats: a.repeats + b.repeats, places: a.places + b.places };
}

/** Walks the source of a pattern that is known to compile. */
class PatternReader {
  readonly #source: string;
  #at = 0;
  #refused = false;
  /** Of the list of alternatives read last, so of the whole pattern at the end: does each start with `^`? */
  #anchored = false;

  constructor(source: string) {
    this.#source = source;
  }

  read(): Cost | undefined {
    const cost = this.#alternatives();
    if (this.#refused) return undefined;
    return this.#anchored ? cost : add(cost, { choices: 0, repeats: 1, places: 0 });
  }

  #alternatives(): Cost {
    let anchored = this.#source[this.#at] === "^";
    let worst = this.#sequence();
    let count = 1;
    while (this.#source[this.#at] === "|") {
      this.#at++;
      count++;
      anchored &&= this.#source[this.#at] === "^";
      const next = this.#sequence();
      worst = {
        choices: Math.max(worst.choices, next.choices),
        repeats: Math.max(worst.repeats, next.repeats),
        places: worst.places + next.places,
      };
    }
    this.#anchored = anchored;
    return count === 1 ? worst : add(worst, { choices: Math.log2(count), repeats: 0, places: 0 });
  }

  #sequence(): Cost {
    let cost = NONE;
    while (this.#at < this.#source.length && !"|)".includes(this.#source[this.#at] ?? "")) {
      cost = add(cost, this.#quantify(this.#atom()));
    }
    return cost;
  }

  #atom(): Cost {
    const char = this.#source[this.#at++];
    if (char === "(") {
      this.#at += /^\?(?:[:=!]|<[=!]|<[^>]*>|[a-z-]*:)/.exec(this.#source.slice(this.#at))?.[0].length ?? 0;
      const inner = this.#alternatives();
      this.#at++;
      return inner;
    }
    if (char === "[") {
      while (this.#at < this.#source.length && this.#source[this.#at] !== "]") {
        this.#at += this.#source[this.#at] === "\\" ? 2 : 1;
      }
      this.#at++;
    }
    if (char === "\\") {
      const letter = this.#source[this.#at++] ?? "";
      if (/[1-9k]/.test(letter)) this.#refused = true;
      if (/[pPu]/.test(letter)) this.#at += /^\{[^}]*\}/.exec(this.#source.slice(this.#at))?.[0].length ?? 0;
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
    const own =
      most === Infinity
        ? { choices: 0, repeats: 1, places }
        : { choices: Math.log2(most - least + 1), repeats: 0, places };
    if (atom.choices === 0 && atom.repeats === 0) return own;
    if (most > MAX_UNROLL) this.#refused = true;
    const times = Math.min(most, MAX_UNROLL);
    return add(own, { choices: atom.choices * times, repeats: atom.repeats * times, places: 0 });
  }
}

function readMost(low: string, comma: string | undefined, high: string | undefined): number {
  if (!comma) return Number(low);
  return high ? Number(high) : Infinity;
}
