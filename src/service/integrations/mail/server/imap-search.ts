import type { SearchObject } from "imapflow";
import type { MailQuery, MailTerm } from "../mail-query.ts";

const PLACES_OF_WORDS = ["subject", "from", "to", "cc", "body"] as const;
const DAY_MS = 24 * 60 * 60_000;

/** A query as an IMAP server understands it. */
export interface ImapSearch {
  /** Searches whose results have to be cut with each other: one search names a key only once. */
  readonly searches: readonly SearchObject[];
  /** True when only the structure of a message tells whether something is attached. */
  readonly needsStructure: boolean;
}

/**
 * Maps a query to IMAP SEARCH. Days are asked for generously, because a server counts them in a time zone of its own; the
 * exact time is looked at afterwards. Attachments are left to the caller, but for servers that know Gmail's searches.
 *
 * @param now milliseconds since the epoch
 */
export function toImapSearch(
  { terms }: MailQuery,
  { knowsGmail, now }: { readonly knowsGmail: boolean; readonly now: number },
): ImapSearch {
  const searches: SearchObject[] = [];
  for (const criterion of terms.flatMap((term) => toCriterion(term, { knowsGmail, now }) ?? [])) {
    const free = searches.find((search) => !Object.keys(criterion).some((key) => key in search));
    if (free === undefined) searches.push({ ...criterion });
    else Object.assign(free, criterion);
  }
  const needsStructure = !knowsGmail && terms.some(({ kind }) => kind === "attachment");
  return { searches: searches.length === 0 ? [{ all: true }] : searches, needsStructure };
}

function toCriterion(
  term: MailTerm,
  { knowsGmail, now }: { readonly knowsGmail: boolean; readonly now: number },
): SearchObject | undefined {
  switch (term.kind) {
    case "unread":
      return { seen: term.isNegated };
    case "flagged":
      return { flagged: !term.isNegated };
    case "since":
      return toDates(term, now);
    case "attachment":
      return knowsGmail ? { gmraw: `${term.isNegated ? "-" : ""}has:attachment` } : undefined;
    case "words":
      return negate({ or: PLACES_OF_WORDS.map((key) => ({ [key]: term.text })) }, term);
    default:
      return negate({ [term.kind]: term.text }, term);
  }
}

/** Servers refuse to count back to a moment that is still to come. */
function toDates({ at, isNegated }: MailTerm & { readonly kind: "since" }, now: number): SearchObject | undefined {
  if (!isNegated) return { since: new Date(Math.min(at, now) - DAY_MS) };
  const before = at + 2 * DAY_MS;
  return before < now ? { before: new Date(before) } : undefined;
}

function negate(criterion: SearchObject, { isNegated }: MailTerm): SearchObject {
  return isNegated ? { not: criterion } : criterion;
}
