/** Longest pattern that is run, in characters: compilation cannot be interrupted. */
const MAX_PATTERN = 500;
/** Most classes such as `\p{L}` and characters beyond 16 bits: a compiler writes out each in many branches. */
const MAX_WIDE = 4;
const WIDE = /\\[pP]\{|\\u\{0*(?:[1-9a-fA-F]|10)[\da-fA-F]{4}\}|[\u{10000}-\u{10FFFF}]/gu;
/** A surrogate written out: part of a pair that was meant for matching without Unicode mode. */
const HALVES = /\\u[dD][89a-fA-F]/;
/** A literal with slashes and flags, which is no pattern. */
const LITERAL = /^\/\^.*\/[a-z]*$/s;
const NEEDLESS_ESCAPE = /^\\[ !"#%&',:;<=>@`~_-]$/;

/**
 * The source of a `pattern` keyword as it is run, in Unicode mode. Undefined for a pattern that is written for another
 * language, is longer than 500 characters, or could take long to compile.
 */
export function readPattern(pattern: unknown): string | undefined {
  if (typeof pattern !== "string" || pattern.length > MAX_PATTERN) return undefined;
  if (LITERAL.test(pattern) || HALVES.test(pattern)) return undefined;
  const wide = pattern.match(WIDE)?.length ?? 0;
  // Each word boundary doubles the compiled code around it.
  if (wide > MAX_WIDE || (wide > 0 && /\\[bB]/.test(pattern))) return undefined;
  return [pattern, dropNeedlessEscapes(pattern)].find(compiles);
}

/**
 * True for a pattern that provably takes a few steps for each character of a text: anchored, at most one group, no
 * repeated group, and at most one repeat without a fixed count.
 */
export function isQuickPattern(source: string): boolean {
  const plain = source.replaceAll(/\\(?:[pPu]\{[^}]*\}|.)/gsu, "x").replaceAll(/\[[^\]]*\]/g, "x");
  const groups = plain.match(/\(/g)?.length ?? 0;
  const open = plain.match(/[*+]|\{\d+,|(?<!\()\?/g)?.length ?? 0;
  const isPlain = groups <= 1 && open <= 1 && !/\)[*+?{]/.test(plain);
  return isPlain && plain.startsWith("^") && !plain.replace(/\([^)]*\)/, "").includes("|") && !/\\[1-9k]/.test(source);
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

/** True for a pattern that this engine takes in Unicode mode. */
export function compiles(source: string): boolean {
  try {
    new RegExp(source, "u");
    return true;
  } catch {
    return false;
  }
}
