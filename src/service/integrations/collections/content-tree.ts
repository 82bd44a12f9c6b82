/**
 * One line of an iCalendar or vCard file, as it stood there: a line that nobody changes is written back as it was, also where
 * it holds what this service does not know.
 */
export interface ContentLine {
  /** In upper case, without a group such as `item1.`. */
  readonly name: string;
  /** In lower case; empty for none. */
  readonly group: string;
  /** The whole line, folded as it was, without its end. */
  readonly raw: string;
}

/** What stands between a BEGIN and its END. */
export interface ContentBlock {
  /** In upper case, e.g. "VEVENT". */
  readonly name: string;
  readonly entries: readonly (ContentLine | ContentBlock)[];
}

const MAX_DEPTH = 8;

/** Reads the blocks of a file, RFC 5545 or RFC 6350. Throws an Error for text that is none. */
export function parseContent(text: string): ContentBlock[] {
  const roots: ContentBlock[] = [];
  const open: { name: string; entries: (ContentLine | ContentBlock)[] }[] = [];
  for (const raw of splitLines(text)) {
    const line = toLine(raw);
    const top = open.at(-1);
    if (line.name === "BEGIN") {
      const block = { name: readName(raw), entries: [] };
      if (open.length === MAX_DEPTH) throw new Error("blocks are nested too deeply");
      (top?.entries ?? roots).push(block);
      open.push(block);
    } else if (line.name === "END") {
      if (open.pop()?.name !== readName(raw)) throw new Error(`END:${readName(raw).slice(0, 40)} ends nothing`);
    } else if (top !== undefined) top.entries.push(line);
    else throw new Error("a line stands outside of every block");
  }
  if (open.length > 0) throw new Error(`${open[0]?.name} does not end`);
  return roots;
}

/** Lines with those that continue them. */
function splitLines(text: string): string[] {
  const lines = text.replace(/^\uFEFF/, "").split(/\r\n|\n|\r(?!\n)/);
  const whole: string[] = [];
  for (const line of lines) {
    if (/^[ \t]/.test(line) && whole.length > 0) whole[whole.length - 1] += `\r\n${line}`;
    else if (line.trim() !== "") whole.push(line);
  }
  return whole;
}

function toLine(raw: string): ContentLine {
  const [, group = "", name = ""] = /^(?:([A-Za-z0-9-]+)\.)?([A-Za-z0-9-]+)(?=[;:])/.exec(unfold(raw)) ?? [];
  return { name: name.toUpperCase(), group: group.toLowerCase(), raw };
}

function readName(raw: string): string {
  return unfold(raw)
    .replace(/^[^:]*:/, "")
    .trim()
    .toUpperCase();
}

function unfold(raw: string): string {
  return raw.replaceAll(/\r\n[ \t]/g, "");
}

/** Makes a line of text that is not folded yet. */
export function makeLine(text: string): ContentLine {
  return toLine(fold(text));
}

/** At most 75 bytes a line (RFC 5545, section 3.1), and no character cut in two. */
function fold(text: string): string {
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
export function writeContent(blocks: readonly ContentBlock[]): string {
  return blocks.map(writeBlock).join("");
}

function writeBlock({ name, entries }: ContentBlock): string {
  const inner = entries.map((entry) => ("raw" in entry ? `${entry.raw}\r\n` : writeBlock(entry)));
  return `BEGIN:${name}\r\n${inner.join("")}END:${name}\r\n`;
}

/** The line without folds, after its group. */
export function readLineText({ raw, group }: ContentLine): string {
  const text = unfold(raw);
  return group === "" ? text : text.slice(group.length + 1);
}

/** The lines of a block with this name. */
export function listLines({ entries }: ContentBlock, name: string): ContentLine[] {
  return entries.filter((entry): entry is ContentLine => "raw" in entry && entry.name === name);
}

/** The blocks in a block with this name. */
export function listBlocks({ entries }: ContentBlock, name: string): ContentBlock[] {
  return entries.filter((entry): entry is ContentBlock => !("raw" in entry) && entry.name === name);
}

/** The block with other lines of this name, which stand where the first of the old ones stood, or else at the end of its lines. */
export function replaceLines(block: ContentBlock, name: string, lines: readonly ContentLine[]): ContentBlock {
  const isOld = (entry: ContentLine | ContentBlock) => "raw" in entry && entry.name === name;
  const place = block.entries.findIndex(isOld);
  const lastLine = block.entries.findLastIndex((entry) => "raw" in entry);
  const at = place >= 0 ? place : lastLine + 1;
  const before = block.entries.slice(0, at);
  const after = block.entries.slice(at).filter((entry) => !isOld(entry));
  return { name: block.name, entries: [...before, ...lines, ...after] };
}
