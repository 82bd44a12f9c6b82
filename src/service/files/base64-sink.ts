import { parseJson } from "../../shared/base/json.ts";
import { decodeQuartets, STEP_CHARS } from "./decode-base64.ts";
import type { StagedFile } from "./staged-file.ts";

const QUARTET = 4;
const BACKSLASH = 0x5c;
const LAST_QUARTET = /^(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=|[A-Za-z0-9+/][AQgw]==)$/;
/** Thrown inside the splitter when a diverted string is not a JSON string at all. */
export class MalformedStringError extends Error {}

/** Where the escape begins that the end of a piece cuts off; the length of the text when there is none. */
function findCut(text: string): number {
  const at = text.lastIndexOf("\\");
  let first = at;
  while (text[first - 1] === "\\") first -= 1;
  const isCut = (at - first) % 2 === 0 && /^\\(?:u[0-9A-Fa-f]{0,3})?$/.test(text.slice(at));
  return isCut ? at : text.length;
}

/** Resolves JSON escapes in a byte stream that arrives in arbitrary pieces. */
class Unescaper {
  #open = "";

  /** Characters that no base64 has come out as "!". */
  push(raw: Buffer): Buffer {
    if (this.#open === "" && !raw.includes(BACKSLASH)) return raw;
    const text = this.#open + raw.toString("latin1");
    const end = findCut(text);
    this.#open = text.slice(end);
    const value = parseJson(`"${text.slice(0, end)}"`);
    if (typeof value !== "string") throw new MalformedStringError("bad escape");
    return Buffer.from(value.replaceAll(/[^ -~]/g, "!"), "latin1");
  }
}

/** The result of one diverted string. */
export interface DivertedFile {
  /** Sealed, so that a request with many files does not hold them all open; undefined when there is a problem. */
  readonly staged: StagedFile | undefined;
  readonly size: number;
  readonly problem: "not_base64" | "too_large" | undefined;
}

/** Decodes one base64 JSON string strictly, in steps of at most 64 KiB, straight into a staged file. */
export class Base64Sink {
  readonly #staged: StagedFile;
  readonly #maxBytes: number;
  readonly #count: (bytes: number) => void;
  readonly #unescaper: Unescaper | undefined;
  #carry: Buffer = Buffer.alloc(0);
  /** Memory of the last step: new memory for each would wait for the next collection. */
  #decoded = new Uint8Array();
  #size = 0;
  #problem: DivertedFile["problem"];

  /** `count` is called with the size of every decoded part, also past a problem, and may throw. */
  constructor(
    staged: StagedFile,
    maxBytes: number,
    count: (bytes: number) => void,
    source: { /** False when the text comes from a parsed string. */ readonly escapes: boolean } = { escapes: true },
  ) {
    this.#unescaper = source.escapes ? new Unescaper() : undefined;
    this.#staged = staged;
    this.#maxBytes = maxBytes;
    this.#count = count;
  }

  /** Takes raw bytes of the JSON string, escapes included, in any cut. */
  async write(raw: Buffer): Promise<void> {
    const chars = this.#unescaper?.push(raw) ?? raw;
    if (this.#isBroken()) return this.#skip(raw);
    // Only the end of the string may be padded, so that the last quartet stays behind.
    const missing = QUARTET - this.#carry.length;
    const begun = Buffer.concat([this.#carry, chars.subarray(0, missing)]);
    const rest = chars.subarray(missing);
    this.#carry = begun;
    if (rest.length === 0) return;
    const usable = Math.floor((rest.length - 1) / QUARTET) * QUARTET;
    this.#carry = Buffer.from(rest.subarray(usable));
    await this.#decode(begun);
    if (this.#isBroken()) return this.#skip(Buffer.concat([begun, rest]));
    for (let at = 0; at < usable; at += STEP_CHARS) {
      await this.#decode(rest.subarray(at, Math.min(at + STEP_CHARS, usable)));
      if (this.#isBroken()) return this.#skip(rest.subarray(at));
    }
  }

  #isBroken(): boolean {
    return this.#problem === "not_base64";
  }

  /** A string that cannot be a file any more is still counted and must still be a JSON string. */
  #skip(raw: Buffer): void {
    if (this.#unescaper !== undefined && raw.some((byte) => byte < 0x20))
      throw new MalformedStringError("control character");
    this.#count(Math.floor((raw.length * 3) / 4));
  }

  async #decode(chars: Buffer): Promise<void> {
    const size = (chars.length / QUARTET) * 3;
    if (this.#decoded.length < size) this.#decoded = new Uint8Array(size);
    const bytes = this.#decoded.subarray(0, size);
    if (!decodeQuartets(chars, bytes)) return this.#fail("not_base64");
    await this.#keep(bytes);
  }

  async #keep(bytes: Uint8Array): Promise<void> {
    this.#count(bytes.length);
    this.#size += bytes.length;
    if (this.#size > this.#maxBytes && this.#problem === undefined) await this.#fail("too_large");
    if (this.#problem === undefined) await this.#staged.write(bytes);
  }

  async #fail(problem: "not_base64" | "too_large"): Promise<void> {
    this.#problem = problem;
    await this.#staged.discard();
  }

  /** The closing quote was reached. */
  async end(): Promise<DivertedFile> {
    if (!this.#isBroken() && this.#carry.length > 0) {
      const last = this.#carry.toString("latin1");
      if (LAST_QUARTET.test(last)) await this.#keep(Buffer.from(last, "base64"));
      else {
        this.#skip(this.#carry);
        await this.#fail("not_base64");
      }
    }
    if (this.#problem !== undefined) return { staged: undefined, size: this.#size, problem: this.#problem };
    await this.#staged.seal();
    return { staged: this.#staged, size: this.#size, problem: undefined };
  }
}
