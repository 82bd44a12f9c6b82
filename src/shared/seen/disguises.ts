import { decodeEntities } from "./entities.ts";

/** Bounds of what is read besides a text itself. */
const LONGEST = 200_000;
const MOST_DECODED = 200;
const MOST_JOINTS = 2000;

/**
 * Other ways in which a text can be read: decoded where it holds percent signs, entities, tags or base64, with what direction
 * marks turn around, with lines joined, backwards, and spelled out. Of these only `words` are read as sentences.
 */
export interface Reading {
  readonly text: string;
  /** False: only addresses, hosts and links are looked for, since the rest is torn. */
  readonly words: boolean;
}

/** All other readings of a raw text, in two steps: what was decoded may be disguised again. */
export function readDisguised(raw: string): Reading[] {
  const text = raw.length > LONGEST ? raw.slice(0, LONGEST) : raw;
  const first = readOnce(text);
  const seen = new Set([text, ...first.map((reading) => reading.text)]);
  const second = first
    .filter((reading) => reading.words || reading.text.length < 2000)
    .flatMap((reading) => readOnce(reading.text).map((again) => ({ ...again, words: again.words && reading.words })))
    .filter((reading) => !seen.has(reading.text) && seen.add(reading.text));
  return [...first, ...second];
}

function readOnce(text: string): Reading[] {
  const torn = [joinLines, turnBack, spellOut, joinSpaced].map((read) => ({ text: read(text), words: false }));
  const whole = [decodePercent, readEntities, stripTags, turnMarked].map((read) => ({ text: read(text), words: true }));
  const decoded = decodeBase64Runs(text).map((run) => ({ text: run.decoded, words: true }));
  return [...whole, ...decoded, ...torn].filter((reading) => reading.text !== "" && reading.text !== text);
}

/** Percent-encoded bytes as their text; those that are none stay. */
export function decodePercent(text: string): string {
  if (!text.includes("%")) return text;
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => {
    const decoded = Buffer.from(run.replaceAll("%", ""), "hex").toString("utf8");
    return decoded.includes("\ufffd") ? run : decoded;
  });
}

function readEntities(text: string): string {
  return text.includes("&") ? decodeEntities(text) : "";
}

function stripTags(text: string): string {
  return /<[a-z/!]/i.test(text) ? text.replace(/<[a-z/!][^<>]{0,2000}>/gi, "") : "";
}

/** What a reader sees where direction marks turn letters around. */
function turnMarked(text: string): string {
  if (!/[\u202e\u202d\u2067\u202b]/.test(text)) return "";
  return text.replace(
    /[\u202e\u202d\u2067\u202b]([^\u202a-\u202e\u2066-\u2069]{1,500})[\u202c\u2069]?/g,
    (_, inner: string) => [...inner].reverse().join(""),
  );
}

/** What stands on both sides of each line break as one, then the whole without line breaks. */
function joinLines(text: string): string {
  if (!text.includes("\n")) return "";
  const joints: string[] = [];
  for (const { 1: before, 2: after } of text.matchAll(
    /(?<=([^\s<>"]{1,200}))[ \t]{0,20}\r?\n[ \t>]{0,20}([^\s<>"]{1,200})/g,
  )) {
    joints.push(`${before}${after}`);
    if (joints.length >= MOST_JOINTS) break;
  }
  return `${joints.join("\n")}\n${text.replace(/[ \t]{0,20}\r?\n[ \t>]{0,20}/g, "")}`;
}

function turnBack(text: string): string {
  return /[@:/.]/.test(text) ? [...text].reverse().join("") : "";
}

const AT =
  /\s{0,3}(?:[[({<]\s?(?:at|ät|arobase|a)\s?[\])}>]|\s(?:at|ät|arobase|chez|アットマーク|アット)\s|アットマーク|アット)\s{0,3}/giu;
const DOT = /\s{0,3}(?:[[({<]\s?(?:dot|punkt|point|\.)\s?[\])}>]|\s(?:dot|punkt|point|ドット)\s|ドット)\s{0,3}/giu;

/** `anna at berg dot example` with its signs. */
function spellOut(text: string): string {
  const dashed = text.replace(/\s(?:minus|dash|hyphen|bindestrich|tiret)\s/giu, "-");
  const signed = dashed.replace(DOT, ".").replace(AT, "@");
  return signed === dashed ? "" : signed;
}

/** `a n n a @ b` without its blanks. */
function joinSpaced(text: string): string {
  if (!/(?:\S[ \u00a0]){5}/.test(text)) return "";
  return text.replace(/(?<![^\s(<"'])(?:\S[ \u00a0]){5,400}\S(?![^\s.,;:!?)>"'])/g, (run) => run.replaceAll(/\s/g, ""));
}

/** A run of base64 in a text, and what it says. */
export interface Base64Run {
  readonly run: string;
  readonly at: number;
  readonly decoded: string;
}

/** Runs of base64 that hold readable text. */
export function decodeBase64Runs(text: string): Base64Run[] {
  const runs: Base64Run[] = [];
  for (const { 0: run, index } of text.matchAll(/[A-Za-z0-9+/_-]{6,}={0,2}/g)) {
    if (runs.length >= MOST_DECODED) break;
    if (run.length < 12 && !run.endsWith("=")) continue;
    const decoded = Buffer.from(run, "base64").toString("utf8");
    if (isReadable(decoded)) runs.push({ run, at: index, decoded });
  }
  return runs;
}

function isReadable(text: string): boolean {
  if (text.length < 3 || text.includes("\ufffd") || /[^\P{C}\n\r\t\p{Cf}]/u.test(text)) return false;
  const common = text.match(/[\x20-\x7e\n\r\t]|\p{L}/gu)?.length ?? 0;
  return common >= text.length * 0.8;
}
