import { z } from "zod";
import { fitsWildcards } from "../../shared/base/wildcards.ts";
import type { CatalogEntry } from "../catalog/catalog-entry.ts";

const MAX_PATTERN = 128;
const EXAMPLES = 'Write "mail_send_message", "mail/send_message", "mail/*" or "*_search".';
const MISSING = `A pattern on tools is missing. ${EXAMPLES}`;

/**
 * A pattern on tools: a tool name, or app and action as `app/action`; `*` stands for any characters. Its messages are
 * sentences for people.
 */
export const toolPatternSchema = z
  .string(MISSING)
  .trim()
  .min(1, MISSING)
  .max(MAX_PATTERN, `A pattern on tools has at most ${MAX_PATTERN} characters.`)
  .regex(/^[A-Za-z0-9_.*/-]*$/, `A pattern on tools has letters, digits, "_", "-", ".", "*" and one "/". ${EXAMPLES}`)
  .regex(/^([^/]+\/)?[^/]+$|^$/, `A pattern on tools has one "/", between app and action. ${EXAMPLES}`);

/**
 * How far a pattern reaches. In both, upper and lower case are the same, and so are `-` and `_` in the id of an action.
 *
 * `wide`, for rules that forbid or ask: they are the same everywhere, and a pattern without `*` is read as loosely as the API
 * reads names. `narrow`, for grants: `google_*` is not `google-drive_*`.
 */
export type PatternReach = "wide" | "narrow";

/** True when a pattern that fits {@link toolPatternSchema} means this tool. */
export function matchesTool(
  pattern: string,
  { toolName, integration, action }: CatalogEntry,
  reach: PatternReach,
): boolean {
  const fold = reach === "wide" ? foldAll : foldAction;
  const { slug } = integration;
  // The API takes the whole tool name as the id of an action, too.
  const names = [toolName, `${slug}/${action.id}`, `${slug}/${toolName}`];
  const folded = fold(pattern);
  if (names.some((name) => fitsWildcards(folded, fold(name)))) return true;
  return reach === "wide" && isExactPattern(pattern) && names.some((name) => squeeze(name) === squeeze(pattern));
}

/** True for a pattern that names one tool. */
export function isExactPattern(pattern: string): boolean {
  return !pattern.includes("*");
}

function foldAll(name: string): string {
  return name.toLowerCase().replaceAll("-", "_");
}

/** An app's id has no underscore. */
function foldAction(name: string): string {
  const start = name.search(/[_/]/);
  if (start < 0) return name.toLowerCase();
  return name.slice(0, start).toLowerCase() + foldAll(name.slice(start));
}

function squeeze(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, "");
}
