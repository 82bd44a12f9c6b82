/**
 * How many characters the last column of a list may have beside the `taken` ones: what the terminal leaves, between
 * `shortest`, below which the line breaks instead, and `longest`, also where there is no terminal.
 */
export function measureLastColumn(
  columns: number | undefined,
  { taken, shortest, longest }: { readonly taken: number; readonly shortest: number; readonly longest: number },
): number {
  return Math.min(longest, Math.max(shortest, (columns ?? Infinity) - taken));
}
