/** A stretch of text that may be an upload command. */
export interface CommandCandidate {
  readonly text: string;
  /** Where it stands in the text, so that it can be masked. */
  readonly start: number;
  readonly end: number;
}

const FENCE = /^[ \t]*(`{3,}|~{3,})[^\n]*\n([\s\S]*?)(?:^[ \t]*\1[`~]*[ \t]*$|(?![\s\S]))/gm;
const SPAN = /`([^`\n]*)`/g;
const WORD = /(?<![\w./@-])curl(?![\w.])/g;
// What may stand before the command on its line: nothing, a list mark, a prompt, or a sentence ending in a colon.
const LEAD = /^(?:[ \t]*(?:[-*•]|\d+[.)])?[ \t]*(?:[$%>][ \t]+)?|.*:[ \t]*)$/u;

/**
 * Every place in a hint that could be meant as its command: a fenced block as a whole, a span in back-ticks, or a line
 * from the word `curl` on with its continued lines. A block of several commands stays one candidate, so that a second
 * line cannot hide.
 */
export function findCommands(hint: string): CommandCandidate[] {
  const found: CommandCandidate[] = [];
  let rest = hint;
  const take = (match: RegExpExecArray, inner: string) => {
    const [start, end] = [match.index, match.index + match[0].length];
    // Blanked, so that positions stay and a later rule cannot see into it.
    rest = rest.slice(0, start) + rest.slice(start, end).replace(/[^\n]/g, " ") + rest.slice(end);
    if (/curl/i.test(inner)) found.push({ text: inner.trim().replace(/^\$[ \t]+/, ""), start, end });
  };
  for (const match of hint.matchAll(FENCE)) take(match, match[2] ?? "");
  for (const match of rest.matchAll(SPAN)) take(match, match[1] ?? "");
  for (const match of rest.matchAll(WORD)) {
    const lead = rest.slice(rest.lastIndexOf("\n", match.index - 1) + 1, match.index);
    if (match.index > 0 && !LEAD.test(lead)) continue;
    const end = endOfCommand(rest, match.index);
    found.push({ text: rest.slice(match.index, end).trim(), start: match.index, end });
  }
  return found;
}

/** End of the line, or of the last line that a `\` continues. */
export function endOfCommand(text: string, start: number): number {
  const line = /(?:\\\r?\n|[^\n])*/y;
  line.lastIndex = start;
  return start + (line.exec(text)?.[0].length ?? 0);
}
