import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isObject } from "./describe-piece.ts";

type Json = Record<string, unknown>;

/** Marks a value of a list that is not text, so that it travels as text; the rest is its JSON. */
const JSON_MARK = "json:";

/** A value of a list as an agent is shown it. */
export function showOption(value: unknown): string {
  return typeof value === "string" && !value.startsWith(JSON_MARK) ? value : JSON_MARK + JSON.stringify(value ?? null);
}

/**
 * Arguments as a piece expects them: values of lists as the piece gave them, files with their bytes, and what its form
 * would have filled in.
 *
 * @param folder where files of the arguments lie
 */
export function prepareArgs(properties: unknown, args: Json, folder: string): Json {
  const fields = isObject(properties) ? Object.entries(properties) : [];
  const known = fields.flatMap(([name, property]) => {
    const value = args[name] ?? (isObject(property) ? property.defaultValue : undefined);
    return value === undefined ? [] : [[name, isObject(property) ? prepareValue(property, value, folder) : value]];
  });
  return { ...args, ...Object.fromEntries(known) };
}

function prepareValue(property: Json, value: unknown, folder: string): unknown {
  switch (property.type) {
    case "DROPDOWN":
      return readOption(value);
    case "MULTI_SELECT_DROPDOWN":
      return Array.isArray(value) ? value.map(readOption) : value;
    case "FILE":
      return isObject(value) ? readFile(value, folder) : value;
    case "ARRAY":
      return Array.isArray(value) && isObject(property.properties)
        ? value.map((item) => (isObject(item) ? prepareArgs(property.properties, item, folder) : item))
        : value;
    default:
      return value;
  }
}

function readOption(value: unknown): unknown {
  if (typeof value !== "string" || !value.startsWith(JSON_MARK)) return value;
  try {
    return JSON.parse(value.slice(JSON_MARK.length));
  } catch {
    return value;
  }
}

function readFile({ file, name }: Json, folder: string): Json {
  const data = readFileSync(join(folder, String(file)));
  const filename = String(name);
  const dot = filename.lastIndexOf(".");
  return {
    filename,
    data,
    extension: dot > 0 ? filename.slice(dot + 1) : undefined,
    get base64() {
      return data.toString("base64");
    },
  };
}
