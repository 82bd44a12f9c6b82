import { createInterface, type Interface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";

/** A line, or the reason why input ended. */
export type ReadLine =
  | { readonly kind: "line"; readonly text: string }
  | { readonly kind: "end" }
  | { readonly kind: "interrupted" };

/** Where lines come from and prompts go to. */
export interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean; setRawMode?(isRaw: boolean): unknown };
  readonly output: NodeJS.WritableStream & {
    readonly isTTY?: boolean;
    /** Size of the window in cells, when it is one. */
    readonly columns?: number;
    readonly rows?: number;
  };
}

/** Time for early keystrokes to arrive from the keyboard's buffer. */
const TYPED_AHEAD_MS = 40;
const END: ReadLine = { kind: "end" };

/**
 * Lines of a terminal or a pipe, read one at a time. Lines that arrive early are kept, except from a keyboard: text
 * typed before a question was shown must not answer it.
 */
export class LineReader {
  readonly #terminal: Terminal;
  readonly #early: ReadLine[] = [];
  #waiting: ((line: ReadLine) => void) | undefined;
  #lines: Interface | undefined;
  #hasEnded = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Discards text typed ahead on a keyboard, with or without Enter. */
  async discardTypedAhead(): Promise<void> {
    const lines = this.#open();
    if (this.#terminal.input.isTTY !== true || lines === undefined) return;
    this.#listen(lines);
    await delay(TYPED_AHEAD_MS);
    this.#early.length = 0;
    if (this.#hasEnded) return;
    // Clearing the line also shows its prompt again, which would be the prompt of the previous question.
    lines.setPrompt("");
    lines.write(null, { ctrl: true, name: "u" });
  }

  /** Shows `prompt` and waits for a line; rejects with the signal's reason when it fires. */
  async read(prompt: string, signal: AbortSignal): Promise<ReadLine> {
    signal.throwIfAborted();
    const lines = this.#open();
    this.#prompt(lines, prompt);
    const early = this.#early.shift();
    if (early !== undefined) return early;
    if (lines === undefined) return END;
    const { promise, resolve, reject } = Promise.withResolvers<ReadLine>();
    this.#waiting = resolve;
    const stop = () => {
      this.#waiting = undefined;
      reject(signal.reason);
    };
    signal.addEventListener("abort", stop, { once: true });
    try {
      this.#listen(lines);
      return await promise;
    } finally {
      signal.removeEventListener("abort", stop);
      if (!this.#hasEnded) this.#rest(lines);
    }
  }

  #listen(lines: Interface): void {
    if (this.#isTerminal()) this.#terminal.input.setRawMode?.(true);
    lines.resume();
  }

  /** An open but idle input would keep the process alive, and a raw one would keep Ctrl-C from it. */
  #rest(lines: Interface): void {
    lines.pause();
    if (this.#isTerminal()) this.#terminal.input.setRawMode?.(false);
  }

  /** Replaces the current prompt on a terminal; does nothing elsewhere. */
  changePrompt(prompt: string): void {
    if (this.#waiting === undefined || this.#lines === undefined || !this.#isTerminal()) return;
    this.#lines.setPrompt(prompt);
    this.#lines.prompt(true);
  }

  close(): void {
    const lines = this.#lines;
    this.#lines = undefined;
    lines?.close();
  }

  /** Undefined once the input has ended. */
  #open(): Interface | undefined {
    if (this.#hasEnded) return undefined;
    if (this.#lines !== undefined) return this.#lines;
    const { input, output } = this.#terminal;
    const lines = createInterface(this.#isTerminal() ? { input, output, terminal: true } : { input, terminal: false });
    lines.on("line", (text) => this.#take({ kind: "line", text }));
    lines.on("SIGINT", () => this.#take({ kind: "interrupted" }));
    lines.on("close", () => {
      if (this.#lines !== lines) return;
      this.#hasEnded = true;
      this.#take(END);
    });
    this.#lines = lines;
    return lines;
  }

  #isTerminal(): boolean {
    return this.#terminal.output.isTTY === true && this.#terminal.input.isTTY === true;
  }

  #prompt(lines: Interface | undefined, prompt: string): void {
    if (lines === undefined || !this.#isTerminal()) {
      this.#terminal.output.write(`${prompt}\n`);
      return;
    }
    lines.setPrompt(prompt);
    lines.prompt();
  }

  /** Several lines may arrive in one piece: only the first one answers, the others wait for their questions. */
  #take(line: ReadLine): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting === undefined) this.#early.push(line);
    else waiting(line);
  }
}
