import { refuseValue } from "../../files/folder-error.ts";
import type { MessagePlace } from "./maildir.ts";
import type { MailMessage } from "./parse-message.ts";

/** What an empty query means: the unread filter. */
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

/** A parsed query. */
export interface MailQuery {
  /** Folder named by `in:`. */
  readonly folder: string | undefined;
  /** What can be told without opening the message. */
  matchesPlace(place: MessagePlace): boolean;
  matchesMessage(message: MailMessage): boolean;
}

type PlaceTest = (place: MessagePlace) => boolean;
type MessageTest = (message: MailMessage) => boolean;

function fold(text: string): string {
  return text.normalize("NFC").toLowerCase();
}

function parseDay(text: string, key: string): number {
  const match = /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})$/.exec(text);
  const [year, month, day] = (match ?? []).slice(1).map(Number);
  const time = Date.UTC(year ?? Number.NaN, (month ?? Number.NaN) - 1, day);
  if (Number.isNaN(time) || new Date(time).getUTCDate() !== day)
    throw refuseValue("query", `has a date that is none: "${key}:${text}".`, "Write dates as YYYY-MM-DD.");
  return time;
}

function readIs(value: string): PlaceTest | undefined {
  switch (value) {
    case "unread":
      return ({ flags }) => !flags.includes("S");
    case "read":
      return ({ flags }) => flags.includes("S");
    case "flagged":
    case "starred":
      return ({ flags }) => flags.includes("F");
    case "any":
      return () => true;
    default:
      return undefined;
  }
}

function readPlaceTest(key: string, value: string): PlaceTest | undefined {
  if (key === "is") return readIs(value);
  if (key !== "after" && key !== "before") return undefined;
  const day = parseDay(value, key);
  return key === "after" ? ({ deliveredAt }) => deliveredAt >= day : ({ deliveredAt }) => deliveredAt < day;
}

function readMessageTest(key: string, value: string): MessageTest | undefined {
  const contains = (texts: readonly string[]) => texts.some((text) => fold(text).includes(value));
  switch (key) {
    case "from":
      return ({ from }) => contains([from]);
    case "to":
      return ({ to }) => contains(to);
    case "cc":
      return ({ cc }) => contains(cc);
    case "subject":
      return ({ subject }) => contains([subject]);
    case "has":
      return value === "attachment" ? ({ attachments }) => attachments.length > 0 : undefined;
    case "":
      return (message) => contains([message.subject, message.from, ...message.to, ...message.cc, message.text]);
    default:
      return undefined;
  }
}

/**
 * Parses a Gmail-like query: words and `key:value` terms, all of which must hold; quotes keep blanks, a leading `-` negates.
 * Dates are days in UTC; `after` includes its day, `before` does not. An empty query is {@link DEFAULT_QUERY}.
 *
 * Throws ServiceError 400 naming `query` for known operators that are not supported here and for dates that are none.
 */
export function parseMailQuery(query: string): MailQuery {
  const placeTests: PlaceTest[] = [];
  const messageTests: MessageTest[] = [];
  let folder: string | undefined;
  const text = query.trim() === "" ? DEFAULT_QUERY : query;
  for (const [term, minus, rawKey = "", quoted, plain] of text.matchAll(/(-)?(?:([A-Za-z_]+):)?(?:"([^"]*)"|(\S+))/g)) {
    const value = fold((quoted ?? plain ?? "").trim());
    const key = rawKey.toLowerCase();
    if (key === "in") {
      folder = quoted ?? plain;
      continue;
    }
    const placeTest = readPlaceTest(key, value);
    const messageTest = placeTest === undefined ? readMessageTest(key, value) : undefined;
    if (placeTest !== undefined) placeTests.push(minus ? (place) => !placeTest(place) : placeTest);
    else if (messageTest !== undefined) messageTests.push(minus ? (message) => !messageTest(message) : messageTest);
    else if (FOREIGN.has(key))
      throw refuseValue(
        "query",
        `has a term that is not supported: "${term}".`,
        `Supported: ${SUPPORTED} and plain words.`,
      );
    else {
      const words = readMessageTest("", fold(term.replace(/^-/, "").replaceAll('"', "")));
      if (words !== undefined) messageTests.push(minus ? (message) => !words(message) : words);
    }
  }
  return {
    folder,
    matchesPlace: (place) => placeTests.every((test) => test(place)),
    matchesMessage: (message) => messageTests.every((test) => test(message)),
  };
}
