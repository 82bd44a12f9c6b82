/** The words of one simple command, or why the text is not one. */
export type ShellWords =
  | { readonly ok: true; readonly words: readonly string[] }
  | { readonly ok: false; readonly reason: string };

// Operators, globs, expansions and comments; each would make a shell do more than pass words on.
const SPECIAL = new Set(";&|<>(){}[]*!~^#$`\n");
const ESCAPED_IN_DOUBLE = new Set('"\\$`');

/**
 * Splits a command the way a POSIX shell would, for the narrow case of plain words and quotes. Everything that a shell
 * would expand, chain or redirect is refused, so a difference to a real shell can only lead to a refusal. Nothing here
 * is ever given to a shell.
 */
export function splitShellWords(command: string): ShellWords {
  const text = command.replaceAll("\r\n", "\n");
  if (/(?![\t\n])\p{Cc}/u.test(text)) return { ok: false, reason: "it holds control characters" };
  const words: string[] = [];
  let word: string | undefined;
  let at = 0;
  while (at < text.length) {
    const char = text.charAt(at);
    if (char === " " || char === "\t") {
      if (word !== undefined) words.push(word);
      word = undefined;
      at += 1;
      continue;
    }
    const piece = readPiece(text, at);
    if (typeof piece === "string") return { ok: false, reason: piece };
    if (piece.value !== undefined) word = (word ?? "") + piece.value;
    at = piece.end;
  }
  if (word !== undefined) words.push(word);
  return { ok: true, words };
}

/** A piece of a word; `value` is undefined for a continued line, which adds nothing and ends nothing. */
interface Piece {
  readonly value: string | undefined;
  readonly end: number;
}

function readPiece(text: string, at: number): Piece | string {
  const char = text.charAt(at);
  if (char === "'") return readSingleQuoted(text, at);
  if (char === '"') return readDoubleQuoted(text, at);
  if (char === "\\") {
    const next = text.charAt(at + 1);
    if (next === "") return "it ends in a backslash";
    return { value: next === "\n" ? undefined : next, end: at + 2 };
  }
  if (SPECIAL.has(char)) return `it uses ${char === "\n" ? "a second line" : char} outside quotes`;
  return { value: char, end: at + 1 };
}

function readSingleQuoted(text: string, at: number): Piece | string {
  const end = text.indexOf("'", at + 1);
  if (end === -1) return "a quote is not closed";
  const value = text.slice(at + 1, end);
  return value.includes("\n") ? "a quoted word holds a line break" : { value, end: end + 1 };
}

function readDoubleQuoted(text: string, start: number): Piece | string {
  let value = "";
  for (let at = start + 1; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === '"') return { value, end: at + 1 };
    if (char === "$" || char === "`") return `it uses ${char} inside double quotes`;
    if (char === "\n") return "a quoted word holds a line break";
    const next = text.charAt(at + 1);
    if (char !== "\\") value += char;
    else if (next === "\n") at += 1;
    else if (ESCAPED_IN_DOUBLE.has(next)) {
      value += next;
      at += 1;
    } else value += char;
  }
  return "a quote is not closed";
}
