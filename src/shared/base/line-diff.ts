/** A line of both texts, of the old one alone (`-`), or of the new one alone (`+`). */
interface Step {
  readonly sign: " " | "-" | "+";
  readonly line: string;
}

/** The difference of two texts. */
export interface LineDiff {
  /** A unified diff without file names; empty for equal texts. */
  readonly text: string;
  readonly added: number;
  readonly removed: number;
}

const CONTEXT = 3;
/** More different lines than these, and all lines between the first and the last of them count as replaced. */
const MAX_EDITS = 1000;

/**
 * What changes from one text to another, line by line, with three lines of context. Longer than `maxLines`, it ends with a line
 * that begins with `\` and says how many lines follow. Line breaks at the end of a text, and their kind, do not count.
 */
export function diffLines(before: string, after: string, maxLines = 400): LineDiff {
  const steps = compare(splitLines(before), splitLines(after));
  const count = (sign: Step["sign"]) => steps.filter((step) => step.sign === sign).length;
  const lines = writeHunks(steps);
  const kept = lines.length <= maxLines ? lines : lines.slice(0, maxLines);
  const rest = lines.length - kept.length;
  const text = [...kept, ...(rest === 0 ? [] : [`\\ ${rest} more ${rest === 1 ? "line" : "lines"}`])].join("\n");
  return { text, added: count("+"), removed: count("-") };
}

function splitLines(text: string): string[] {
  const lines = text.split(/\r\n|[\r\n]/);
  while (lines.at(-1) === "") lines.pop();
  return lines;
}

function compare(before: readonly string[], after: readonly string[]): Step[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let tail = 0;
  const shorter = Math.min(before.length, after.length) - start;
  while (tail < shorter && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const old = before.slice(start, before.length - tail);
  const fresh = after.slice(start, after.length - tail);
  const changed = findShortest(old, fresh) ?? [...mark("-", old), ...mark("+", fresh)];
  return [...mark(" ", before.slice(0, start)), ...changed, ...mark(" ", before.slice(before.length - tail))];
}

function mark(sign: Step["sign"], lines: readonly string[]): Step[] {
  return lines.map((line) => ({ sign, line }));
}

/** The fewest edits, by the greedy algorithm of E. W. Myers (1986); undefined for more than {@link MAX_EDITS}. */
function findShortest(old: readonly string[], fresh: readonly string[]): Step[] | undefined {
  let reached = new Map<number, number>([[1, 0]]);
  const rounds: Map<number, number>[] = [];
  for (let edits = 0; edits <= Math.min(MAX_EDITS, old.length + fresh.length); edits++) {
    rounds.push(reached);
    const next = new Map<number, number>();
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = goesDown(reached, diagonal, edits) ? at(reached, diagonal + 1) : at(reached, diagonal - 1) + 1;
      while (x < old.length && x - diagonal < fresh.length && old[x] === fresh[x - diagonal]) x += 1;
      next.set(diagonal, x);
      if (x >= old.length && x - diagonal >= fresh.length) return walkBack(rounds, old, fresh);
    }
    reached = next;
  }
  return undefined;
}

function at(reached: ReadonlyMap<number, number>, diagonal: number): number {
  return reached.get(diagonal) ?? -1;
}

/** Whether a path comes to this diagonal by a line of the new text. */
function goesDown(reached: ReadonlyMap<number, number>, diagonal: number, edits: number): boolean {
  return diagonal === -edits || (diagonal !== edits && at(reached, diagonal - 1) < at(reached, diagonal + 1));
}

function walkBack(
  rounds: readonly ReadonlyMap<number, number>[],
  old: readonly string[],
  fresh: readonly string[],
): Step[] {
  const steps: Step[] = [];
  let [x, y] = [old.length, fresh.length];
  for (let edits = rounds.length - 1; edits >= 0; edits--) {
    const reached = rounds[edits] ?? new Map<number, number>();
    const isDown = goesDown(reached, x - y, edits);
    const fromX = at(reached, isDown ? x - y + 1 : x - y - 1);
    const fromY = fromX - (isDown ? x - y + 1 : x - y - 1);
    while (x > fromX + (isDown ? 0 : 1) && y > fromY + (isDown ? 1 : 0) && x > 0 && y > 0) {
      x -= 1;
      y -= 1;
      steps.push({ sign: " ", line: old[x] ?? "" });
    }
    if (edits > 0) steps.push(isDown ? { sign: "+", line: fresh[fromY] ?? "" } : { sign: "-", line: old[fromX] ?? "" });
    [x, y] = [fromX, fromY];
  }
  return steps.reverse();
}

function writeHunks(steps: readonly Step[]): string[] {
  const lines: string[] = [];
  let [old, fresh, end] = [1, 1, 0];
  for (let first = nextChange(steps, 0); first < steps.length; first = nextChange(steps, end)) {
    const start = Math.max(end, first - CONTEXT);
    for (const { sign } of steps.slice(end, start)) [old, fresh] = pass(sign, old, fresh);
    end = findEnd(steps, first);
    const hunk = steps.slice(start, end);
    const olds = hunk.filter(({ sign }) => sign !== "+").length;
    const news = hunk.filter(({ sign }) => sign !== "-").length;
    lines.push(`@@ -${olds === 0 ? old - 1 : old},${olds} +${news === 0 ? fresh - 1 : fresh},${news} @@`);
    for (const { sign, line } of hunk) {
      lines.push(sign + line);
      [old, fresh] = pass(sign, old, fresh);
    }
  }
  return lines;
}

function pass(sign: Step["sign"], old: number, fresh: number): [number, number] {
  return [sign === "+" ? old : old + 1, sign === "-" ? fresh : fresh + 1];
}

function nextChange(steps: readonly Step[], from: number): number {
  let at = from;
  while (at < steps.length && steps[at]?.sign === " ") at += 1;
  return at;
}

/** Where a hunk ends: behind its context, where no other change follows so near that both contexts touch. */
function findEnd(steps: readonly Step[], first: number): number {
  let last = first;
  for (let at = first; at < steps.length && at <= last + 2 * CONTEXT + 1; at++) if (steps[at]?.sign !== " ") last = at;
  return Math.min(steps.length, last + CONTEXT + 1);
}
