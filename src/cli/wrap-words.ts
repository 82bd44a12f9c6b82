import { Help } from "commander";

/** A command of ours in quotes, which people copy. */
const COMMAND = /"svc [^"\n]*"/g;
/** Stands for a space that no line is broken at: a character without a meaning of its own. */
const TIED = "\ue000";

/**
 * Breaks text between words where it is longer than `columns`, and starts each further line with `indent`. A command in
 * quotes (`"svc …"`) is kept whole. Text stays as it is without `columns`, and where fewer than 40 would remain.
 */
export function wrapWords(text: string, columns: number | undefined, indent: string): string {
  if (columns === undefined) return text;
  const tied = text.replaceAll(COMMAND, (command) => command.replaceAll(" ", TIED));
  const lines = new Help().boxWrap(tied, columns - indent.length);
  return lines.replaceAll(TIED, " ").replaceAll("\n", `\n${indent}`);
}
