/** What TypeScript's library does not know yet of JSON; engines that lack it give none of it. */
interface ExactJson {
  readonly rawJSON?: (text: string) => unknown;
  parse(text: string, reviver: (key: string, value: unknown, context?: { source?: string }) => unknown): unknown;
}
const json: ExactJson = JSON;

/**
 * A number of JSON that a double would change, as it was written: `String(number)` gives its digits, and `JSON.stringify`
 * writes them.
 */
export class ExactNumber {
  readonly text: string;

  /** For {@link ExactNumber.read} alone. */
  constructor(text: string) {
    this.text = text;
    Object.freeze(this);
  }

  /** The same value as a plain number, or this where a plain one would change it. Takes the text of one JSON number. */
  static read(text: string): number | ExactNumber {
    const double = Number(text);
    return isKept(text, double) ? double : new ExactNumber(text);
  }

  toString(): string {
    return this.text;
  }

  toJSON(): unknown {
    return ExactNumber.write(this.text);
  }

  /** What a replacer of `JSON.stringify` gives for a number's text. */
  static write(text: string): unknown {
    return json.rawJSON?.(text) ?? text;
  }
}

/** What each number has that a double may change, if its exponent is not large; found many times faster than the next. */
const HOLDS_DIGITS = new RegExp(`\\d${"\\.?\\d".repeat(10)}[\\d.eE+-]{4}`);
/** What may be such a number, outside and rarely inside of a text. */
const MAY_BE_LONG = /(?<=^|[\s,:[-])\d[\d.eE+-]{15,}(?:[\s,\]}]|$)/;
const MAY_BE_LARGE = /\d[eE][-+]?\d{3,}(?:[\s,\]}]|$)/;
/** Of a shorter text nothing is lost, if its exponent is not large. */
const SHORTEST = 5;

function mayLoseDigits(text: string): boolean {
  return (HOLDS_DIGITS.test(text) && MAY_BE_LONG.test(text)) || MAY_BE_LARGE.test(text);
}

/** True for a text with an escape in a name of an object. */
function escapesName(text: string): boolean {
  const endsName = /[^"\\]*"\s*:/y;
  for (let at = text.indexOf("\\"); at !== -1; at = text.indexOf("\\", at + 2)) {
    endsName.lastIndex = at + 2;
    if (endsName.test(text)) return true;
  }
  return false;
}

/**
 * `JSON.parse` that keeps all digits: a number that a double would change, and each integer beyond 2^53 whose digits a
 * double prints, is an {@link ExactNumber}. A name with an escape is itself, also on an engine that reads it as an
 * earlier object's name (nodejs/node#63785).
 *
 * @throws SyntaxError
 */
export function parseExactly(text: string): unknown {
  if (escapesName(text)) return unmarkJson(JSON.parse(markTokens(text)));
  if (!mayLoseDigits(text)) return JSON.parse(text);
  return json.parse(text, (_key, value, context) => {
    const { source = "" } = context ?? {};
    return typeof value === "number" && source.length >= SHORTEST ? ExactNumber.read(source) : value;
  });
}

/** True for an integer that may stand for others: it was read as a double, and a double has no more digits. */
export function isInexact(value: unknown): value is number {
  // ECMAScript writes larger ones with an exponent, as nobody writes an id.
  return Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(Number(value)) < 1e21;
}

/** A copy with plain numbers, for what compares and does not send; the value itself where it has no others. */
export function toDoubles(value: unknown): unknown {
  return replaceLeaves(value, (leaf) => (leaf instanceof ExactNumber ? Number(leaf.text) : leaf));
}

/** Begins a text that stands for a number or a name; nobody outside of this process knows it. */
const MARK = `${globalThis.crypto.randomUUID()}:`;
/** Texts, also one without an end, and numbers, with the colon that makes a name of a text. */
const TOKENS = /("[^"\\]*(?:\\[\s\S][^"\\]*)*(?:"|\\?$)|-?\d[\d.eE+-]*)(\s*:)?/g;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;

/** JSON in which texts stand for what {@link parseExactly} keeps, for a library that parses by itself. */
export function markJson(text: string): string {
  return escapesName(text) || mayLoseDigits(text) ? markTokens(text) : text;
}

function markTokens(text: string): string {
  return text.replaceAll(TOKENS, (whole, token: string, colon: string | undefined) => {
    if (token.startsWith('"')) return colon !== undefined && token.includes("\\") ? markName(token) + colon : whole;
    const isKept = colon !== undefined || !NUMBER.test(token) || typeof ExactNumber.read(token) === "number";
    return isKept ? whole : JSON.stringify(MARK + token);
  });
}

/** A malformed one stays as it is, to be refused. */
function markName(token: string): string {
  try {
    // A text alone is read right on each engine.
    return JSON.stringify(MARK + encodeName(JSON.parse(token)));
  } catch {
    return token;
  }
}

/** Letters that need no escape, for any text. */
function encodeName(name: string): string {
  return Array.from({ length: name.length }, (_, at) => name.charCodeAt(at).toString(36)).join(".");
}

function decodeName(name: string): string {
  if (!name.startsWith(MARK)) return name;
  const units = name.slice(MARK.length).split(".");
  return units.map((unit) => String.fromCharCode(Number.parseInt(unit, 36))).join("");
}

/** The value with its numbers and names, of what {@link markJson} gave. */
export function unmarkJson(value: unknown): unknown {
  return replaceLeaves(
    value,
    (leaf) => (typeof leaf === "string" && leaf.startsWith(MARK) ? ExactNumber.read(leaf.slice(MARK.length)) : leaf),
    decodeName,
  );
}

/** True for a value with such an integer in it. */
export function holdsInexact(value: unknown): boolean {
  return typeof value === "object" && value !== null ? Object.values(value).some(holdsInexact) : isInexact(value);
}

/** A copy with other leaves and names; the value itself where none changes. */
function replaceLeaves(
  value: unknown,
  change: (leaf: unknown) => unknown,
  rename: (name: string) => string = (name) => name,
): unknown {
  if (typeof value !== "object" || value === null || value instanceof ExactNumber) return change(value);
  if (Array.isArray(value)) {
    const items = value.map((item) => replaceLeaves(item, change, rename));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  let isChanged = false;
  const members = Object.entries(value).map(([name, part]) => {
    const now = [rename(name), replaceLeaves(part, change, rename)] as const;
    isChanged ||= now[0] !== name || now[1] !== part;
    return now;
  });
  return isChanged ? Object.fromEntries(members) : value;
}

function isKept(text: string, double: number): boolean {
  return !isInexact(double) && writeDigits(text) === writeDigits(String(double));
}

/** The value of a number's text in one form: its digits without zeros around them, and the place of the last one. */
function writeDigits(text: string): string {
  const [, sign = "", whole = "", part = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(text) ?? [];
  const digits = (whole + part).replace(/^0+/, "");
  let end = digits.length;
  while (digits[end - 1] === "0") end -= 1;
  const short = digits.slice(0, end);
  if (short === "") return whole === "" ? text : "0";
  return `${sign}${short}e${Number(exponent) - part.length + digits.length - short.length}`;
}
