import { isRecord } from "./json-schema.ts";

/** How large arguments are, where it bears on the cost of checking them. */
export interface ArgumentSize {
  /** Characters of the longest text. */
  readonly longestText: number;
  /** Characters of the longest key. */
  readonly longestKey: number;
  /** Keys of the largest object. */
  readonly mostKeys: number;
  /** Items of the longest list. */
  readonly mostItems: number;
  /** Values in all. */
  readonly values: number;
}

/** What a value is, seen as JSON. */
export type ArgumentReading =
  | { readonly kind: "json"; readonly size: ArgumentSize }
  /** Too many values, or too many levels, to be checked here. */
  | { readonly kind: "large" | "deep" }
  /** Holds something JSON writes differently or leaves out: undefined, NaN, a date, a function, ... */
  | { readonly kind: "other" };

const MAX_VALUES = 10_000;
const MAX_DEPTH = 500;

interface Count {
  left: number;
  longestText: number;
  longestKey: number;
  mostKeys: number;
  mostItems: number;
  plain: boolean;
  deep: boolean;
}

/** Looks through arguments once, before they are checked. */
export function measureArguments(args: unknown): ArgumentReading {
  const sizes = { longestText: 0, longestKey: 0, mostKeys: 0, mostItems: 0 };
  const count: Count = { left: MAX_VALUES, ...sizes, plain: true, deep: false };
  if (!measure(args, count, 0)) return { kind: count.deep ? "deep" : "large" };
  if (!count.plain) return { kind: "other" };
  const { longestText, longestKey, mostKeys, mostItems, left } = count;
  return { kind: "json", size: { longestText, longestKey, mostKeys, mostItems, values: MAX_VALUES - left } };
}

/** @returns false when there is too much. */
function measure(value: unknown, count: Count, depth: number): boolean {
  count.deep = depth > MAX_DEPTH;
  if (--count.left < 0 || count.deep) return false;
  if (typeof value === "string") {
    count.longestText = Math.max(count.longestText, value.length);
  } else if (Array.isArray(value)) {
    count.mostItems = Math.max(count.mostItems, value.length);
    for (const item of value) if (!measure(item, count, depth + 1)) return false;
  } else if (isRecord(value)) {
    const keys = Object.keys(value);
    const prototype: unknown = Object.getPrototypeOf(value);
    if ((prototype !== Object.prototype && prototype !== null) || typeof value.toJSON === "function") {
      count.plain = false;
    }
    count.mostKeys = Math.max(count.mostKeys, keys.length);
    for (const key of keys) {
      count.longestKey = Math.max(count.longestKey, key.length);
      if (!measure(value[key], count, depth + 1)) return false;
    }
  } else if (!(value === null || typeof value === "boolean" || Number.isFinite(value))) {
    count.plain = false;
  }
  return true;
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
