import { readFileSync } from "node:fs";

/** Reads one hand-written JSON file below `golden/`; `name` has no ending. */
export function readGolden(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`golden/${name}.json`, import.meta.url), "utf8"));
}

/** The same, for a file whose top level is an object. */
export function readGoldenObject(name: string): Record<string, unknown> {
  const value = readGolden(name);
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error(`${name} is no object`);
  return { ...value };
}
