/** What came of each fault, counted. */
export interface OutcomeTable {
  add(row: string, outcome: string): void;
  /** Columns padded for a terminal, rows and columns in the order they came. */
  print(): string;
}

/** Creates an empty table whose first column is headed `title`. */
export function createOutcomeTable(title: string): OutcomeTable {
  const rows = new Map<string, Map<string, number>>();
  const outcomes = new Set<string>();
  return {
    add(row, outcome) {
      const counts = rows.get(row) ?? new Map<string, number>();
      counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
      rows.set(row, counts);
      outcomes.add(outcome);
    },
    print() {
      const head = [title, ...outcomes];
      const body = [...rows].map(([row, counts]) => [
        row,
        ...[...outcomes].map((name) => String(counts.get(name) ?? "·")),
      ]);
      const widths = head.map((_, column) => Math.max(...[head, ...body].map((cells) => cells[column]?.length ?? 0)));
      const toLine = (cells: string[]) =>
        cells
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join("  ")
          .trimEnd();
      return [head, ...body].map(toLine).join("\n");
    },
  };
}
