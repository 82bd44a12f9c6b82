import { createInterface, type Interface } from "node:readline";

/** A line, or why none comes any more. */
export type ReadLine =
  | { readonly kind: "line"; readonly text: string }
  | { readonly kind: "end" }
  | { readonly kind: "interrupted" };

/** Where lines come from and prompts go to. */
export interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly output: NodeJS.WritableStream & { readonly isTTY?: boolean };
}

/**
 * Lines of a terminal or a pipe, asked for one at a time. Lines that arrive early are kept, except on a keyboard: what
 * was typed before a question was shown must not answer it.
 */
export class LineReader {
  readonly #terminal: Terminal;
  readonly #early: ReadLine[] = [];
  #waiting: ((line: ReadLine) => void) | undefined;
  #lines: Interface | undefined;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Forgets what was typed ahead on a keyboard. */
  discardTypedAhead(): void {
    if (this.#terminal.input.isTTY === true) this.#early.length = 0;
  }

  /** Shows `prompt` and waits for a line; rejects with the signal's reason when it fires. */
  async read(prompt: string, signal: AbortSignal): Promise<ReadLine> {
    signal.throwIfAborted();
    const lines = this.#open();
    lines.resume();
    this.#prompt(lines, prompt);
    const next = this.#early.shift();
    if (next !== undefined) return next;
    const { promise, resolve, reject } = Promise.withResolvers<ReadLine>();
    this.#waiting = resolve;
    const stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    try {
      return await promise;
    } finally {
      signal.removeEventListener("abort", stop);
      this.#waiting = undefined;
      // An open but idle input would keep the process alive.
      this.#lines?.pause();
    }
  }

  /** Gives the input back. */
  close(): void {
    this.#lines?.close();
    this.#lines = undefined;
  }

  #open(): Interface {
    if (this.#lines !== undefined) return this.#lines;
    const { input, output } = this.#terminal;
    const isTerminal = output.isTTY === true && input.isTTY === true;
    const lines = createInterface(isTerminal ? { input, output, terminal: true } : { input, terminal: false });
    lines.on("line", (text) => this.#take({ kind: "line", text }));
    lines.on("SIGINT", () => this.#take({ kind: "interrupted" }));
    lines.on("close", () => {
      if (this.#lines === lines) this.#take({ kind: "end" });
    });
    this.#lines = lines;
    return lines;
  }

  #prompt(lines: Interface, prompt: string): void {
    if (this.#terminal.output.isTTY !== true) {
      this.#terminal.output.write(`${prompt}\n`);
      return;
    }
    lines.setPrompt(prompt);
    lines.prompt();
  }

  #take(line: ReadLine): void {
    if (this.#waiting === undefined) this.#early.push(line);
    else this.#waiting(line);
    // Every later question ends as well.
    if (line.kind === "end") this.#early.push(line);
  }
}
