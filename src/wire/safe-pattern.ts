import { type BacktrackingCost, readBacktrackingCost } from "./backtracking-cost.ts";
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
/** Base-2 logarithm of the branches of a wide place where the start is searched for, and of those compiled in all. */
const WIDE_BITS = 4;
const COMPILE_BITS = 16;
/** A pattern that runs on values of this length is not looked at a second time. */
const ENOUGH = 16;
/** A surrogate written out: part of a pair that was meant for matching without Unicode mode. */
const HALVES = /\\u[dD][89a-fA-F]/;
const NEEDLESS_ESCAPE = /^\\[ !"#%&',:;<=>@`~_-]$/;
/**
 * Patterns that libraries write into many schemas and that take a few steps per character, though reading them does not
 * show it: those of zod for e-mail, where the `@` and the dots decide.
 */
const KNOWN: ReadonlySet<string> = new Set([
  "^(?:[A-Za-z0-9_'+\\-]+\\.)*[A-Za-z0-9_'+\\-]*[A-Za-z0-9_+-]@(?:[A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$",
  "^(?!\\.)(?!.*\\.\\.)([a-zA-Z0-9_'+\\-\\.]*)[a-zA-Z0-9_+-]@([a-zA-Z0-9][a-zA-Z0-9\\-]*\\.)+[a-zA-Z]{2,}$",
  "^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$",
]);

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
  const source = compiles(pattern) ? pattern : dropNeedlessEscapes(pattern);
  if (!compiles(source)) return undefined;
  const cost = readBacktrackingCost(source);
  if (cost.places > MAX_PLACES) return undefined;
  // A compiler follows every branch of the next characters, most of all while it looks for the start: for minutes.
  const wideBits = cost.wide * (cost.anchored ? WIDE_BITS / 2 : WIDE_BITS);
  if (wideBits > 0 && (cost.seeksWords || wideBits + cost.choices > COMPILE_BITS)) return undefined;
  const run = cost.refused ? undefined : limitRun(source, cost);
  if (run !== undefined && run.maxLength >= ENOUGH) return run;
  const known = KNOWN.has(source) ? { places: ENOUGH, repeats: 1 } : readDeterminedCost(source);
  if (known === undefined) return run;
  const repeats = known.repeats + (cost.anchored ? 0 : 1);
  const choices = Math.log2(Math.max(1, known.places));
  return limitRun(source, { choices, repeats, run: 1 }) ?? run;
}

/** The pattern with the longest value it may be run on; undefined when that is next to nothing. */
function limitRun(
  source: string,
  { choices: ways, repeats, run }: Pick<BacktrackingCost, "choices" | "repeats" | "run">,
): SafePattern | undefined {
  const choices = ways + Math.log2(Math.max(1, run / FREE_RUN));
  const room = repeats === 0 ? MAX_VALUE : Math.floor(2 ** ((STEP_BITS - choices) / repeats));
  if (choices > STEP_BITS || room < MIN_VALUE) return undefined;
  const maxLength = Math.min(MAX_VALUE, room);
  const steps = (length: number) => 2 ** choices * Math.min(length, maxLength) ** Math.max(1, repeats);
  return { source, maxLength, steps };
}

/** Takes off the backslashes that Unicode mode refuses. A hyphen keeps its own in a class: there it would open a range. */
function dropNeedlessEscapes(pattern: string): string {
  let isInClass = false;
  return pattern.replace(/\\.|[[\]]/gs, (part) => {
    if (part.length === 1) {
      isInClass = part === "[";
      return part;
    }
    return NEEDLESS_ESCAPE.test(part) && !(isInClass && part === "\\-") ? part.slice(1) : part;
  });
}

function compiles(source: string): boolean {
  try {
    new RegExp(source, "u");
    return true;
  } catch {
    return false;
  }
}
