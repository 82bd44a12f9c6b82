import { randomBytes } from "node:crypto";
import { parseExactly } from "../../shared/base/exact-number.ts";
import { parseJson } from "../../shared/base/json.ts";
import { Base64Sink, type DivertedFile, MalformedStringError } from "./base64-sink.ts";
import { StringEnd } from "./body-limits.ts";
import type { StagedFile } from "./staged-file.ts";

const QUOTE = 0x22;
/** Shorter strings stay in the document, so that a body full of tiny entries opens no files. */
const DIVERT_ABOVE = 4 * 1024;

/** Why a body could not be split. */
export class SplitError extends Error {
  readonly reason: "malformed" | "too_large";

  constructor(reason: "malformed" | "too_large") {
    super(reason);
    this.reason = reason;
  }
}

/** Everything of the document but the diverted strings, in one growing buffer. */
class Rest {
  readonly #max: number;
  #buffer = Buffer.allocUnsafe(64 * 1024);
  length = 0;

  constructor(max: number) {
    this.#max = max;
  }

  append(bytes: Uint8Array): void {
    const length = this.length + bytes.length;
    if (length > this.#max) throw new SplitError("too_large");
    if (length > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(length, this.#buffer.length * 2));
      this.#buffer.copy(larger, 0, 0, this.length);
      this.#buffer = larger;
    }
    this.#buffer.set(bytes, this.length);
    this.length = length;
  }

  slice(from: number): Buffer {
    return this.#buffer.subarray(from, this.length);
  }

  /** Removes and returns everything from `from` on. */
  cut(from: number): Buffer {
    const tail = Buffer.from(this.slice(from));
    this.length = from;
    return tail;
  }
}

/** Options of {@link splitBody}. */
export interface SplitOptions {
  /** Called when a long `files[i].dataBase64` begins. */
  readonly stage: () => Promise<StagedFile>;
  /** Largest size of one decoded file; above it the file is reported as `too_large`. */
  readonly maxFileBytes: number;
  /** Largest size of the document without the diverted strings. */
  readonly maxRestBytes: number;
  /** Called with the size of every decoded part; may throw to stop. */
  readonly count: (bytes: number) => void;
}

/** A document whose large strings are on the disk. */
export interface SplitBody {
  readonly value: unknown;
  /** The file behind a placeholder in `value`; undefined for any other text. */
  findFile(text: unknown): DivertedFile | undefined;
}

const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const COLON = 0x3a;
const COMMA = 0x2c;
/** `files[i].dataBase64` is three containers deep; nothing deeper matters. */
const WATCHED_DEPTH = 3;
/** Longer keys cannot be one of ours, not even fully escaped. */
const MAX_KEY_BYTES = 128;

interface Level {
  isObject: boolean;
  key: string | undefined;
  /** In an object: a colon was seen since the last comma. */
  atValue: boolean;
}

function decodeKey(raw: Buffer): string | undefined {
  const key = raw.length > MAX_KEY_BYTES ? undefined : parseJson(`"${raw.toString("utf8")}"`);
  return typeof key === "string" ? key : undefined;
}

/**
 * Knows whether a string that begins now is the value at `files[i].dataBase64`. Right for every well-formed document;
 * for a malformed one it may be wrong, which `JSON.parse` of the rest makes harmless.
 */
class PathTracker {
  #depth = 0;
  readonly #levels: Level[] = [];

  /** Takes the bytes of one run outside strings. */
  pushStructure(bytes: Uint8Array, from: number, to: number): void {
    for (let at = from; at < to; at++) {
      const byte = bytes[at];
      if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) this.#open(byte === OPEN_OBJECT);
      else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) this.#depth -= 1;
      else if (byte === COLON || byte === COMMA) {
        const level = this.#top();
        if (level !== undefined) level.atValue = byte === COLON;
      }
    }
  }

  #open(isObject: boolean): void {
    this.#depth += 1;
    if (this.#depth >= 1 && this.#depth <= WATCHED_DEPTH)
      this.#levels[this.#depth - 1] = { isObject, key: undefined, atValue: false };
  }

  #top(): Level | undefined {
    return this.#depth <= WATCHED_DEPTH ? this.#levels[this.#depth - 1] : undefined;
  }

  /** True between the opening and the closing quote of a `files[i].dataBase64` value. */
  isFileData(): boolean {
    if (this.#depth !== WATCHED_DEPTH) return false;
    const [root, list, entry] = this.#levels;
    if (root === undefined || list === undefined || entry === undefined) return false;
    if (!root.isObject || list.isObject || !entry.isObject) return false;
    return root.key === "files" && entry.key === "dataBase64" && entry.atValue;
  }

  /** A string that stayed in the document ended; `raw` gives its bytes without quotes. */
  endString(raw: () => Buffer): void {
    const level = this.#top();
    if (level?.isObject && !level.atValue) level.key = decodeKey(raw());
  }
}

