import { isRecord } from "../schema/json-schema.ts";
import { toPlainText } from "../wire/plain-text.ts";
import type { JsonSchema } from "../wire/tool.ts";

/**
 * A projected schema without controls, direction marks and invisible letters in what a model reads: texts show them as
 * codes, defaults and examples that hold any are left out. Names are legal already; values to choose from stay as they
 * are, since the model must be able to give them back.
 */
export function cleanSchema(schema: JsonSchema): JsonSchema {
  const entries = Object.entries(schema).filter(([keyword, value]) => !SAMPLES.has(keyword) || isPlain(value));
  const cleaned = entries.map(([keyword, value]) => [keyword, cleanValue(keyword, value)] as const);
  return Object.fromEntries(cleaned);
}

const TEXTS: ReadonlySet<string> = new Set(["title", "description"]);
const SAMPLES: ReadonlySet<string> = new Set(["default", "examples"]);
const CHOICES: ReadonlySet<string> = new Set(["enum", "const"]);

function cleanValue(keyword: string, value: unknown): unknown {
  if (TEXTS.has(keyword) && typeof value === "string") return toPlainText(value, { keepLines: true });
  if (CHOICES.has(keyword)) return value;
  if (Array.isArray(value)) return value.map((branch: unknown) => (isRecord(branch) ? cleanSchema(branch) : branch));
  if (!isRecord(value)) return value;
  if (keyword !== "properties") return cleanSchema(value);
  return Object.fromEntries(
    Object.entries(value).map(([name, node]) => [name, isRecord(node) ? cleanSchema(node) : node]),
  );
}

function isPlain(value: unknown): boolean {
  if (typeof value === "string") return toPlainText(value, { keepLines: true }) === value;
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(([name, part]) => isPlain(name) && isPlain(part));
}
