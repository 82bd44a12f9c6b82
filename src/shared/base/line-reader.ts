const LINE_FEED = 10;
/** Bytes that are kept of each end of a line that is too long. */
const END = 1024;

/** Takes the lines of a stream of bytes; of one that is too long only its two ends, which is all that is kept of it. */
interface LineTaker {
  /** Most bytes of a line. */
  readonly max: number;
  onLine(text: string): void;
  onTooLong(start: string, end: string): void;
}

/** Cuts a stream of bytes into lines, in bounded memory. */
export class LineReader {
  readonly #to: LineTaker;
  #parts: Uint8Array[] = [];
  #size = 0;

  constructor(to: LineTaker) {
    this.#to = to;
  }

  /** Bytes of a line that has not ended yet. */
  get pending(): number {
    return this.#size;
  }

  push(bytes: Uint8Array): void {
    let start = 0;
    for (let end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED, start)) {
      this.#add(bytes.subarray(start, end));
      this.#endLine();
      start = end + 1;
    }
    this.#add(bytes.subarray(start));
  }

  #add(part: Uint8Array): void {
    this.#size += part.length;
    if (part.length > 0) this.#parts.push(part);
    if (this.#size <= this.#to.max) return;
    const known = Buffer.concat(this.#parts);
    this.#parts = [Buffer.from(known.subarray(0, END)), Buffer.from(known.subarray(END).subarray(-END))];
  }

  #endLine(): void {
    const isTooLong = this.#size > this.#to.max;
    const whole = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#size = 0;
    if (!isTooLong) this.#to.onLine(whole.toString("utf8").replace(/\r$/, ""));
    else this.#to.onTooLong(whole.toString("utf8", 0, END), whole.toString("utf8", END));
  }
}
