import { createTextBlocks, type NewBlock, type ReadPart } from "./new-block.ts";

const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])([ \t]+|$)(.*)$/;
const TASK = /^\[([ xX])\](?:[ \t]+|$)/;

/** What does not go on with the paragraph of an item although it is not indented. */
const BEGINNING = /^ {0,3}(?:[-*+>#|]|\d{1,9}[.)]|`{3}|~{3}|<!--|\$\$)/;

/** Reads one list; each item takes the lines that are indented as far as its text, whatever they hold. */
export function readList(
  lines: readonly string[],
  start: number,
  read: (lines: readonly string[]) => NewBlock[],
): ReadPart {
  const blocks: NewBlock[] = [];
  let at = start;
  for (let item = ITEM.exec(lines[at] ?? ""); item !== null; item = ITEM.exec(lines[at] ?? "")) {
    const [, indent = "", mark = "", gap = "", text = ""] = item;
    const width = indent.length + mark.length + Math.min(Math.max(gap.length, 1), 4);
    const own: string[] = [text];
    at += 1;
    for (let next = findOwn(lines, at, width); next !== undefined; next = findOwn(lines, at, width)) {
      while (at < next) {
        own.push((lines[at] ?? "").replaceAll("\t", "    ").replace(new RegExp(`^ {0,${width}}`), ""));
        at += 1;
      }
    }
    blocks.push(...createItem(mark, own, read));
    at = skipBlank(lines, at);
    if (/^ {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$/.test(lines[at] ?? "")) break;
  }
  return { blocks, next: at };
}

/** Up to where the next lines belong to an item: they are indented, or go on with its paragraph. */
function findOwn(lines: readonly string[], at: number, width: number): number | undefined {
  if (at >= lines.length) return undefined;
  const next = skipBlank(lines, at);
  const indent = (lines[next] ?? "").replaceAll("\t", "    ").search(/\S/);
  if (next > at) return indent >= width ? next : undefined;
  // Two spaces are what many people indent a list below a number by.
  if (indent >= Math.min(width, 2)) return at + 1;
  const isLazy = lines[at - 1]?.trim() !== "" && !BEGINNING.test(lines[at] ?? "");
  return isLazy ? at + 1 : undefined;
}

function skipBlank(lines: readonly string[], at: number): number {
  let next = at;
  while (next < lines.length && lines[next]?.trim() === "") next += 1;
  return next;
}

function createItem(mark: string, own: readonly string[], read: (lines: readonly string[]) => NewBlock[]): NewBlock[] {
  const [, tick] = TASK.exec(own[0] ?? "") ?? [];
  const [first = "", ...others] = own;
  const [head, ...rest] = read(tick === undefined ? own : [first.replace(TASK, ""), ...others]);
  const kind = tick !== undefined ? "to_do" : /\d/.test(mark) ? "numbered_list_item" : "bulleted_list_item";
  const data = tick === undefined ? {} : { checked: tick !== " " };
  if (head?.type === "paragraph") return [{ type: kind, data: { ...head.data, ...data }, children: rest }];
  return createTextBlocks(kind, [], { data, children: head === undefined ? rest : [head, ...rest] });
}
