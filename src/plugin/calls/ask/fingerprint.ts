import { ExactNumber } from "../../../shared/base/exact-number.ts";
import { sha256Hex } from "../../../shared/base/hash.ts";
import type { InspectedFile } from "../../media/send/inspect-files.ts";

const MAX_DEPTH = 200;

/** A local file as a decision is bound to it. */
export type FingerprintFile = Pick<InspectedFile, "field" | "name" | "mimetype" | "size" | "md5" | "sha256">;

/** The facts that a decision is bound to, or that identify a call. */
export interface FingerprintSubject {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly connection: string | undefined;
  readonly files: readonly FingerprintFile[];
  readonly principal: string;
  /**
   * The effect a human was told. Left out of a call's identity, which must stay the same when the effect becomes known.
   */
  readonly effect?: string | undefined;
  /** State of the preview that they were shown; left out of a call's identity, too. */
  readonly state?: string | undefined;
}

/**
 * SHA-256 (hex) over the canonical JSON of tool, arguments, connection, file digests, principal and, for a decision, the
 * effect and the state that was shown.
 * Throws TypeError for arguments that are not JSON, naming the path.
 *
 * @param canonical - canonical JSON of the arguments, for a caller who has just made it
 */
export function createFingerprint(subject: FingerprintSubject, canonical = canonicalJson(subject.arguments)): string {
  const { tool, connection, principal, effect, state } = subject;
  const files = subject.files.map(({ field, name, mimetype, size, md5, sha256 }) => {
    return { field, name, mimetype, size, md5, sha256 };
  });
  const rest = canonicalJson({
    tool,
    connection: connection ?? null,
    files: files.sort((a, b) => (a.field < b.field ? -1 : 1)),
    principal,
    ...(effect === undefined ? {} : { effect }),
    ...(state === undefined ? {} : { state }),
  });
  // The first of all names.
  return sha256Hex(`{"arguments":${canonical},${rest.slice(1)}`);
}

/**
 * JSON text in the order of RFC 8785: member names sorted by UTF-16 code units, no white space, numbers as ECMAScript
 * prints them, or as they were written where it would change them. Throws TypeError for values that JSON cannot hold: undefined, NaN, infinities, bigint, functions, lone
 * surrogates, class instances, cycles and nesting beyond 200 levels.
 */
export function canonicalJson(value: unknown): string {
  return write(value, []);
}

/** @param path - keys and positions that lead to the value; as it was before when this returns */
function write(value: unknown, path: (string | number)[]): string {
  if (path.length > MAX_DEPTH) {
    throw new TypeError(`${showPath(path).slice(0, 80)}… is nested deeper than ${MAX_DEPTH} levels`);
  }
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "string") return writeString(value, path);
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new TypeError(`${showPath(path)} is ${value}, which JSON cannot hold`);
    return JSON.stringify(value);
  }
  if (value instanceof ExactNumber) return value.text;
  if (Array.isArray(value)) return `[${Array.from(value, (item, index) => writePart(item, index, path)).join(",")}]`;
  if (isPlainObject(value)) {
    const members = Object.keys(value).sort();
    return `{${members.map((key) => `${writeString(key, path)}:${writePart(value[key], key, path)}`).join(",")}}`;
  }
  throw new TypeError(`${showPath(path)} is ${typeof value === "object" ? "not a plain object" : typeof value}`);
}

function writePart(value: unknown, key: string | number, path: (string | number)[]): string {
  path.push(key);
  const text = write(value, path);
  path.pop();
  return text;
}

function showPath(path: readonly (string | number)[]): string {
  return path.reduce<string>((shown, key) => shown + (typeof key === "number" ? `[${key}]` : `.${key}`), "$");
}

function writeString(text: string, path: readonly (string | number)[]): string {
  if (!text.isWellFormed()) throw new TypeError(`${showPath(path)} holds half of a character (a lone surrogate)`);
  return JSON.stringify(text);
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}
