import { readFile } from "node:fs/promises";

/** This file's ending tells whether the sources or the built package run, which lie at different depths. */
const PACKAGE = new URL(import.meta.url.endsWith(".ts") ? "../../package.json" : "../package.json", import.meta.url);

/** Version of this package. */
export async function readVersion(): Promise<string> {
  const text = await readFile(PACKAGE, "utf8");
  const { version } = JSON.parse(text) as { version: string };
  return version;
}
