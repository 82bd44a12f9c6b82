import { readDeterminedCost } from "./determined-pattern.ts";

/** A regular expression that may be run, and the longest value it may be run on. */
export interface SafePattern {
  readonly source: string;
  /** In characters, 8 to 1,000. Longer values are left to the service. */
  readonly maxLength: number;
  /** Upper bound of the steps to match a value of that many characters, or of `maxLength` when that is less. */
  steps(length: number): number;
}

const MAX_SOURCE = 2_000;
const MAX_VALUE = 1_000;
const MIN_VALUE = 8;
/** Base-2 logarithm of the steps one match may take. */
const STEP_BITS = 16;
/** Places in a pattern once its counted repeats are written out: what compiling it costs. */
const MAX_PLACES = 5_000;
/** Classes such as `\p{L}`: each is long to compile, whatever it is repeated. */
const MAX_PROPERTIES = 40;
/** Characters a way to match may take without a choice before they count as steps. */
const FREE_RUN = 32;
/** In a class: characters beyond 16 bits, which a compiler turns into a branch for each half they begin with. */
const WIDE_CHARACTERS = /\\[pP]\{|\\u\{0*(?:[1-9a-fA-F]|10)[\da-fA-F]{4}\}|[\u{10000}-\u{10FFFF}]/u;
/** Base-2 logarithm of the branches of such a class where the start is searched for, and of those compiled in all. */
const WIDE_BITS = 4;
const COMPILE_BITS = 16;
/** Times a compiler writes out what a counted repeat holds. */
const MAX_WRITTEN_OUT = 3;
/** A pattern that runs on values of this length is not looked at a second time. */
const ENOUGH = 16;
/** A surrogate written out: part of a pair that was meant for matching without Unicode mode. */
const HALVES = /\\u[dD][89a-fA-F]/;
/**
 * Patterns that libraries write into many schemas and that take a few steps per character, though reading them does not
 * show it: those of zod for e-mail, where the `@` and the dots decide.
 */
const KNOWN: ReadonlySet<string> = new Set([
  "^(?:[A-Za-z0-9_'+\\-]+\\.)*[A-Za-z0-9_'+\\-]*[A-Za-z0-9_+-]@(?:[A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$",
  "^(?!\\.)(?!.*\\.\\.)([a-zA-Z0-9_'+\\-\\.]*)[a-zA-Z0-9_+-]@([a-zA-Z0-9][a-zA-Z0-9\\-]*\\.)+[a-zA-Z]{2,}$",
  "^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$",
]);
/** A repeated group with inner choices is unrolled up to this many times; beyond, the pattern is not run. */
const MAX_UNROLL = 8;

/**
 * Judges a `pattern` keyword. JavaScript matches by backtracking, so a pattern is run only when the number of ways to
 * match a value is small by construction: no repeated group that itself holds a choice or a repeat, unless the next
 * character always decides; no backreference. Halves of characters mean something else in Unicode mode: not run.
 *
 * @returns undefined when the pattern does not compile in Unicode mode, or could take too long.
 */
export function readSafePattern(pattern: string): SafePattern | undefined {
  if (pattern.length > MAX_SOURCE || /^\/\^.*\/[a-z]*$/s.test(pattern) || HALVES.test(pattern)) return undefined;
  if ((pattern.match(/\\p\{/gi)?.length ?? 0) > MAX_PROPERTIES) return undefined;
  const source = compiles(pattern) ? pattern : pattern.replace(/\\([ !"#%&',:;<=>@`~_-])/g, "$1");
  if (!compiles(source)) return undefined;
  const reader = new PatternReader(source);
  const cost = reader.read();
  if (cost.places > MAX_PLACES) return undefined;
  // A compiler follows every branch of the next characters, most of all while it looks for the start: for minutes.
  const wideBits = cost.wide * (reader.anchored ? WIDE_BITS / 2 : WIDE_BITS);
  if (wideBits > 0 && (reader.seeksWords || wideBits + cost.choices > COMPILE_BITS)) return undefined;
  const run = reader.refused ? undefined : limitRun(source, cost);
  if (run !== undefined && run.maxLength >= ENOUGH) return run;
  const known = KNOWN.has(source) ? { places: ENOUGH, repeats: 1 } : readDeterminedCost(source);
  if (known === undefined) return run;
  const repeats = known.repeats + (reader.anchored ? 0 : 1);
  const choices = Math.log2(Math.max(1, known.places));
  return limitRun(source, { choices, repeats, places: known.places, run: 1, wide: 0 }) ?? run;
}

/** The pattern with the longest value it may be run on; undefined when that is next to nothing. */
function limitRun(source: string, { choices: ways, repeats, run }: Cost): SafePattern | undefined {
  const choices = ways + Math.log2(Math.max(1, run / FREE_RUN));
  const room = repeats === 0 ? MAX_VALUE : Math.floor(2 ** ((STEP_BITS - choices) / repeats));
  if (choices > STEP_BITS || room < MIN_VALUE) return undefined;
  const maxLength = Math.min(MAX_VALUE, room);
  const steps = (length: number) => 2 ** choices * Math.min(length, maxLength) ** Math.max(1, repeats);
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
  /** Places one way passes where there is no choice. */
  readonly run: number;
  /** Places that take characters beyond 16 bits one by one, with the repeats written out that a compiler does. */
  readonly wide: number;
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
  /** True for a pattern whose ways to match have no small bound. */
  refused = false;
  /** True for a pattern with `\b` or `\B`, each of which doubles what is compiled around it. */
  seeksWords = false;
  /** Of the list of alternatives read last, so of the whole pattern at the end: does each start with `^`? */
  anchored = false;

  constructor(source: string) {
    this.#source = source;
  }

  read(): Cost {
    const cost = this.#alternatives();
    return this.anchored ? cost : add(cost, { ...FREE, repeats: 1 });
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
        run: Math.max(worst.run, next.run),
        wide: worst.wide + next.wide,
      };
    }
    this.anchored = anchored;
    return count === 1 ? worst : add(worst, { ...FREE, choices: Math.log2(count) });
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
