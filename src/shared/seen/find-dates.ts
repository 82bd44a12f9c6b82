import { LONE_MONTHS, MONTH_OF, SHORT_DAY_OF, WEEKDAY_OF } from "./calendar-words.ts";
import type { FoundValue } from "./found-value.ts";

/** A piece of a date in a text. */
interface Piece {
  readonly at: number;
  readonly end: number;
  /** `MM-DD`, one for each way to read it; `DD` alone, `MM` alone. */
  readonly days?: readonly string[];
  readonly year?: string | undefined;
  readonly weekday?: number;
  /** `HH:MM`. */
  readonly time?: string;
}

const alternatives = (words: Iterable<string>) => [...words].toSorted((a, b) => b.length - a.length).join("|");
const MONTH = alternatives(MONTH_OF.keys());
const START = "(?<![\\p{L}\\p{N}])";
const STOP = "(?![\\p{L}\\p{N}])";

const ISO =
  /(?<![\p{L}\p{N}-])(\d{4})-(\d\d)-(\d\d)(?:[t ](\d\d):(\d\d)(?::\d\d(?:\.\d{1,9})?)?(?: ?(?:z|[+-]\d\d:?\d\d))?)?(?![\p{L}\p{N}])/gu;
const COMPACT = /(?<![\p{L}\p{N}])(\d{4})(\d\d)(\d\d)t(\d\d)(\d\d)(?:\d\d)?z?(?![\p{L}\p{N}])/gu;
const YEAR_FIRST = /(?<![\p{L}\p{N}./])(\d{4})[/.](\d{1,2})[/.](\d{1,2})(?![\p{N}./])/gu;
const POINTS = /(?<![\p{L}\p{N}.,])(\d{1,2})\. ?(\d{1,2})\.(?: ?(\d{4}|\d\d(?!:)))?(?![\p{L}\p{N}])/gu;
const SLASHES = /(?<![\p{L}\p{N}./-])(\d{1,2})([/-])(\d{1,2})\2(\d{4}|\d\d)(?![\p{L}\p{N}/-])/gu;
const DAY_FIRST = new RegExp(
  `${START}(\\d{1,2})(?:\\.|er|st|nd|rd|th)? ?(?:of |de |-)?(${MONTH})\\.?(?:[ ,-]{1,2}(\\d{4}))?${STOP}`,
  "gu",
);
const MONTH_FIRST = new RegExp(
  `${START}(${MONTH})\\.? (?:the )?(\\d{1,2})(?:st|nd|rd|th)?(?:,? (\\d{4}))?(?![\\p{L}\\p{N}:])`,
  "gu",
);
const JAPANESE = /(?:(?<!\d)(\d{4})年 ?)?(?<!\d)(\d{1,2})月 ?(\d{1,2})日/gu;
const JAPANESE_DAY = /(?<![\d月])(\d{1,2})日(?![間前後目])/gu;
const LONE_MONTH = new RegExp(`${START}(${alternatives(LONE_MONTHS)})(?: (\\d{4}))?${STOP}`, "gu");
const WEEKDAY = new RegExp(`(?<![a-zà-ÿ])(${alternatives(WEEKDAY_OF.keys())})s?(?![a-zà-ÿ])`, "gu");
const SHORT_DAY = new RegExp(`${START}(${alternatives(SHORT_DAY_OF.keys())})\\.?,? (?=\\d)`, "gu");
const CLOCK = /(?<![\p{L}\p{N}.:,-])(\d{1,2})[:：](\d\d)(?::\d\d)?(?: ?([ap])\.?m\b\.?| ?(?:uhr|h)\b)?(?![\p{N}:])/gu;
const HOURS =
  /(?<![\p{L}\p{N}.:,])(\d{1,2})(?:(?: ?h ?|[.:])(\d\d)(?: ?uhr)(?!\p{L})| ?h ?(\d\d)(?![\p{L}\p{N}])| ?(?:([ap])\.?m\b\.?|uhr(?!\p{L})|h(?![\p{L}\p{N}])|heures?(?!\p{L})|o'clock))/gu;
const JAPANESE_CLOCK = /(?:(午前|午後) ?)?(?<!\d)(\d{1,2})時(?:(\d{1,2})分|(半))?(?!間)/gu;

/** What may stand between the parts of one date. */
const BETWEEN = /^[\s,、(]{0,3}(?:(?:at|um|à|a|le|the|on|den|am|from|ab|dès|de|の|@|-|–|kl\.?)[\s,]{0,2})?$/u;

/** Days, times and weekdays as one value each where they stand together. */
export function findDates(text: string): FoundValue[] {
  const lower = text.toLowerCase();
  if (lower.length !== text.length) return [];
  const pieces = keepFirst([...findDays(lower), ...findTimes(lower), ...findWeekdays(lower)]);
  const found: FoundValue[] = [];
  for (let index = 0; index < pieces.length; ) {
    let whole = pieces[index] as Piece;
    let next = pieces[index + 1];
    while (next && fits(whole, next) && BETWEEN.test(lower.slice(whole.end, next.at))) {
      whole = { ...next, ...whole, end: next.end };
      index += 1;
      next = pieces[index + 1];
    }
    index += 1;
    found.push(dateValue(whole));
  }
  return found;
}

function fits(one: Piece, other: Piece): boolean {
  const both = (key: "days" | "weekday" | "time") => one[key] !== undefined && other[key] !== undefined;
  return !both("days") && !both("weekday") && !both("time");
}

/** Pieces in their order; of those that overlap, the one that was found first. */
function keepFirst(pieces: readonly Piece[]): Piece[] {
  const kept: Piece[] = [];
  const sorted = pieces
    .map((piece, rank) => ({ piece, rank }))
    .toSorted((a, b) => a.piece.at - b.piece.at || a.rank - b.rank);
  for (const { piece } of sorted) if (piece.at >= (kept.at(-1)?.end ?? 0)) kept.push(piece);
  return kept;
}

function* findDays(text: string): Generator<Piece> {
  for (const match of text.matchAll(ISO))
    yield* dayPiece(match, match[1], [[match[2], match[3]]], clock(match[4], match[5]));
  for (const match of text.matchAll(COMPACT))
    yield* dayPiece(match, match[1], [[match[2], match[3]]], clock(match[4], match[5]));
  for (const match of text.matchAll(YEAR_FIRST)) yield* dayPiece(match, match[1], [[match[2], match[3]]]);
  for (const match of text.matchAll(JAPANESE)) yield* dayPiece(match, match[1], [[match[2], match[3]]]);
  for (const match of text.matchAll(POINTS)) yield* dayPiece(match, match[3], [[match[2], match[1]]]);
  for (const match of text.matchAll(SLASHES)) {
    yield* dayPiece(match, match[4], [
      [match[3], match[1]],
      [match[1], match[3]],
    ]);
  }
  for (const match of text.matchAll(DAY_FIRST)) yield* dayPiece(match, match[3], [[month(match[2]), match[1]]]);
  for (const match of text.matchAll(MONTH_FIRST)) yield* dayPiece(match, match[3], [[month(match[1]), match[2]]]);
  for (const { 0: whole, 1: day = "", index } of text.matchAll(JAPANESE_DAY)) {
    if (Number(day) >= 1 && Number(day) <= 31)
      yield { at: index, end: index + whole.length, days: [day.padStart(2, "0")] };
  }
  for (const { 0: whole, 1: word, 2: year, index } of text.matchAll(LONE_MONTH)) {
    yield { at: index, end: index + whole.length, days: [`${month(word)}-`], year };
  }
}

function* dayPiece(
  { 0: whole, index }: RegExpExecArray,
  year: string | undefined,
  pairs: readonly (readonly [string | undefined, string | undefined])[],
  time?: string,
): Generator<Piece> {
  const days = pairs
    .filter(([m, d]) => Number(m) >= 1 && Number(m) <= 12 && Number(d) >= 1 && Number(d) <= 31)
    .map(([m = "", d = ""]) => `${m.padStart(2, "0")}-${d.padStart(2, "0")}`);
  if (days.length === 0) return;
  const piece = { at: index, end: index + whole.length, days, year: year?.length === 2 ? `20${year}` : year };
  yield time ? { ...piece, time } : piece;
}

function month(word: string | undefined): string {
  return String(MONTH_OF.get(word ?? "") ?? 0).padStart(2, "0");
}

function clock(hours: string | undefined, minutes = "00", half?: string): string | undefined {
  if (hours === undefined || Number(hours) > 24 || Number(minutes) > 59) return undefined;
  const hour = half === undefined ? Number(hours) : (Number(hours) % 12) + (half === "p" ? 12 : 0);
  return `${String(hour).padStart(2, "0")}:${minutes.padStart(2, "0")}`;
}

function* findTimes(text: string): Generator<Piece> {
  const all = [
    ...[...text.matchAll(CLOCK)].map((match) => ({ match, time: clock(match[1], match[2], match[3]) })),
    ...[...text.matchAll(HOURS)].map((match) => ({ match, time: clock(match[1], match[2] ?? match[3], match[4]) })),
    ...[...text.matchAll(JAPANESE_CLOCK)].map((match) => ({ match, time: japaneseClock(match) })),
  ];
  for (const { match, time } of all) if (time) yield { at: match.index, end: match.index + match[0].length, time };
}

function japaneseClock([, half, hours, minutes, thirty]: RegExpExecArray): string | undefined {
  return clock(hours, thirty === undefined ? minutes : "30", half && (half === "午後" ? "p" : "a"));
}

function* findWeekdays(text: string): Generator<Piece> {
  for (const { 0: whole, 1: word = "", index } of text.matchAll(WEEKDAY)) {
    yield { at: index, end: index + whole.length, weekday: WEEKDAY_OF.get(word) ?? 0 };
  }
  for (const { 0: whole, 1: word = "", index } of text.matchAll(SHORT_DAY)) {
    yield { at: index, end: index + whole.trimEnd().length, weekday: SHORT_DAY_OF.get(word) ?? 0 };
  }
}

/** A date by what it says: a year that the source leaves out is not compared, and neither is a weekday beside a day. */
function dateValue({ at, end, days = [], year, weekday, time }: Piece): FoundValue {
  const hour = time === undefined ? "" : `T${time}`;
  if (days.length === 0) {
    const day = weekday === undefined ? [] : [`date:w${weekday}`];
    const clockForms = time === undefined ? [] : [`date:${time}`];
    if (weekday === undefined || time === undefined)
      return { kind: "date", at, end, asks: [...day, ...clockForms], gives: [...day, ...clockForms] };
    const whole = `date:w${weekday}${hour}`;
    return { kind: "date", at, end, asks: [whole], gives: [whole, ...day, ...clockForms], parts: [day, clockForms] };
  }
  const asked = (suffix: string) =>
    days.flatMap((day) =>
      year ? [`date:${year}-${day}${suffix}`, `date:?${day}${suffix}`] : [`date:~${day}${suffix}`],
    );
  const given = (suffix: string) =>
    days.flatMap((day) => [`date:${year ? `${year}-` : "?"}${day}${suffix}`, `date:~${day}${suffix}`]);
  if (time === undefined) return { kind: "date", at, end, asks: asked(""), gives: given("") };
  const gives = [...given(hour), ...given(""), `date:${time}`];
  return { kind: "date", at, end, asks: asked(hour), gives, parts: [asked(""), [`date:${time}`]] };
}
