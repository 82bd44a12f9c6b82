import type { NewBlock, ReadPart } from "./new-block.ts";
import { groupRuns, type NewText, toPlainRuns, toRichText } from "./rich-text.ts";

const RULE = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;

const MAX_RULE = 2000;

/** Reads a table: a row, a line of dashes, and rows up to the next empty line. */
export function readTable(lines: readonly string[], at: number): ReadPart | undefined {
  const head = lines[at] ?? "";
  const rule = lines[at + 1] ?? "";
  if (!head.includes("|") || !rule.includes("-") || rule.length > MAX_RULE || !RULE.test(rule)) return undefined;
  const columns = splitRow(head);
  if (splitRow(rule).length !== columns.length) return undefined;
  let next = at + 2;
  const rows = [columns];
  while ((lines[next] ?? "").includes("|")) {
    rows.push(splitRow(lines[next] ?? ""));
    next += 1;
  }
  // A row may have more cells than the head says; none is lost.
  const width = Math.max(...rows.map((row) => row.length));
  const children: NewBlock[] = [];
  for (const row of rows) {
    const cells = Array.from({ length: width }, (_, index) => createCell(row[index] ?? ""));
    // What does not fit into a cell stays as text.
    if (!cells.every((cell) => cell !== undefined)) return undefined;
    children.push({ type: "table_row", data: { cells }, children: [] });
  }
  const data = { table_width: width, has_column_header: true, has_row_header: false };
  return { blocks: [{ type: "table", data, children }], next };
}

function splitRow(line: string): string[] {
  const inner = line
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

/** A cell with all its looks, or without them when they are too many; undefined when it is too long. */
function createCell(text: string): readonly NewText[] | undefined {
  return [toRichText(text), toPlainRuns(text)].map(groupRuns).find((groups) => groups.length === 1)?.[0];
}
