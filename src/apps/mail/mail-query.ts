import { refuseValue } from "../../service/service-error.ts";
import { foldText } from "../../shared/base/text.ts";
import type { MailPlace } from "./mail-box.ts";

/** Stands for an empty query: the unread filter. */
export const DEFAULT_QUERY = "is:unread";

const SUPPORTED =
  "is:unread, is:read, is:flagged, is:any, from:, to:, cc:, subject:, has:attachment, after:, before:, in:";
/** Operators people know from elsewhere; taking them for words would silently find nothing. */
const FOREIGN = new Set([
  "label",
  "category",
  "larger",
  "smaller",
  "size",
  "older_than",
  "newer_than",
  "older",
  "newer",
  "filename",
  "rfc822msgid",
  "list",
  "deliveredto",
  "has",
  "is",
  "or",
]);

/** Condition of one query term. Texts are lower case and in Unicode form NFC; `at` is the start of a day in UTC. */
type MailCondition =
  | { readonly kind: "unread" | "flagged" | "attachment" }
  | { readonly kind: "since"; readonly at: number }
  | { readonly kind: "from" | "to" | "cc" | "subject" | "words"; readonly text: string };

/** A condition that must hold, or must not. */
export type MailTerm = MailCondition & { readonly isNegated: boolean };

/** A parsed query: all terms must hold. */
export interface MailQuery {
  /** Folder named by `in:`. */
  readonly folder: string | undefined;
  readonly terms: readonly MailTerm[];
}

function parseDay(text: string, key: string): number {
  const match = /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})$/.exec(text);
  const [year, month, day] = (match ?? []).slice(1).map(Number);
  const time = Date.UTC(year ?? Number.NaN, (month ?? Number.NaN) - 1, day);
  if (Number.isNaN(time) || new Date(time).getUTCDate() !== day)
    throw refuseValue("query", `has a date that is none: "${key}:${text}".`, "Write dates as YYYY-MM-DD.");
  return time;
}

const term = (condition: MailCondition, isNegated = false): MailTerm => ({ ...condition, isNegated });

function readIs(value: string): MailTerm[] | undefined {
  switch (value) {
    case "unread":
      return [term({ kind: "unread" })];
    case "read":
      return [term({ kind: "unread" }, true)];
    case "flagged":
    case "starred":
      return [term({ kind: "flagged" })];
    case "any":
      return [];
    default:
      return undefined;
  }
}

/** Terms for `key:value`; undefined for an unsupported operator. */
function readTerms(key: string, value: string): MailTerm[] | undefined {
  switch (key) {
    case "is":
      return readIs(value);
    case "after":
      return [term({ kind: "since", at: parseDay(value, key) })];
    case "before":
      return [term({ kind: "since", at: parseDay(value, key) }, true)];
    case "has":
      return value === "attachment" ? [term({ kind: "attachment" })] : undefined;
    case "from":
    case "to":
    case "cc":
    case "subject":
      return [term({ kind: key, text: value })];
    case "":
      return [term({ kind: "words", text: value })];
    default:
      return undefined;
  }
}

/** Refuses operators of other mail programs: AND, OR, NOT, groups, "me". Throws ServiceError 400 naming `query`. */
function checkLogic(whole: string, value: string): void {
  if (/^(OR|AND|NOT)$/.test(whole) || /^(\(|\{\w+:)/.test(value))
    throw refuseValue(
      "query",
      `joins terms in a way that is not supported: "${whole}".`,
      "All terms must hold: leave out AND, write -term for NOT, search twice for OR, and put text into quotes.",
    );
  if (/^-?(from|to|cc):me$/i.test(whole))
    throw refuseValue("query", `names nobody: "${whole}".`, "Write a part of the address or of the name.");
}

/**
 * Parses a Gmail-like query: words and `key:value` terms, all of which must hold; quotes keep blanks, a leading `-` negates.
 * Dates are days in UTC; `after` includes its day, `before` does not. An empty query is {@link DEFAULT_QUERY}.
 *
 * Throws ServiceError 400 naming `query` for known operators that are not supported here and for invalid dates.
 */
export function parseMailQuery(query: string): MailQuery {
  const terms: MailTerm[] = [];
  let folder: string | undefined;
  const text = query.trim() === "" ? DEFAULT_QUERY : query;
  for (const [whole, minus, rawKey = "", quoted, plain] of text.matchAll(
    /(-)?(?:([A-Za-z_]+):)?(?:"([^"]*)"|(\S+))/g,
  )) {
    const value = foldText((quoted ?? plain ?? "").trim());
    const key = rawKey.toLowerCase();
    if (key === "in") {
      folder = quoted ?? plain;
      continue;
    }
    if (quoted === undefined) checkLogic(whole, plain ?? "");
    const known = readTerms(key, value);
    if (known === undefined && FOREIGN.has(key))
      throw refuseValue(
        "query",
        `has a term that is not supported: "${whole}".`,
        `Supported: ${SUPPORTED} and plain words.`,
      );
    const words = foldText(whole.replace(/^-/, "").replaceAll('"', ""));
    for (const one of known ?? [term({ kind: "words", text: words })])
      terms.push(minus ? { ...one, isNegated: !one.isNegated } : one);
  }
  return { folder, terms };
}

/** Whether the terms that can be told without opening the message hold. */
export function matchesPlace({ terms }: MailQuery, place: MailPlace): boolean {
  return terms.every((term) => {
    const held = testPlace(term, place);
    return held === undefined || held !== term.isNegated;
  });
}

function testPlace(term: MailTerm, place: MailPlace): boolean | undefined {
  switch (term.kind) {
    case "unread":
      return place.isUnread;
    case "flagged":
      return place.isFlagged;
    case "since":
      return place.receivedAt >= term.at;
    default:
      return undefined;
  }
}
