import { readFile } from "node:fs/promises";
import { isRecord, parseLenientJson } from "./parse-lenient-json.ts";

/** A host's configuration as it stands in the file, or why it cannot be told. */
export type HostConfigReading =
  | { readonly kind: "read"; readonly config: Readonly<Record<string, unknown>>; readonly includesOthers: boolean }
  | { readonly kind: "missing" }
  | { readonly kind: "unreadable"; readonly reason: string };

/**
 * Reads a host's configuration from outside the host: JSON as the host writes it, or JSON5 as people do. What the host
 * adds while it loads (included files, environment variables in texts) is not followed.
 */
export async function readHostConfig(path: string): Promise<HostConfigReading> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    return code === "ENOENT" ? { kind: "missing" } : { kind: "unreadable", reason: `it cannot be opened (${code})` };
  }
  const config = parseLenientJson(text);
  if (!isRecord(config)) return { kind: "unreadable", reason: "it is not a form of JSON that is understood here" };
  return { kind: "read", config, includesOthers: includes(config) };
}

function includes(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(includes);
  return isRecord(value) && ("$include" in value || Object.values(value).some(includes));
}
