import { sha256Hex } from "../../base/hash.ts";
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
}

/**
 * SHA-256 (hex) over the canonical JSON of tool, arguments, connection, file digests, principal and, for a decision, the
 * effect.
 * Throws TypeError for arguments that are not JSON, naming the path.
 */
export function createFingerprint(subject: FingerprintSubject): string {
  const { tool, connection, principal, effect } = subject;
  const files = subject.files.map(({ field, name, mimetype, size, md5, sha256 }) => {
    return { field, name, mimetype, size, md5, sha256 };
  });
  const text = canonicalJson({
    tool,
    arguments: subject.arguments,
    connection: connection ?? null,
    files: files.sort((a, b) => (a.field < b.field ? -1 : 1)),
    principal,
    ...(effect === undefined ? {} : { effect }),
  });
  return sha256Hex(text);
}

/**
 * JSON text in the order of RFC 8785: member names sorted by UTF-16 code units, no white space, numbers as ECMAScript
 * prints them. Throws TypeError for values that JSON cannot hold: undefined, NaN, infinities, bigint, functions, lone
 * surrogates, class instances, cycles and nesting beyond 200 levels.
 */
export function canonicalJson(value: unknown): string {
  return write(value, "$", 0);
}

function write(value: unknown, path: string, depth: number): string {
  if (depth > MAX_DEPTH) throw new TypeError(`${path.slice(0, 80)}… is nested deeper than ${MAX_DEPTH} levels`);
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "string") return writeString(value, path);
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new TypeError(`${path} is ${value}, which JSON cannot hold`);
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) {
    return `[${Array.from(value, (item, index) => write(item, `${path}[${index}]`, depth + 1)).join(",")}]`;
  }
  if (isPlainObject(value)) {
    const members = Object.keys(value).sort();
    return `{${members.map((key) => `${writeString(key, path)}:${write(value[key], `${path}.${key}`, depth + 1)}`).join(",")}}`;
  }
  throw new TypeError(`${path} is ${typeof value === "object" ? "not a plain object" : typeof value}`);
}

function writeString(text: string, path: string): string {
  if (!text.isWellFormed()) throw new TypeError(`${path} holds half of a character (a lone surrogate)`);
  return JSON.stringify(text);
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}
