import { ExactNumber, parseExactly } from "./exact-number.ts";

/** True for an object that is neither null, nor an array, nor an {@link ExactNumber}. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);
}

/** The value of a JSON text, numbers with all their digits; undefined for invalid JSON. */
export function parseJson(text: string): unknown {
  try {
    return parseExactly(text);
  } catch {
    return undefined;
  }
}

/** Sets an own property under any name: `__proto__` becomes a key like the others. */
export function setOwn(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    target[key] = value;
  }
}

/** The value of an own property of an object or list, or undefined: inherited members never count. */
export function getOwn(target: unknown, key: string | number): unknown {
  return typeof target === "object" && target !== null && Object.hasOwn(target, key)
    ? Reflect.get(target, key)
    : undefined;
}

/** The value that a path of keys and list positions leads to, or undefined. */
export function getAt(value: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce(getOwn, value);
}

/** A copy of a JSON value that shares no object with it. Anything that JSON cannot hold is kept by reference. */
export function cloneJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(cloneJson);
  if (!isRecord(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) setOwn(copy, key, cloneJson(value[key]));
  return copy;
}
