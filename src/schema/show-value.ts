import { cutAnywhere } from "./cut-text.ts";
import { getOwn } from "./json-schema.ts";
import type { ValuePath } from "./schema-location.ts";

const MAX_SHOWN = 60;
const MAX_KEYS = 12;

const SECRET_KEY =
  /pass(?:word|wd|phrase|code)|secret|credential|authorization|bearer|cookie|private_?key|api_?key|access_?key|signing_?key|(?:access|auth|refresh|session|bearer|api|id|bot|csrf|security)_?token|^token$/i;
const SECRET_VALUE =
  /^(?:sk|pk|rk|ghp|gho|ghs|ghu|glpat|xox[abprs]|whsec|svc)[-_][A-Za-z0-9_-]{8,}|^github_pat_|^AKIA[A-Z0-9]{12}|^eyJ[A-Za-z0-9_-]{10,}|^AIza[A-Za-z0-9_-]{20}|-----BEGIN|^(?:Bearer|Basic)\s\S{8}|:\/\/[^/\s:@]+:[^/\s@]+@/;

/** A value in few words: its type and, cut at 60 characters, its JSON. Values that look like secrets are hidden. */
export function showValue(value: unknown, path: ValuePath): string {
  if (value === undefined) return "nothing (missing)";
  if (value === null) return "null";
  if (typeof value === "string") {
    const length = value.length > MAX_SHOWN || isSecret(value, path) ? ` of ${value.length} characters` : "";
    return `string${length} ${showLiteral(value, path)}`;
  }
  if (Array.isArray(value)) return `array ${showLiteral(value, path)}`;
  return `${typeof value} ${showLiteral(value, path)}`;
}

/** A value's JSON, cut at 60 characters. */
export function showLiteral(value: unknown, path: ValuePath = []): string {
  if (isSecret(value, path)) return "(hidden)";
  const text = JSON.stringify(shorten(value, path, 0)) ?? String(value);
  return cutAnywhere(text, MAX_SHOWN);
}

/** Only as much of a value as can be shown, with secrets replaced: a value may be megabytes long. */
function shorten(value: unknown, path: ValuePath, depth: number): unknown {
  if (isSecret(value, path)) return "(hidden)";
  if (typeof value === "string") return cutAnywhere(value, MAX_SHOWN);
  if (typeof value === "bigint") return `${value}`;
  if (typeof value !== "object" || value === null) return value;
  if (depth > 3) return Array.isArray(value) ? [] : {};
  if (Array.isArray(value)) {
    return value.slice(0, MAX_KEYS).map((item, index) => shorten(item, [...path, index], depth + 1));
  }
  const keys = Object.keys(value).slice(0, MAX_KEYS);
  return Object.fromEntries(
    keys.map((key) => [key.slice(0, MAX_SHOWN), shorten(getOwn(value, key), [...path, key], depth + 1)]),
  );
}

/** True for text under a key, or of a form, that secrets have. Also for text in a list under such a key. */
function isSecret(value: unknown, path: ValuePath): boolean {
  if (typeof value !== "string") return false;
  if (SECRET_VALUE.test(value.slice(0, 200))) return true;
  const key = path.findLast((part) => typeof part === "string");
  return typeof key === "string" && SECRET_KEY.test(key.replace(/([a-z])([A-Z])/g, "$1_$2").replaceAll("-", "_"));
}
