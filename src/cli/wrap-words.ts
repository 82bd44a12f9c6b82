import { Help } from "commander";

/**
 * Breaks text between words where it is longer than `columns`, and starts each further line with `indent`. Text stays
 * as it is without `columns`, and where fewer than 40 would remain.
 */
export function wrapWords(text: string, columns: number | undefined, indent: string): string {
  if (columns === undefined) return text;
  return new Help().boxWrap(text, columns - indent.length).replaceAll("\n", `\n${indent}`);
}
