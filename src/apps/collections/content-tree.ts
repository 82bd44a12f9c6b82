import { sha256Hex } from "../../shared/base/hash.ts";
import { decodeWide, encodeWide, type WideCharset } from "../text/decode-text.ts";

/**
 * A line of an iCalendar or vCard file as it stands there. Whatever nobody changes is written back byte by byte, also where
 * it holds what this service does not know.
 */
export interface ContentLine {
  /** In upper case, without a group such as `item1.`; empty for what is no line of the format, such as an empty one. */
  readonly name: string;
  /** In lower case; empty for none. */
  readonly group: string;
  /** The whole line, folded, with its end; a character for each byte. */
  readonly raw: string;
  /** True for a line of ours: it gets the line ends of the file. */
  readonly isNew?: true;
}

/** What stands between a BEGIN and its END. */
export interface ContentBlock {
  /** In upper case, e.g. "VEVENT". */
  readonly name: string;
  /** Its first line, as `raw` of a line. */
  readonly begin: string;
  readonly entries: readonly ContentEntry[];
  /** Its last line, as `raw` of a line; empty where that is missing. */
  readonly end: string;
  readonly isNew?: true;
}

type ContentEntry = ContentLine | ContentBlock;

/** A file: blocks, and whatever stands between them. */
export interface ContentFile {
  readonly entries: readonly ContentEntry[];
  /** What of it does not fit the format, in sentences. */
  readonly oddities: readonly string[];
  /** Undefined for the charsets whose bytes are those of ASCII. Lines are in UTF-8 whatever it is. */
  readonly charset?: WideCharset | undefined;
}

const MAX_DEPTH = 8;
const MARK = "\u00ef\u00bb\u00bf";
/** Blank, or signs such as the last one of old file systems. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const EMPTY = /^(?:\u00ef\u00bb\u00bf)?[\s\u0000-\u001f]*$/;

/** Reads the blocks of a file, RFC 5545 or RFC 6350 and their forerunners. Throws an Error for bytes that hold none. */
export function parseContent(bytes: Buffer): ContentFile {
  const oddities: string[] = [];
  const entries: ContentEntry[] = [];
  const open: { readonly name: string; readonly begin: string; readonly entries: ContentEntry[] }[] = [];
  const add = (entry: ContentEntry) => (open.at(-1)?.entries ?? entries).push(entry);
  const close = (end: string) => {
    const block = open.pop();
    if (block === undefined) return;
    if (end === "") oddities.push(`A ${block.name} does not end.`);
    add({ ...block, end });
  };
  const wide = decodeWide(bytes);
  for (const raw of splitLines((wide?.utf8 ?? bytes).toString("latin1"))) {
    const line = toLine(raw);
    if (line.name === "BEGIN") {
      const name = readBlockName(raw);
      while (open.length > 0 && !mayHold(open.at(-1), name)) close("");
      if (open.length === MAX_DEPTH) throw new Error("blocks are nested too deeply");
      open.push({ name, begin: raw, entries: [] });
    } else if (line.name === "END") {
      const name = readBlockName(raw);
      const depth = open.findLastIndex((one) => one.name === name);
      if (depth < 0) oddities.push(`END:${name.slice(0, 40)} ends nothing.`);
      while (depth >= 0 && open.length > depth + 1) close("");
      if (depth < 0) add({ ...line, name: "" });
      else close(raw);
    } else {
      if (line.name === "" && !EMPTY.test(raw)) oddities.push("A line of it cannot be read.");
      else if (open.length === 0 && line.name !== "") oddities.push("A line stands outside of every block.");
      add(line);
    }
  }
  while (open.length > 0) close("");
  if (entries.every((entry) => "raw" in entry)) throw new Error("there is no block in it");
  return { entries, oddities, charset: wide?.charset };
}

/** Whether a block can stand in another one; where it cannot, the END of that one is missing. */
function mayHold(
  outer: { readonly name: string; readonly entries: ContentEntry[] } | undefined,
  name: string,
): boolean {
  if (outer === undefined) return true;
  if (name === "VCALENDAR") return false;
  const last = outer.entries.findLast((entry) => !("raw" in entry) || entry.name !== "");
  // The card of somebody's agent stands in theirs (vCard 2.1).
  if (name === "VCARD") return last !== undefined && "raw" in last && last.name === "AGENT";
  if (/^(?:VEVENT|VTODO|VJOURNAL|VFREEBUSY|VTIMEZONE)$/.test(name))
    return !/^(?:VEVENT|VTODO|VJOURNAL|VFREEBUSY|VTIMEZONE|VALARM|STANDARD|DAYLIGHT)$/.test(outer.name);
  if (/^(?:STANDARD|DAYLIGHT)$/.test(name)) return !/^(?:STANDARD|DAYLIGHT)$/.test(outer.name);
  return name !== "VALARM" || outer.name !== "VALARM";
}

/** Whether the text of a line is quoted-printable, whose own breaks need no space behind them. */
const QUOTED_PRINTABLE = /^[^:]*;(?:ENCODING=)?"?QUOTED-PRINTABLE"?[;:]/i;

/** Lines with those that continue them, each with its end. */
function splitLines(text: string): string[] {
  const starts: number[] = text.startsWith(MARK) ? [0] : [];
  const pattern = /[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$/g;
  pattern.lastIndex = starts.length * MARK.length;
  // Which of them is the last that is not empty, and whether it is quoted-printable and goes on in the next line.
  let [last, isQuoted, goesOn] = [-1, false, false];
  for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
    const [line] = found;
    const isNext = /^[ \t]/.test(line) || (goesOn && !/^(?:BEGIN|END):/i.test(line));
    if (last >= 0 && isNext) starts.length = last + 1;
    else {
      starts.push(found.index);
      if (!EMPTY.test(line)) [last, isQuoted] = [starts.length - 1, QUOTED_PRINTABLE.test(line)];
    }
    goesOn = isQuoted && /=[\r\n]+$/.test(line);
  }
  return starts.map((start, index) => text.slice(start, starts[index + 1]));
}