/**
 * Tells strings from structure and nothing else; `JSON.parse` of the rest judges the grammar. Strings above 4 KiB at
 * exactly `files[i].dataBase64` leave the document for a {@link Base64Sink} and leave an unguessable placeholder behind.
 */
class BodySplitter {
  readonly #options: SplitOptions;
  readonly #rest: Rest;
  readonly #tracker = new PathTracker();
  readonly #nonce = randomBytes(16).toString("hex");
  readonly #files: DivertedFile[] = [];
  #inString = false;
  readonly #stringEnd = new StringEnd();
  #stringStart = 0;
  #sink: Base64Sink | undefined;

  constructor(options: SplitOptions) {
    this.#options = options;
    this.#rest = new Rest(options.maxRestBytes);
  }

  async push(chunk: Buffer): Promise<void> {
    let at = 0;
    while (at < chunk.length) at = this.#inString ? await this.#pushString(chunk, at) : this.#pushStructure(chunk, at);
  }

  #pushStructure(chunk: Buffer, from: number): number {
    const quote = chunk.indexOf(QUOTE, from);
    const to = quote < 0 ? chunk.length : quote + 1;
    this.#tracker.pushStructure(chunk, from, quote < 0 ? to : quote);
    this.#rest.append(chunk.subarray(from, to));
    if (quote >= 0) {
      this.#inString = true;
      this.#stringStart = this.#rest.length;
    }
    return to;
  }

  async #pushString(chunk: Buffer, from: number): Promise<number> {
    const quote = this.#stringEnd.find(chunk, from);
    const to = quote < 0 ? chunk.length : quote;
    const bytes = chunk.subarray(from, to);
    if (this.#sink !== undefined) await this.#sink.write(bytes);
    else if (this.#tracker.isFileData() && this.#rest.length - this.#stringStart + bytes.length > DIVERT_ABOVE)
      await this.#divert(bytes);
    else this.#rest.append(bytes);
    if (quote >= 0) await this.#endString();
    return quote < 0 ? to : quote + 1;
  }

  async #divert(bytes: Buffer): Promise<void> {
    const begun = this.#rest.cut(this.#stringStart);
    this.#sink = new Base64Sink(await this.#options.stage(), this.#options.maxFileBytes, this.#options.count);
    await this.#sink.write(begun);
    await this.#sink.write(bytes);
  }

  async #endString(): Promise<void> {
    this.#inString = false;
    if (this.#sink === undefined) this.#tracker.endString(() => this.#rest.slice(this.#stringStart));
    else {
      const index = this.#files.push(await this.#sink.end()) - 1;
      this.#sink = undefined;
      this.#rest.append(Buffer.from(`${this.#nonce}:${index}`));
    }
    this.#rest.append(Buffer.of(QUOTE));
  }

  finish(): SplitBody {
    if (this.#inString) throw new SplitError("malformed");
    const value: unknown = parseStrictly(this.#rest.slice(0));
    return {
      value,
      findFile: (text) => {
        if (typeof text !== "string" || !text.startsWith(`${this.#nonce}:`)) return undefined;
        return this.#files[Number(text.slice(this.#nonce.length + 1))];
      },
    };
  }
}

/** The value of a JSON text in UTF-8. Throws {@link SplitError}. */
export function parseStrictly(bytes: Uint8Array): unknown {
  try {
    return parseExactly(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new SplitError("malformed");
  }
}

/**
 * Reads a JSON document of any size in bounded memory; the result equals `JSON.parse` except that diverted strings are
 * placeholders for {@link SplitBody.findFile}. Throws {@link SplitError}; staged files are the caller's to discard.
 */
export async function splitBody(bytes: AsyncIterator<Uint8Array>, options: SplitOptions): Promise<SplitBody> {
  const splitter = new BodySplitter(options);
  try {
    for (let next = await bytes.next(); !next.done; next = await bytes.next()) {
      const { buffer, byteOffset, byteLength } = next.value;
      await splitter.push(Buffer.from(buffer, byteOffset, byteLength));
    }
    return splitter.finish();
  } catch (error) {
    if (error instanceof MalformedStringError) throw new SplitError("malformed");
    throw error;
  }
}
