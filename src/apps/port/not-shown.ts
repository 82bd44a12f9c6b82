import { cleanText } from "../../shared/base/text.ts";

/** Something that an answer leaves out, or had to guess. */
export interface NotShown {
  /** What it is, as other actions name it: a file, an event, a folder. May be a stranger's text. */
  readonly where: string;
  /** What could not be read and what was done instead, in a sentence of at most 300 characters. */
  readonly why: string;
}

/** Most that one answer names. */
const MAX_NAMED = 20;

/**
 * The member of an answer that says what it leaves out or guessed, each once and at most twenty; how many more there are is
 * said at its end. Nothing where all is shown.
 */
export function sayNotShown(all: readonly NotShown[]): { readonly not_shown?: readonly NotShown[] } {
  const clean = all.map(({ where, why }) => ({ where: cleanText(where, 500) ?? "", why: cleanText(why, 300) ?? "" }));
  const unique = [...new Map(clean.map((one) => [`${one.where}\n${one.why}`, one])).values()];
  if (unique.length === 0) return {};
  const more = unique.length - MAX_NAMED;
  const end = more > 0 ? [{ where: `${more} more`, why: `Only the first ${MAX_NAMED} are named.` }] : [];
  return { not_shown: [...unique.slice(0, MAX_NAMED), ...end] };
}
