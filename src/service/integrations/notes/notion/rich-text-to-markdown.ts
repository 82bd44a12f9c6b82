import type { RichText } from "./notion-objects.ts";

/** What an empty look is. */
const PLAIN = { bold: false, italic: false, strikethrough: false, code: false };

/** Runs of text as Markdown; colours and underlines are left out, mentions become text with a link. */
export function richTextToMarkdown(runs: readonly RichText[]): string {
  return join(runs).replaceAll("\n", "  \n");
}

/** The same for a place that has no room for a second line, such as a cell of a table. */
export function richTextToLine(runs: readonly RichText[]): string {
  return join(runs).replaceAll(/\s*\n\s*/g, " ");
}

function join(runs: readonly RichText[]): string {
  return runs.map(writeRun).join("");
}

function writeRun(run: RichText): string {
  if (run.equation !== undefined) return `$${run.equation.expression}$`;
  const { bold, italic, strikethrough, code } = run.annotations ?? PLAIN;
  const text = run.plain_text;
  if (text.trim() === "") return text;
  if (run.href === text && !code) return text;
  // A mark must touch the words it belongs to.
  const core = text.trim();
  const [before, after] = [text.slice(0, text.indexOf(core)), text.slice(text.indexOf(core) + core.length)];
  let marked = code ? quoteCode(core) : escapeText(core);
  if (strikethrough) marked = `~~${marked}~~`;
  if (italic) marked = `*${marked}*`;
  if (bold) marked = `**${marked}**`;
  if (run.href) marked = `[${marked}](${toTarget(run.href)})`;
  return `${before}${marked}${after}`;
}

/** Mentions of pages carry an address without its host. */
function toTarget(href: string): string {
  const whole = href.startsWith("/") ? `https://www.notion.so${href}` : href;
  return whole.replaceAll(/[\s()]/g, (character) =>
    encodeURIComponent(character).replace("(", "%28").replace(")", "%29"),
  );
}

function quoteCode(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const ticks = "`".repeat(longest + 1);
  return longest === 0 ? `${ticks}${text}${ticks}` : `${ticks} ${text} ${ticks}`;
}

/** Makes characters stand for themselves that Markdown would read as marks. */
function escapeText(text: string): string {
  return text
    .replaceAll(/[\\`[\]]|\*(?=\S)|(?<=\S)\*|~~/g, (mark) => mark.replaceAll(/./g, "\\$&"))
    .replaceAll(/(?<![\p{L}\p{N}_])_|_(?![\p{L}\p{N}_])/gu, "\\_");
}
