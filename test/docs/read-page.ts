import { readFileSync } from "node:fs";

const ROOT = new URL("../../", import.meta.url);

/** One fenced block of a page. */
export interface Fence {
  /** `page:line`, for the names of tests. */
  readonly name: string;
  readonly language: string;
  readonly code: string;
  /** The `text` block that comes next, which is what the code prints; empty when there is none. */
  readonly prints: string;
}

/** Text of a page, by its path from the root of the repository. */
export function readPage(page: string): string {
  return readFileSync(new URL(page, ROOT), "utf8");
}

/** The fenced blocks of a page. */
export function readFences(page: string): Fence[] {
  const text = readPage(page);
  const fences = [...text.matchAll(/^( *)```(\w+)\n(.*?)^\1```$/gms)];
  return fences.map(({ 2: language = "", 3: code = "", index }, at) => {
    const next = fences[at + 1];
    const name = `${page}:${text.slice(0, index).split("\n").length}`;
    return { name, language, code, prints: next?.[2] === "text" ? (next[3] ?? "") : "" };
  });
}

/** What stands between a heading and the next one of any level. */
export function readSection(page: string, heading: string): string {
  const [, ...parts] = readPage(page).split(/^#+ /m);
  const found = parts.filter((part) => part.startsWith(`${heading}\n`));
  const [section] = found;
  if (section === undefined || found.length !== 1) throw new Error(`${page} has ${found.length} headings "${heading}"`);
  return section.slice(heading.length + 1);
}

/** Rows of the first table below a heading, without its head; code marks are dropped from the cells. */
export function readTable(page: string, heading: string): string[][] {
  const lines = readSection(page, heading).split("\n");
  const start = lines.findIndex((line) => /^\|[-|]+\|$/.test(line));
  if (start === -1) throw new Error(`${page} has no table below "${heading}"`);
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => !line.startsWith("|"));
  const rows = end === -1 ? rest : rest.slice(0, end);
  return rows.map((row) =>
    row
      .slice(1, -1)
      .split("|")
      .map((cell) => cell.trim().replaceAll("`", "")),
  );
}
