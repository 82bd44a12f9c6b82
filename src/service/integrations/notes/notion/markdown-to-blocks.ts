import { findLanguage } from "./code-language.ts";
import { readList } from "./markdown-list.ts";
import { readTable } from "./markdown-table.ts";
import { createCodeBlocks, createTextBlocks, type NewBlock, type ReadPart } from "./new-block.ts";
import { groupRuns, toPlainRuns, toRichText } from "./rich-text.ts";

const FENCE = /^ {0,3}(`{3,}|~{3,})([^`]*)$/;
const HEADING = /^ {0,3}(#{1,6})(?=[ \t]|$)(.*)$/;
const DIVIDER = /^ {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$/;
const QUOTE = /^ {0,3}> ?/;
const LIST = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]+\S|[ \t]*$)/;
const COMMENT = /^ {0,3}<!--/;
const FORMULA = /^ {0,3}\$\$/;
const IMAGE = /^ {0,3}!\[((?:\\.|[^\]\\])*)\]\((https?:\/\/\S+?)(?:[ \t]+"[^"]*")?\)[ \t]*$/;
const UNDERLINE = /^ {0,3}(=+|-+)[ \t]*$/;
const MAX_FORMULA = 1000;
/** Deeper quotes and lists stay text. */
const MAX_DEPTH = 20;
/** How far the end of a comment or formula is looked for, in lines. */
const MAX_LINES = 200;
const MAX_URL = 2000;

type Reader = (lines: readonly string[], at: number, depth: number) => ReadPart | undefined;

/** Markdown as blocks of Notion. What is no Markdown that Notion knows, such as HTML, stays as text. */
export function markdownToBlocks(markdown: string): NewBlock[] {
  return readLines(markdown.replaceAll(/\r\n?/g, "\n").split("\n"));
}

function readLines(lines: readonly string[], depth = 0): NewBlock[] {
  const blocks: NewBlock[] = [];
  for (let at = 0; at < lines.length; ) {
    if (lines[at]?.trim() === "") {
      at += 1;
      continue;
    }
    const part = readPart(lines, at, depth);
    blocks.push(...part.blocks);
    at = part.next;
  }
  return blocks;
}

function readPart(lines: readonly string[], at: number, depth: number): ReadPart {
  for (const read of READERS) {
    const part = read(lines, at, depth);
    if (part !== undefined) return part;
  }
  return readParagraph(lines, at);
}

const readFence: Reader = (lines, at) => {
  const [, fence = "", behind = ""] = FENCE.exec(lines[at] ?? "") ?? [];
  if (fence === "") return undefined;
  const info = behind.trim();
  const isEnd = (line: string) => line.trim().startsWith(fence) && /^(`+|~+)$/.test(line.trim());
  const found = lines.findIndex((line, index) => index > at && isEnd(line));
  const end = found === -1 ? lines.length : found;
  const [written = ""] = info.split(/\s/);
  const language = findLanguage(written);
  const caption = language === undefined || info !== written ? info : "";
  return {
    blocks: createCodeBlocks(lines.slice(at + 1, end).join("\n"), language ?? "plain text", caption),
    next: end + 1,
  };
};

const readFormula: Reader = (lines, at) => {
  if (!FORMULA.test(lines[at] ?? "")) return undefined;
  const isEnd = (line: string, index: number) => (index === 0 ? line.trim().slice(2) : line).trimEnd().endsWith("$$");
  const length = lines.slice(at, at + MAX_LINES).findIndex(isEnd) + 1;
  if (length === 0) return undefined;
  const next = at + length;
  const expression = lines.slice(at, next).join("\n").trim().slice(2, -2).trim();
  if (expression.length > MAX_FORMULA) return { blocks: createCodeBlocks(expression, "latex"), next };
  return { blocks: [{ type: "equation", data: { expression }, children: [] }], next };
};

const readHeading: Reader = (lines, at) => {
  const [, marks, text = ""] = HEADING.exec(lines[at] ?? "") ?? [];
  if (marks === undefined) return undefined;
  const trimmed = text.trim();
  const words = trimmed.replace(/#+$/, "");
  const isClosed = words === "" || /[ \t]$/.test(words);
  return { blocks: createHeading(marks.length, isClosed ? words.trimEnd() : trimmed), next: at + 1 };
};

/** Notion has four levels. */
function createHeading(level: number, text: string): NewBlock[] {
  return createTextBlocks(`heading_${Math.min(level, 4)}`, toRichText(text));
}

const readDivider: Reader = (lines, at) =>
  DIVIDER.test(lines[at] ?? "") ? { blocks: [{ type: "divider", data: {}, children: [] }], next: at + 1 } : undefined;

const readQuote: Reader = (lines, at, depth) => {
  let next = at;
  while (QUOTE.test(lines[next] ?? "")) next += 1;
  if (next === at || depth >= MAX_DEPTH) return undefined;
  const inner = lines.slice(at, next).map((line) => line.replace(QUOTE, ""));
  const [first, ...rest] = readLines(inner, depth + 1);
  return { blocks: [wrap("quote", first, rest)], next };
};

/** A block whose text is that of a first paragraph, and whose children is everything else. */
function wrap(type: string, first: NewBlock | undefined, rest: readonly NewBlock[]): NewBlock {
  if (first?.type === "paragraph") return { type, data: first.data, children: [...first.children, ...rest] };
  return { type, data: { rich_text: [] }, children: first === undefined ? rest : [first, ...rest] };
}

/** A comment is not hidden in Notion; it stays as it is, so that it can be found. */
const readComment: Reader = (lines, at) => {
  if (!COMMENT.test(lines[at] ?? "")) return undefined;
  const length = lines.slice(at, at + MAX_LINES).findIndex((line) => line.includes("-->")) + 1;
  if (length === 0) return undefined;
  const text = lines
    .slice(at, at + length)
    .join("\n")
    .trim();
  return { blocks: createTextBlocks("paragraph", toPlainRuns(text)), next: at + length };
};

const readImage: Reader = (lines, at) => {
  const [, label = "", url] = IMAGE.exec(lines[at] ?? "") ?? [];
  const [caption, ...others] = groupRuns(toRichText(label));
  if (url === undefined || url.length > MAX_URL || !URL.canParse(url) || others.length > 0) return undefined;
  const data = { type: "external", external: { url }, caption };
  return { blocks: [{ type: "image", data, children: [] }], next: at + 1 };
};

const readIndented: Reader = (lines, at) => {
  let next = at;
  while (/^(?: {4}|\t)/.test(lines[next] ?? "") || (next > at && lines[next]?.trim() === "")) next += 1;
  if (next === at) return undefined;
  const code = lines.slice(at, next).map((line) => line.replace(/^(?: {4}|\t)/, ""));
  return { blocks: createCodeBlocks(code.join("\n").trimEnd(), "plain text"), next };
};

const READERS: readonly Reader[] = [
  readIndented,
  readFence,
  readFormula,
  readHeading,
  readDivider,
  readQuote,
  readComment,
  readImage,
  readTable,
  (lines, at, depth) =>
    LIST.test(lines[at] ?? "") && depth < MAX_DEPTH
      ? readList(lines, at, (inner) => readLines(inner, depth + 1))
      : undefined,
];

/** True for a line that ends the paragraph before it. A number only begins a list there when it is the first. */
function isInterruption(line: string, lines: readonly string[], at: number): boolean {
  if (line.trim() === "") return true;
  const begins = [FENCE, HEADING, DIVIDER, QUOTE, COMMENT, FORMULA, IMAGE].some((pattern) => pattern.test(line));
  return (
    begins || (LIST.test(line) && /^ {0,3}(?:[-*+]|1[.)])[ \t]+\S/.test(line)) || readTable(lines, at) !== undefined
  );
}

function readParagraph(lines: readonly string[], at: number): ReadPart {
  const text: string[] = [];
  let next = at;
  do {
    text.push((lines[next] ?? "").trim().replace(/\\$/, ""));
    next += 1;
    const [, underline] = UNDERLINE.exec(lines[next] ?? "") ?? [];
    if (underline !== undefined)
      return { blocks: createHeading(underline.startsWith("=") ? 1 : 2, text.join(" ")), next: next + 1 };
  } while (next < lines.length && !isInterruption(lines[next] ?? "", lines, next));
  return { blocks: createTextBlocks("paragraph", toRichText(text.join("\n"))), next };
}
