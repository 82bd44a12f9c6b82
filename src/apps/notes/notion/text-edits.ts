import type { MarkdownCommand, PageMarkdown } from "./page-markdown.ts";
import { leaveOutPassing } from "./see-page.ts";

/** A line of a text that is not empty, and where it is. */
interface Line {
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

function listLines(raw: string, start = 0): Line[] {
  return [...raw.slice(start).matchAll(/[^\n]*\S[^\n]*/g)].map(({ 0: text, index }) => {
    const from = start + index;
    return { text: leaveOutPassing(text.trim()), from, to: from + text.length };
  });
}

/** The words of a text in the order of its lines' names: equal for what Notion writes in another way, such as another bullet. */
export function listWords(raw: string): string {
  const lines = listLines(raw).map(({ text }) => text.replaceAll(/[^\p{L}\p{N}]+/gu, " ").trim());
  return lines
    .filter((line) => line !== "")
    .sort()
    .join("\n");
}

/**
 * Commands that take out again what was added to a text at its end, and give its front block back; each changes one place.
 * Undefined where the text is not the old one with an addition.
 */
export function takeOutAdded(now: PageMarkdown, old: PageMarkdown): MarkdownCommand[] | undefined {
  const [own, before] = [now, old].map(({ raw, frontText }) => listLines(raw, frontText.length));
  if (own === undefined || before === undefined) return undefined;
  let first = 0;
  while (first < before.length && own[first]?.text === before[first]?.text) first += 1;
  let last = 0;
  while (last < before.length - first && own.at(-1 - last)?.text === before.at(-1 - last)?.text) last += 1;
  if (first + last !== before.length || own.length < before.length) return undefined;
  const added = own.slice(first, own.length - last);
  const [start, end] = [added[0], added.at(-1)];
  const removal = start && end && removePart(now.raw, start.from, end.to);
  return [...(removal === undefined ? [] : [removal]), ...giveFrontBack(now.frontText, old.frontText)];
}

function giveFrontBack(now: string, old: string): MarkdownCommand[] {
  if (now === old) return [];
  return now === ""
    ? [{ type: "insert_content", content: old, position: "start" }]
    : [{ type: "update_content", oldText: now, newText: old }];
}

/** Takes a part out of a text, named with as many lines around it as make it the only one. */
function removePart(raw: string, from: number, to: number): MarkdownCommand {
  const lines = listLines(raw);
  let first = lines.findIndex((line) => line.from >= from);
  let last = lines.findLastIndex((line) => line.to <= to);
  const isTop = first === 0;
  // The line before it stays in front of the text behind it.
  if (!isTop) first -= 1;
  const cut = () => raw.slice(lines[first]?.from ?? 0, lines[last]?.to ?? raw.length);
  while (raw.split(cut()).length > 2 && (first > 0 || last < lines.length - 1)) {
    if (first > 0) first -= 1;
    else last += 1;
  }
  const before = raw.slice(lines[first]?.from ?? 0, from).trimEnd();
  const after = raw.slice(to, lines[last]?.to ?? raw.length).trim();
  const newText = [before, after].filter((part) => part !== "").join("\n\n");
  return { type: "update_content", oldText: cut(), newText };
}
