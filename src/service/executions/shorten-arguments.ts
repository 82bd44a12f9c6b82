import { cutText } from "../../base/text.ts";
import { hideCredential } from "../secrets/credential-name.ts";

/** Longest arguments that are kept whole, in characters of JSON: as many as the log shows. */
const MAX_KEPT = 20_000;
/** In longer ones: longest text and name. */
const MAX_TEXT = 2000;
const MAX_NAME = 200;

/**
 * JSON of arguments that nothing was done with, for the log: anybody with a key can send large ones again and again. Long
 * ones keep their beginning, and say how much is left out. Credentials are hidden.
 */
export function shortenArguments(args: unknown): string {
  const json = JSON.stringify(args, hideCredential) ?? "null";
  return json.length <= MAX_KEPT ? json : JSON.stringify(shorten(JSON.parse(json), { left: MAX_KEPT }));
}

function shorten(value: unknown, budget: { left: number }): unknown {
  budget.left -= 10;
  if (typeof value === "string") {
    const text = cut(value, MAX_TEXT);
    budget.left -= text.length;
    return text;
  }
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const kept: unknown[] = [];
    for (const part of value) {
      if (budget.left <= 0) break;
      kept.push(shorten(part, budget));
    }
    return kept.length === value.length ? kept : [...kept, describeRest(value.length - kept.length)];
  }
  const parts = Object.entries(value);
  const kept: [string, unknown][] = [];
  for (const [name, part] of parts) {
    if (budget.left <= 0) break;
    const shown = cut(name, MAX_NAME);
    budget.left -= shown.length;
    kept.push([shown, shorten(part, budget)]);
  }
  if (kept.length < parts.length) kept.push(["…", describeRest(parts.length - kept.length)]);
  return Object.fromEntries(kept);
}

function describeRest(count: number): string {
  return `… ${count} more`;
}

function cut(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const kept = cutText(text, longest);
  return `${kept}… ${text.length - kept.length} more characters`;
}
