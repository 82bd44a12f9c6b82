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
const MARK = /^(?:[-*•]|\d{1,9}[.)])?[ \t]*[$%>]?$/u;
const MAX_MARK = 40;

/** A longer text of a service is no hint: nothing after it is read. */
export const MAX_HINT_CHARACTERS = 16 * 1024;

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
  let end = 0;
  for (const { index: start } of rest.matchAll(WORD)) {
    const lead = start === 0 ? "" : rest.slice(rest.lastIndexOf("\n", start - 1) + 1, start);
    if (!mayLead(lead)) continue;
    if (start >= end) end = endOfCommand(rest, start);
    found.push({ text: rest.slice(start, end).trim(), start, end });
  }
  return found;
}

/**
 * True for what may stand before the command on its line: nothing, a list mark, a prompt, or a sentence ending in a
 * colon. Looks at few characters, since a line may hold the word a thousand times.
 */
function mayLead(lead: string): boolean {
  const text = lead.trim();
  if (text.endsWith(":")) return true;
  if (text.length > MAX_MARK || !MARK.test(text)) return false;
  return !/[$%>]$/.test(text) || /[ \t]$/.test(lead);
}

/** End of the line, or of the last line that a `\` continues. */
export function endOfCommand(text: string, start: number): number {
  const line = /(?:\\\r?\n|[^\n])*/y;
  line.lastIndex = start;
  return start + (line.exec(text)?.[0].length ?? 0);
}
