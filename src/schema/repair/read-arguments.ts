/**
 * What a value is, seen as JSON. `large`, `deep`: too many values or levels to be checked here; `other`: holds something
 * that JSON writes differently or leaves out, such as undefined, NaN, a date or a function.
 */
export type ArgumentKind = "json" | "large" | "deep" | "other";

const MAX_VALUES = 10_000;
const MAX_DEPTH = 500;

/** Looks through arguments once, before they are checked. */
export function readKind(args: unknown): ArgumentKind {
  let left = MAX_VALUES;
  let isPlain = true;
  const walk = (value: unknown, depth: number): "large" | "deep" | undefined => {
    if (depth > MAX_DEPTH) return "deep";
    if (--left < 0) return "large";
    if (typeof value === "object" && value !== null) {
      isPlain &&= Array.isArray(value) || isPlainObject(value);
      for (const key of Object.keys(value)) {
        const excess = walk(Reflect.get(value, key), depth + 1);
        if (excess !== undefined) return excess;
      }
    } else if (!(value === null || ["string", "boolean"].includes(typeof value) || Number.isFinite(value))) {
      isPlain = false;
    }
    return undefined;
  };
  return walk(args, 0) ?? (isPlain ? "json" : "other");
}

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return (prototype === Object.prototype || prototype === null) && !("toJSON" in value && isFunction(value.toJSON));
}

function isFunction(value: unknown): boolean {
  return typeof value === "function";
}

/** A value as JSON would carry it; undefined when JSON cannot hold it. */
export function copyAsJson(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value));
  } catch {
    return undefined;
  }
}

/** False for a value that contains itself. True also for one too deep to be looked through. */
export function endsSomewhere(value: unknown): boolean {
  try {
    JSON.stringify(value);
    return true;
  } catch (error) {
    return error instanceof RangeError;
  }
}
