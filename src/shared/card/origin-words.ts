import { cutText } from "../base/text.ts";
import type { Origin, OriginSource } from "../wire/origin.ts";
import { drawName, drawText } from "./card-text.ts";

/**
 * What a judgement looked at: `all` the service knows of the owner's data; `partial`, some of it could not be read; `session`,
 * only what this session's tools answered.
 */
export type OriginScope = "all" | "partial" | "session";

/** Longest value and longest name of a source, in characters: whole ones stand among the arguments. */
const MAX_VALUE = 100;
const MAX_NAME = 60;

/** Kinds whose values say by themselves what they are. */
const PLAIN_KINDS = new Set(["address", "host", "link"]);

/** A value, with the argument it stands in where the value does not tell; in quotes where it could be taken for more. */
export function drawOriginValue({ argument, kind, value }: Origin, also?: RegExp): string {
  const shown = cutMiddle(value, MAX_VALUE);
  const isToken = /^[^\s,;:"'()]+$/.test(shown) || (PLAIN_KINDS.has(kind) && /^[^\s,;"'()]+[^\s,;:"'()]$/.test(shown));
  const text = isToken ? drawText(shown, also) : quote(shown, also);
  return PLAIN_KINDS.has(kind) ? text : `${text} ${drawPlace(argument, also)}`;
}

/** The argument that a value stands in, behind it. */
export function drawPlace(argument: string, also?: RegExp): string {
  return `(${drawName(cutMiddle(argument, MAX_NAME), also)})`;
}

/** Where a value comes from, in words that follow it. Everything from outside stands in quotes. */
export function describeOrigin(origin: Origin, scope: OriginScope = "all", also?: RegExp): string {
  if (origin.origin === "you") return "typed by you, as this device says";
  if (origin.origin === "yours") return describeOwn(origin.source, also);
  const from = origin.origin === "unseen" ? sayUnseen(scope) : sayBrought(origin, scope, also);
  const alike = origin.looks_like === undefined ? [] : [sayAlike(origin.value, origin.looks_like, also)];
  return [...alike, from, ...(hasNeverWritten(origin, scope) ? ["you have never written to it"] : [])].join("; ");
}

function sayUnseen(scope: OriginScope): string {
  if (scope === "all") return "not seen before";
  return scope === "partial"
    ? "not found; not everything could be looked at"
    : "not in what tools answered in this session; your own data was not looked at";
}

function sayBrought({ kind, source }: Origin, scope: OriginScope, also?: RegExp): string {
  const where = describeSource(source, also);
  if (kind === "text") return `as in ${where}`;
  return scope === "session" ? `from ${where}` : `first seen in ${where}`;
}

/** Only a service that has looked at the mail an owner sent can say so. */
function hasNeverWritten({ kind, origin, sink, source }: Origin, scope: OriginScope): boolean {
  return kind === "address" && origin === "somebody" && sink && scope === "all" && source?.app === "mail";
}

/** Letters that only look like others are named: both texts may be drawn alike. */
function sayAlike(value: string, known: string, also?: RegExp): string {
  const foreign = [...new Set(value)].filter((letter) => letter > "\x7f" && !known.includes(letter)).slice(0, 3);
  const named = foreign.map(
    (letter) => `U+${(letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`,
  );
  const inside = named.length === 0 ? "" : `, but holds ${named.join(", ")}`;
  return `looks like ${quoteUnlessToken(known, also)}${inside}`;
}

const SOURCES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    mail: "a mail",
    "quoted mail": "a quoted mail",
    attachment: "an attachment",
    invitation: "an invitation",
    event: "an event",
    feed: "a feed",
    page: "a page",
    contact: "a contact",
    note: "a note",
    file: "a file",
    answer: "an answer",
  }),
);

/** A source with who wrote it, else its title or its app, and its day. */
function describeSource(source: OriginSource | undefined, also?: RegExp): string {
  if (source === undefined) return "an answer of a tool";
  const { app, by = "", title = "", kind } = source;
  const what = SOURCES.get(kind) ?? `a source of the kind ${quoteName(kind, also)}`;
  const who =
    by !== ""
      ? ` ${kind === "answer" ? "of" : "by"} ${quoteName(by, also)}`
      : title !== ""
        ? ` ${quoteName(title, also)}`
        : "";
  const isTelling = who !== "" || app === "" || (SOURCES.has(kind) && kind !== "answer");
  const named = isTelling ? who : ` of ${quoteName(app, also)}`;
  return `${what}${named}${sayDay(source.at)}`;
}

const OWN_SOURCES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    contact: "in your contacts",
    event: "in an event of yours",
    note: "in a note of yours",
    page: "in a page of yours",
    file: "in a file of yours",
    mail: "in mail that you sent",
    "sent mail": "in mail that you sent",
    address: "your own address",
  }),
);

function describeOwn(source: OriginSource | undefined, also?: RegExp): string {
  const { kind = "", title = "" } = source ?? {};
  const where = OWN_SOURCES.get(kind) ?? "in data of yours";
  return title === "" || kind === "address" ? where : `${where}, ${quoteName(title, also)}`;
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** The day as it is written, with no clock of ours; empty for any other text. */
function sayDay(at: string | undefined): string {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)(?:T|$)/.exec(at ?? "") ?? [];
  const name = MONTHS[Number(month) - 1];
  return name === undefined ? "" : ` of ${Number(day)} ${name} ${year}`;
}

function quoteUnlessToken(text: string, also?: RegExp): string {
  const shown = cutMiddle(text, MAX_NAME);
  return /^[^\s,;:"'()]+$/.test(shown) ? drawText(shown, also) : quote(shown, also);
}

function quoteName(text: string, also?: RegExp): string {
  return quote(cutMiddle(text, MAX_NAME), also);
}

function quote(text: string, also?: RegExp): string {
  return drawText(JSON.stringify(text), also);
}

/** The end of an address, and the begin of a link, say whose it is. */
function cutMiddle(text: string, max: number): string {
  if (text.length <= max) return text;
  const half = Math.floor((max - 1) / 2);
  return `${cutText(text, half)}…${text.slice(-half).replace(/^[\udc00-\udfff]/, "")}`;
}