function toLine(raw: string): ContentLine {
  const [, group = "", name = ""] = /^(?:([A-Za-z0-9_-]+)\.)?([A-Za-z0-9_-]+)(?=[;:])/.exec(unfold(raw)) ?? [];
  return { name: name.toUpperCase(), group: group.toLowerCase(), raw };
}

function readBlockName(raw: string): string {
  return unfold(raw)
    .replace(/^[^:]*:/, "")
    .trim()
    .toUpperCase();
}

function unfold(raw: string): string {
  const line = (raw.startsWith(MARK) ? raw.slice(MARK.length) : raw).replace(/[\r\n]+$/, "");
  const whole = QUOTED_PRINTABLE.test(line) ? line.replaceAll(/=(?:\r\n|\n|\r)/g, "") : line;
  return whole.replaceAll(/[\r\n]+[ \t]/g, "");
}

/** Makes a line of text that is not folded yet. */
export function makeLine(text: string): ContentLine {
  return { ...toLine(`${Buffer.from(fold(text)).toString("latin1")}\r\n`), isNew: true };
}

/** Makes a block. */
export function makeBlock(name: string, entries: readonly ContentEntry[]): ContentBlock {
  return { name, begin: `BEGIN:${name}\r\n`, entries, end: `END:${name}\r\n`, isNew: true };
}

/** At most 75 bytes a line (RFC 5545, section 3.1), and no character cut in two. */
function fold(text: string): string {
  // Quoted-printable has breaks of its own.
  if (text.includes("=\r\n")) return text;
  let folded = "";
  let room = 75;
  for (const character of text) {
    const size = Buffer.byteLength(character);
    if (size > room) {
      folded += "\r\n ";
      room = 74;
    }
    folded += character;
    room -= size;
  }
  return folded;
}

/** Inverse of {@link parseContent}. */
export function writeContent({ entries, charset }: Pick<ContentFile, "entries" | "charset">): Buffer {
  const first = entries.find((entry) => "begin" in entry && !entry.isNew);
  const end = (first && "begin" in first && /[\r\n]+$/.exec(first.begin)?.[0]) || "\r\n";
  const write = (entry: ContentEntry): string => {
    const own = (raw: string) => (entry.isNew ? raw.replaceAll("\r\n", end) : raw);
    return "raw" in entry ? own(entry.raw) : `${own(entry.begin)}${entry.entries.map(write).join("")}${own(entry.end)}`;
  };
  const bytes = Buffer.from(entries.map(write).join(""), "latin1");
  return charset === undefined ? bytes : encodeWide(bytes, charset);
}

/** The line without folds, after its group; a character for each byte. */
export function readLineText({ raw, group }: ContentLine): string {
  const text = unfold(raw);
  return group === "" ? text : text.slice(group.length + 1);
}

/** The lines of a block with this name. */
export function listLines({ entries }: Pick<ContentBlock, "entries">, name: string): ContentLine[] {
  return entries.filter((entry): entry is ContentLine => "raw" in entry && entry.name === name);
}

/** The blocks in a block or file with this name. */
export function listBlocks({ entries }: Pick<ContentBlock, "entries">, name: string): ContentBlock[] {
  return entries.filter((entry): entry is ContentBlock => !("raw" in entry) && entry.name === name);
}

/**
 * The block with `lines` for those that are `old`: one that stays keeps its place, the others stand where the last old one
 * stood, or else at the end of its lines.
 */
export function replaceLines(
  block: ContentBlock,
  old: readonly ContentLine[],
  lines: readonly ContentLine[],
  name = old[0]?.name ?? lines[0]?.name,
): ContentBlock {
  const isOld = (entry: ContentEntry) => "raw" in entry && old.includes(entry);
  const places = [
    block.entries.findLastIndex(isOld),
    block.entries.findLastIndex((entry) => "raw" in entry && entry.name === name),
    block.entries.findLastIndex((entry) => "raw" in entry && entry.name !== ""),
  ];
  const at = places.find((place) => place >= 0) ?? -1;
  const added = lines.filter((line) => !old.includes(line));
  const keep = (entry: ContentEntry) => !isOld(entry) || lines.includes(entry as ContentLine);
  const [before, after] = [block.entries.slice(0, at + 1), block.entries.slice(at + 1)];
  return { ...block, entries: [...before.filter(keep), ...added, ...after.filter(keep)] };
}

/** The blocks of a file, at any depth, with `blocks` for `old`: none takes it away, several follow each other. */
export function replaceBlock<Holder extends Pick<ContentBlock, "entries">>(
  holder: Holder,
  old: ContentBlock,
  blocks: readonly ContentBlock[],
): Holder {
  const entries = holder.entries.flatMap((entry): readonly ContentEntry[] => {
    if (entry === old) return blocks;
    return "raw" in entry ? [entry] : [replaceBlock(entry, old, blocks)];
  });
  const isSame = entries.length === holder.entries.length && entries.every((one, i) => one === holder.entries[i]);
  return isSame ? holder : { ...holder, entries };
}

/** A name for a block that has no id of its own: it stays the same while the block does. */
export function markBlock(block: ContentBlock): string {
  return `~${sha256Hex(writeContent({ entries: [block] })).slice(0, 16)}`;
}
