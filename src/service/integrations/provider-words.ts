import { isRecord, parseJson } from "../../base/json.ts";

/** What an error answer says for people, wherever its API puts it; undefined when it says nothing, or is a web page. */
export function findProviderWords(text: string): string | undefined {
  const value = parseJson(text) ?? undefined;
  if (value === undefined) return /<html|<!doctype/i.test(text) ? undefined : text.slice(0, 300) || undefined;
  for (const part of [value, isRecord(value) ? value.error : undefined]) {
    if (typeof part === "string") return part;
    if (!isRecord(part)) continue;
    const found = [part.message, part.detail, part.title, part.error_description].find(isText);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
