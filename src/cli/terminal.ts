import { styleText } from "node:util";
import { toPlainText } from "../wire/plain-text.ts";

type Style = "bold" | "dim" | "green" | "red" | "yellow" | "cyan";

/** Where commands write. Data goes to stdout, everything for the human around it to stderr when `--json` is on. */
export interface Terminal {
  readonly json: boolean;
  /** True when progress lines may be redrawn in place. */
  readonly interactive: boolean;
  /** Width of the terminal that people read, in characters; undefined where the text goes elsewhere. */
  readonly columns: number | undefined;
  /** A line for the human. */
  say(line?: string): void;
  /** The answer of a read command: pretty text for people, or the value as JSON with `--json`. */
  answer(value: unknown, text: () => string): void;
  /** Styled text, plain where colour is off. */
  style(style: Style, text: string): string;
  /** Redraws one line in place on a terminal, prints nothing elsewhere. */
  progress(line: string): void;
  /** Ends a progress line. */
  endProgress(line?: string): void;
}

/** Options of {@link createTerminal}; streams are the process's own outside tests. */
export interface TerminalOptions {
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly env: NodeJS.ProcessEnv;
  readonly json: boolean;
}

/** What {@link Terminal.style} writes. Anything else that steers a terminal comes from outside and is shown as text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters meant
const OWN_STYLES = /(\u001b\[(?:1|2|22|31|32|33|36|39)m)/;

/** Text with the escapes of our own styles and no other control, direction or invisible characters. */
export function cleanForTerminal(text: string): string {
  const parts = text.split(OWN_STYLES);
  return parts.map((part, index) => (index % 2 === 1 ? part : toPlainText(part, { keepLines: true }))).join("");
}

/** Colour and redrawing only on a terminal, never with `NO_COLOR` or `TERM=dumb`. */
export function createTerminal({ stdout, stderr, env, json }: TerminalOptions): Terminal {
  const human = json ? stderr : stdout;
  const color = human.isTTY === true && !env.NO_COLOR && env.TERM !== "dumb";
  const interactive = human.isTTY === true && env.TERM !== "dumb";
  return {
    json,
    interactive,
    // Some terminals say 0 when they do not know.
    columns: human.isTTY === true ? human.columns || undefined : undefined,
    say: (line = "") => void human.write(`${cleanForTerminal(line)}\n`),
    answer: (value, text) => void stdout.write(`${cleanForTerminal(json ? JSON.stringify(value, null, 2) : text())}\n`),
    style: (style, text) => (color ? styleText(style, text, { validateStream: false }) : text),
    progress: (line) => void (interactive && human.write(`\r\u001b[2K${cleanForTerminal(line)}`)),
    endProgress: (line) =>
      void human.write(`${interactive ? "\r\u001b[2K" : ""}${line === undefined ? "" : `${cleanForTerminal(line)}\n`}`),
  };
}
