import { readFile } from "node:fs/promises";

/** The build writes the version in its place: a bundler that takes the package in has no such file beside it. */
declare const SVC_VERSION: string | undefined;

/** Version of this package. */
export async function readVersion(): Promise<string> {
  if (typeof SVC_VERSION === "string") return SVC_VERSION;
  const text = await readFile(new URL("../../../package.json", import.meta.url), "utf8");
  const { version } = JSON.parse(text) as { version: string };
  return version;
}
