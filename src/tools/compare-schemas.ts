import { canonicalJson } from "../approvals/fingerprint.ts";
import { isRecord } from "../schema/json-schema.ts";
import type { JsonSchema } from "../wire/tool.ts";

const MAX_LINES = 12;

/** What changed between two schemas of one tool, one line each, by argument name. Empty when they are equal. */
export function compareSchemas(before: JsonSchema | null, after: JsonSchema | null): string[] {
  if (canonicalJson(before) === canonicalJson(after)) return [];
  const [oldProperties, newProperties] = [readProperties(before), readProperties(after)];
  const [oldRequired, newRequired] = [readRequired(before), readRequired(after)];
  const lines: string[] = [];
  for (const name of Object.keys(newProperties)) {
    const required = newRequired.has(name);
    if (!Object.hasOwn(oldProperties, name)) {
      lines.push(`new ${required ? "required" : "optional"} argument ${name}`);
    } else if (canonicalJson(oldProperties[name]) !== canonicalJson(newProperties[name])) {
      lines.push(`argument ${name} has a new definition`);
    } else if (required !== oldRequired.has(name)) {
      lines.push(`argument ${name} is now ${required ? "required" : "optional"}`);
    }
  }
  for (const name of Object.keys(oldProperties)) {
    if (!Object.hasOwn(newProperties, name)) lines.push(`argument ${name} is gone`);
  }
  if (lines.length === 0) lines.push("rules that concern several arguments changed");
  return lines.length <= MAX_LINES ? lines : [...lines.slice(0, MAX_LINES), `${lines.length - MAX_LINES} more changes`];
}

function readProperties(schema: JsonSchema | null): Record<string, unknown> {
  return isRecord(schema?.properties) ? schema.properties : {};
}

function readRequired(schema: JsonSchema | null): Set<unknown> {
  return new Set(Array.isArray(schema?.required) ? schema.required : []);
}
