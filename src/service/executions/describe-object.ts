import { hideCredential, toWords } from "../../shared/base/credential-name.ts";
import { ExactNumber } from "../../shared/base/exact-number.ts";
import { isRecord, parseJson } from "../../shared/base/json.ts";
import { EXACT, toPlainText } from "../../shared/card/plain-text.ts";

/** Names of arguments that tell one call from another, the best first; in the form of `toWords`. */
const WHAT: readonly RegExp[] = [
  /^(?:subject|title|summary)$/,
  /^(?:(?:file_?)?name|(?:file_|page_|folder_)?path|file)$/,
  /(?:^|_)(?:title|subject|name|path)$/,
  /^(?:query|q|search|search_query|term)$/,
  /(?:^|_)(?:url|uri|link)$/,
  /^(?:text|message|content|description|command|sql)$/,
];
/** Names of those that say to whom, or in which place. */
const WHERE: readonly RegExp[] = [
  /^period$/,
  /^(?:to|recipients?|to_recipients|email)$/,
  /(?:^|_)(?:channel|chat|room|conversation)(?:_id|_name)?$/,
  /^(?:to_|target_|new_)?(?:folder|directory|parent|path)$/,
  /^(?:repo|repository|project|calendar|database|list|board)(?:_id|_name)?$/,
];
/** Where neither is there: any short value, but best one that names something. */
const ANY: readonly RegExp[] = [/(?:^|_)(?:id|ids|key|number)$/, /./];

/** Names of those that only say how something is listed. */
const HOW =
  /^(?:sort|order|direction|format|fields?|include|lang|language|locale|cursor|time_?zone)(?:_|$)|(?:_by|cursor)$/;
/** Numbers that name something. */
const NUMBER = /(?:^|_)(?:id|number|no|index|row)$/;

/** A part of an address that may be a key, as in those of webhooks. */
const KEY = /(?=[\w:-]*\d)[\w:-]{20,}/g;

/** Longest description of one argument, in characters. */
const MAX_PART = 80;
/** Most entries of a list that are named. */
const MAX_NAMED = 2;
const NAMES_OF_THINGS = ["name", "title", "address", "email", "subject", "path"];

interface Argument {
  readonly words: string;
  readonly text: string;
}

/**
 * The thing that a call is about, in one line of at most some 160 characters, such as `The quote · ana@example.org`: taken
 * from arguments whose names say that they name something. Undefined when there is none. Values under the name of a
 * credential are left out, and addresses are shown without their query, and without parts that may be keys.
 */
export function describeObject(args: unknown): string | undefined {
  const all = listArguments(args);
  const what = find(all, WHAT);
  const where = find(
    all.filter((one) => one !== what),
    WHERE,
  );
  const found = [what ?? (where === undefined ? find(all, ANY) : undefined), where];
  const parts = found.flatMap((one) => (one === undefined ? [] : [one.text]));
  return parts.length === 0 ? undefined : parts.join(" · ");
}

function find(all: readonly Argument[], names: readonly RegExp[]): Argument | undefined {
  for (const name of names) {
    const found = all.find(({ words }) => name.test(words));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Those that can be named, the outer ones first; tools of APIs put theirs into a `body`. */
function listArguments(args: unknown): Argument[] {
  if (!isRecord(args)) return [];
  const outer = Object.entries(joinPeriod(args));
  const inner = outer.flatMap(([, value]) => (isRecord(value) ? Object.entries(value) : []));
  return [...outer, ...inner].flatMap(([name, value]) => {
    const words = toWords(name);
    const isNothing = HOW.test(words) || (typeof value === "number" && !NUMBER.test(words));
    const text = isNothing || hideCredential(name, value) !== value ? undefined : nameValue(value);
    return text === undefined ? [] : [{ words, text }];
  });
}

const TIME = /^\d{4}-\d\d-\d\d/;

/** With the two ends of a period as one argument: where `to` is a time, it is no receiver. */
function joinPeriod(args: Record<string, unknown>): Record<string, unknown> {
  const { from, to, ...others } = args;
  const isPeriod = typeof from === "string" && typeof to === "string" && TIME.test(from) && TIME.test(to);
  return isPeriod ? { ...others, period: `${from} to ${to}` } : args;
}

/** A value in a few words; undefined for one that is hidden, or names nothing. */
function nameValue(value: unknown): string | undefined {
  if (value === "[hidden]") return undefined;
  if (typeof value === "number" || value instanceof ExactNumber) return String(value);
  if (typeof value === "string") return nameText(value);
  if (Array.isArray(value)) return nameList(value);
  if (!isRecord(value)) return undefined;
  const name = NAMES_OF_THINGS.map((key) => value[key]).find((one) => typeof one === "string" && one !== "");
  return typeof name === "string" ? nameText(name) : undefined;
}

function nameText(whole: string): string | undefined {
  const text = whole.slice(0, 4 * MAX_PART);
  const url = /^https?:\/\//i.test(text) ? URL.parse(text) : null;
  const line = url === null ? text.replaceAll(/\s+/gu, " ").trim() : url.host + url.pathname.replaceAll(KEY, "…");
  return line === "" ? undefined : toPlainText(line, { ...EXACT, max: MAX_PART });
}

function nameList(values: readonly unknown[]): string | undefined {
  const named = values.slice(0, MAX_NAMED).flatMap((value) => nameValue(value) ?? []);
  if (named.length === 0) return undefined;
  const more = values.length - named.length;
  return `${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/**
 * Arguments of which only the beginning of their JSON is at hand: the members that are there whole; none when that is
 * unreadable.
 */
export function parseBeginning(json: string): unknown {
  const whole = parseJson(json);
  if (whole !== undefined) return whole;
  const ends = [...listMemberEnds(json)];
  const end = ends.at(-1);
  return end === undefined ? undefined : parseJson(`${json.slice(0, end)}}`);
}

/** Places of the commas between the members of an object. */
function* listMemberEnds(json: string): Generator<number> {
  let depth = 0;
  for (const { 0: token, index } of json.matchAll(/"(?:[^"\\]|\\.)*"?|[{}[\],]/g)) {
    if (token === "{" || token === "[") depth += 1;
    else if (token === "}" || token === "]") depth -= 1;
    else if (token === "," && depth === 1) yield index;
  }
}
