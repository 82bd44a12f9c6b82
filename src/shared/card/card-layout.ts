import type { DrawnValue } from "./card-text.ts";

/** One line of a card: a label of ours and its values. */
export interface CardFact {
  /** At most 9 letters. */
  readonly label: string;
  readonly values: readonly DrawnValue[];
  /** True for words that say nothing about this call; left out first. */
  readonly isBoilerplate?: boolean;
}

/** Where a card is drawn. */
export interface CardSpace {
  /** Cells of a row. At least 24 are used. */
  readonly columns: number;
  /** Rows for all facts; `Infinity` shows everything. */
  readonly rows: number;
}

/** A card drawn for its space. */
export interface CardRows {
  readonly rows: readonly string[];
  /** False when anything is cut or left out; the rows then say what and how much. */
  readonly isWhole: boolean;
  /** False when a fact about this call is cut: whoever sees only this card has not seen the call. */
  readonly isComplete: boolean;
}

const LABEL = 9;
const GUTTER = " │ ";
/** Begins every further row of a value: a value begins at the gutter, its further rows never do. */
const HANGING = "  ";
const LEAST_COLUMNS = 24;

interface Value {
  readonly fact: CardFact;
  readonly rows: readonly string[];
}

/**
 * Draws facts as rows of `label │ value`. Values are wrapped behind the gutter, so that no text from outside stands
 * where labels do. Without enough rows, it drops boilerplate first, then the ends of the longest values, then values.
 */
export function layOutFacts(facts: readonly CardFact[], { columns, rows }: CardSpace): CardRows {
  const width = Math.max(columns, LEAST_COLUMNS) - LABEL - GUTTER.length;
  const wrapped = facts.map((fact) => fact.values.map((value): Value => ({ fact, rows: wrapValue(value, width) })));
  const kept = leaveOutBoilerplate(wrapped, rows);
  const leftOut = wrapped.filter((values) => !kept.includes(values) && values.length > 0);
  const names = leftOut.map(([value]) => value?.fact.label.toLowerCase()).join(", ");
  const named = `[left out: ${names}]`;
  const note = leftOut.length === 0 ? [] : [named.length <= columns ? named : `[left out: ${leftOut.length} labels]`];
  const fitted = fitValues(kept.flat(), rows - note.length);
  const { isComplete } = fitted;
  return { rows: [...fitted.rows, ...note], isComplete, isWhole: isComplete && note.length === 0 };
}

/**
 * Backticks to escape inside a fence. Without a run of three in the text, the shortest fence is enough, and only that
 * fence works in all chats.
 */
export const IN_FENCE = /(?<=``)`/g;

/** Lines as Markdown that is shown as it stands. Draw them with {@link IN_FENCE}. */
export function fence(lines: readonly string[]): string[] {
  return ["```", ...lines, "```"];
}

function leaveOutBoilerplate(facts: readonly Value[][], rows: number): Value[][] {
  const kept = [...facts];
  const count = () => kept.flat().reduce((sum, value) => sum + value.rows.length, kept.length < facts.length ? 1 : 0);
  for (let index = kept.length - 1; index >= 0 && count() > rows; index -= 1) {
    if (kept[index]?.[0]?.fact.isBoilerplate === true) kept.splice(index, 1);
  }
  return kept;
}

function fitValues(values: readonly Value[], rows: number): Omit<CardRows, "isWhole"> {
  const total = values.reduce((sum, value) => sum + value.rows.length, 0);
  if (total <= rows)
    return { rows: values.flatMap((value, index) => draw(value, values[index - 1])), isComplete: true };
  const shown = takeFitting(values, rows);
  const rest = values.slice(shown.length);
  const most = findMostRows(shown, rows - (rest.length === 0 ? 0 : 1));
  const drawn = shown.flatMap((value, index) => draw(cutValue(value, most), shown[index - 1]));
  if (rest.length > 0)
    drawn.push(`[cut: ${rest.length} more, ${countCharacters(rest.flatMap(({ rows }) => rows))} characters]`);
  return { rows: drawn, isComplete: false };
}

/** All when the begin of each fits; else the first ones, with a row left to count the others. */
function takeFitting(values: readonly Value[], rows: number): readonly Value[] {
  if (countRows(values, 1) <= rows) return values;
  let taken = 1;
  while (countRows(values.slice(0, taken + 1), 1) < rows) taken += 1;
  return values.slice(0, taken);
}

/** The most rows one value may take so that all fit. */
function findMostRows(values: readonly Value[], rows: number): number {
  let most = 1;
  while (most < rows && countRows(values, most + 1) <= rows) most += 1;
  return most;
}

/** Counts rows with at most `most` per value; a cut value takes one more row for its note. */
function countRows(values: readonly Value[], most: number): number {
  return values.reduce((sum, value) => sum + Math.min(value.rows.length, most + 1), 0);
}

function cutValue(value: Value, most: number): Value & { readonly note?: string } {
  if (value.rows.length <= most + 1) return value;
  const hidden = countCharacters(value.rows.slice(most));
  const note = `[cut: ${hidden} of ${countCharacters(value.rows)} characters]`;
  return { ...value, rows: value.rows.slice(0, most), note };
}

function countCharacters(rows: readonly string[]): string {
  return rows.reduce((sum, row) => sum + row.length, 0).toLocaleString("en-GB");
}

function draw(value: Value & { readonly note?: string }, before: Value | undefined): string[] {
  const label = before?.fact === value.fact ? "" : value.fact.label;
  const lines = value.rows.map((row, index) => {
    return `${(index === 0 ? label : "").padEnd(LABEL)}${GUTTER}${index === 0 ? "" : HANGING}${row}`;
  });
  return value.note === undefined ? lines : [...lines, value.note];
}

function wrapValue({ line, lines }: DrawnValue, width: number): string[] {
  if (measureCells(line) <= width) return [line];
  return (lines ?? line).split("\n").flatMap((part) => wrapLine(part, width - HANGING.length));
}

/** Rows of at most `width` cells that together are the line: broken after spaces and line ends, else where a row is full. */
function wrapLine(line: string, width: number): string[] {
  const rows: string[] = [];
  let row = "";
  let cells = 0;
  let breakAt = 0;
  const end = (at: number) => {
    rows.push(row.slice(0, at));
    row = row.slice(at);
    cells = measureCells(row);
    breakAt = 0;
  };
  for (const piece of splitPieces(line, width)) {
    const size = measureCells(piece);
    while (cells + size > width && row !== "") end(breakAt > row.length / 2 ? breakAt : row.length);
    row += piece;
    cells += size;
    if (piece === " ") breakAt = row.length;
    else if (piece === "n" && /(?<!\\)(?:\\\\)*\\n$/.test(row)) end(row.length);
  }
  if (row !== "" || rows.length === 0) rows.push(row);
  return rows;
}

/** Made for the first card: it takes some milliseconds. */
let segmenter: Intl.Segmenter | undefined;

/** Yields the parts that must share a row: a letter with its marks. */
function* splitPieces(text: string, width: number): Iterable<string> {
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  for (const { segment } of segmenter.segment(text)) {
    if (measureCells(segment) <= width) yield segment;
    else yield* segment;
  }
}

/**
 * Upper bound of the cells a text takes. Terminals disagree about marks and joined emoji, but none draws a character
 * below U+1100 wider than one cell, or any other wider than two. A row that is too short is harmless; a row that is too
 * long would wrap into the label column.
 */
function measureCells(text: string): number {
  let cells = 0;
  for (const character of text) cells += (character.codePointAt(0) ?? 0) < 0x1100 ? 1 : 2;
  return cells;
}
