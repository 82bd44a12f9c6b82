import { styleText } from "node:util";
import { Help } from "commander";
import { quoteWord } from "../shared/base/text.ts";
import { toPlainText } from "../shared/card/plain-text.ts";
import { isSvcError } from "../shared/errors.ts";
import { EXIT } from "./exit-codes.ts";
import { writeJsonError } from "./json-errors.ts";

type Style = "bold" | "dim" | "green" | "red" | "yellow" | "cyan";

/** Output of the commands. Data goes to stdout; with `--json`, text for people goes to stderr. */
export type Terminal = ReturnType<typeof createTerminal>;

/** The escapes that `style` writes. All others come from outside and are shown as text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters meant
const OWN_STYLES = /(\u001b\[(?:1|2|22|31|32|33|36|39)m)/;

/** Text with the escapes of our own styles and no other control, direction or invisible characters. */
function cleanForTerminal(text: string): string {
  const parts = text.split(OWN_STYLES);
  return parts.map((part, index) => (index % 2 === 1 ? part : toPlainText(part, { keepLines: true }))).join("");
}

/** Colour and redrawing only on a terminal, never with `NO_COLOR` or `TERM=dumb`. */
export function createTerminal(
  o: Record<"stdout" | "stderr", NodeJS.WriteStream> & { readonly env: NodeJS.ProcessEnv; readonly json: boolean },
) {
  const { stdout, stderr, env, json } = o;
  const human = json ? stderr : stdout;
  const color = human.isTTY === true && !env.NO_COLOR && env.TERM !== "dumb";
  const interactive = human.isTTY === true && env.TERM !== "dumb";
  let lastSaid = "";
  let hasAnswered = false;
  let waiting: NodeJS.Timeout | undefined;
  const stopWaiting = () => {
    clearInterval(waiting);
    waiting = undefined;
  };
  const clear = () => {
    if (waiting !== undefined) human.write(CLEAR_LINE);
    stopWaiting();
  };
  const draw = (line: string) => void (interactive && human.write(`${CLEAR_LINE}${cleanForTerminal(line)}`));
  return {
    json,
    /** True when progress lines may be redrawn in place. */
    interactive,
    /** Width in characters of the terminal that people read; undefined if the text goes elsewhere; some report 0. */
    columns: human.isTTY === true ? human.columns || undefined : undefined,
    say: (line = "") => {
      clear();
      if (line.trim() !== "") lastSaid = line.trim();
      human.write(`${cleanForTerminal(line)}\n`);
    },
    /** The result of a read command: text for people, or the value as JSON with `--json`. */
    answer: (value: unknown, text: () => string) => {
      clear();
      hasAnswered = true;
      stdout.write(`${cleanForTerminal(json ? JSON.stringify(value, null, 2) : text())}\n`);
    },
    /** With `--json`, the error of a command that ended with this code and has answered nothing: what it said last. */
    endWithoutAnswer: (exitCode: number) => {
      clear();
      if (!json || hasAnswered || exitCode === EXIT.ok) return;
      stdout.write(`${writeJsonError({ code: ENDS[exitCode] ?? "failed", message: lastSaid })}\n`);
    },
    /** Styled text, plain where colour is off. */
    style: (style: Style, text: string): string => (color ? styleText(style, text, { validateStream: false }) : text),
    /** Redraws one line in place on a terminal, prints nothing elsewhere. */
    progress: (line: string) => {
      stopWaiting();
      draw(line);
    },
    /**
     * From a second on, shows on a terminal for how long something has been waited for; ended by the next output. Does not
     * keep the process alive.
     */
    wait: (what: string) => {
      stopWaiting();
      if (!interactive) return;
      const begun = performance.now();
      const tick = () => draw(`  ${what}, ${Math.round((performance.now() - begun) / 1000)} s`);
      waiting = setInterval(tick, WAIT_TICK_MS).unref();
    },
    endProgress: (line?: string) => {
      stopWaiting();
      human.write(`${interactive ? CLEAR_LINE : ""}${line === undefined ? "" : `${cleanForTerminal(line)}\n`}`);
    },
  };
}

const CLEAR_LINE = "\r\u001b[2K";
const WAIT_TICK_MS = 1000;

/** Codes of commands that end badly and have no other error. */
const ENDS: Readonly<Record<number, string>> = {
  [EXIT.notApproved]: "not_approved",
  [EXIT.unknownOutcome]: "outcome_unknown",
  [EXIT.interrupted]: "aborted",
};

/** A path as a shell takes it: in quotes where it holds more than plain letters. */
export function quotePath(path: string, platform: NodeJS.Platform = process.platform): string {
  if (/^[\w@%+=:,./\\~-]+$/.test(path) && (platform === "win32" || !path.includes("\\"))) return path;
  return platform === "win32" ? `"${path}"` : quoteWord(path);
}

/** A quoted svc command, which people copy. */
const COMMAND = /"svc [^"\n]*"/g;
/** Replaces a space where no line may break: a private-use character. */
const TIED = "\ue000";

/**
 * Breaks text between words where it is longer than `columns`, and starts each further line with `indent`. A command in
 * quotes (`"svc …"`) is kept whole. Text stays as it is without `columns`, and where fewer than 40 would remain.
 */
export function wrapWords(text: string, columns: number | undefined, indent: string): string {
  if (columns === undefined) return text;
  const tied = text.replaceAll(COMMAND, (command) => command.replaceAll(" ", TIED));
  const lines = new Help().boxWrap(tied, columns - indent.length);
  return lines.replaceAll(TIED, " ").replaceAll("\n", `\n${indent}`);
}

/**
 * How many characters the last column of a list may have beside the `taken` ones: what the terminal leaves, between
 * `shortest`, below which the line breaks instead, and `longest`, also where there is no terminal.
 */
export function measureLastColumn(
  columns: number | undefined,
  { taken, shortest, longest }: { readonly taken: number; readonly shortest: number; readonly longest: number },
): number {
  return Math.min(longest, Math.max(shortest, (columns ?? Infinity) - taken));
}

/** Text from outside, ended with a full stop if needed, so that another sentence can follow. */
export function endSentence(text: string): string {
  return /[.!?…]$/.test(text.trimEnd()) ? text : `${text}.`;
}

/** Words of a hint for a model: its tools, the human it serves, the call it makes. */
const FOR_MODELS = /\bsvc[_.][a-z]|\busers?\b|\bhumans?\b|\btell them\b|\b(?:this|the)(?: same)? call\b/i;

/** A hint that a person can follow; undefined for one that is written for a model. */
export function readHint(hint: string | undefined): string | undefined {
  return hint === undefined || FOR_MODELS.test(hint) ? undefined : hint;
}

/**
 * What a person reads of an error that ended a command: what failed, then what to do. Broken between words on a terminal
 * of `columns`, one line elsewhere. `isDebugging` adds where in the code an unexpected one arose.
 */
export function formatError(
  { style }: Pick<Terminal, "style">,
  error: unknown,
  { columns, isDebugging }: { readonly columns: number | undefined; readonly isDebugging: boolean },
): string {
  const text = isSvcError(error)
    ? [error.message, error.status === undefined ? error.hint : readHint(error.hint)].filter(Boolean).join(" ")
    : describeUnexpected(error, isDebugging);
  return wrapWords(`${style("red", "Error:")} ${cleanForTerminal(text)}`, isDebugging ? undefined : columns, "  ");
}

function describeUnexpected(error: unknown, isDebugging: boolean): string {
  const message = error instanceof Error ? error.message : String(error);
  return `${message}${isDebugging && error instanceof Error ? `\n${error.stack}` : ""}`;
}
