import { ServiceError } from "../service-error.ts";

/**
 * Most values of a request: members of objects and items of lists, at all levels. Some hundred thousand would keep all other
 * callers waiting for seconds while they are read and checked; 50,000 are a table of 5,000 rows.
 */
export const MAX_JSON_VALUES = 50_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const OPEN_OBJECT = 0x7b;

/**
 * Counts the values of a JSON text in pieces, before it is parsed.
 *
 * @returns takes the next piece; throws ServiceError 400, bare, at the first value too many
 */
export function createValueGuard(): (piece: Uint8Array) => void {
  let values = 0;
  let inString = false;
  /** The piece before ended in an odd backslash. */
  let isEscaped = false;

  function count(): void {
    values += 1;
    if (values <= MAX_JSON_VALUES) return;
    const message = `The request body holds more than ${MAX_JSON_VALUES} values. Send fewer in one request.`;
    throw new ServiceError(400, "too_many_values", message, { bare: true });
  }

  /** Position behind the string that goes on at `from`, or the end of the piece. */
  function skipString(bytes: Buffer, from: number): number {
    for (let at = from; ; ) {
      const quote = bytes.indexOf(QUOTE, at);
      const end = quote < 0 ? bytes.length : quote;
      let back = end;
      while (back > at && bytes[back - 1] === BACKSLASH) back -= 1;
      const isOdd = (end - back) % 2 === 1;
      const isOpen = back === at && isEscaped ? !isOdd : isOdd;
      isEscaped = quote < 0 && isOpen;
      if (quote < 0) return end;
      at = quote + 1;
      inString = isOpen;
      if (!isOpen) return at;
    }
  }

  return (piece) => {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    for (let at = 0; at < bytes.length; ) {
      if (inString) {
        at = skipString(bytes, at);
        continue;
      }
      const byte = bytes[at];
      if (byte === QUOTE) inString = true;
      else if (byte === COMMA || byte === OPEN_ARRAY || byte === OPEN_OBJECT) count();
      at += 1;
    }
  };
}

/** Deepest JSON a request may hold; beyond some thousands the engine's own JSON writer runs out of stack. */
export const MAX_JSON_DEPTH = 256;

/** True when objects and arrays nest deeper than {@link MAX_JSON_DEPTH}. Iterative: depth costs no stack. */
export function isTooDeep(value: unknown): boolean {
  let level = [value];
  for (let depth = 0; depth <= MAX_JSON_DEPTH; depth += 1) {
    const next: unknown[] = [];
    for (const one of level) {
      if (typeof one !== "object" || one === null) continue;
      for (const member of Object.values(one)) if (typeof member === "object" && member !== null) next.push(member);
    }
    if (next.length === 0) return false;
    level = next;
  }
  return true;
}
