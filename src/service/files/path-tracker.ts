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
  if (raw.length > MAX_KEY_BYTES) return undefined;
  try {
    const key: unknown = JSON.parse(`"${raw.toString("utf8")}"`);
    return typeof key === "string" ? key : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Knows whether a string that begins now is the value at `files[i].dataBase64`. Right for every well-formed document;
 * for a malformed one it may be wrong, which `JSON.parse` of the rest makes harmless.
 */
export class PathTracker {
  #depth = 0;
  readonly #levels: Level[] = [];

  /** Takes the bytes of one run outside strings. */
  pushStructure(bytes: Uint8Array, from: number, to: number): void {
    for (let at = from; at < to; at++) {
      const byte = bytes[at];
      if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) this.#open(byte === OPEN_OBJECT);
      else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) this.#depth -= 1;
      else if (byte === COLON) this.#setAtValue(true);
      else if (byte === COMMA) this.#setAtValue(false);
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

  #setAtValue(atValue: boolean): void {
    const level = this.#top();
    if (level !== undefined) level.atValue = atValue;
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
