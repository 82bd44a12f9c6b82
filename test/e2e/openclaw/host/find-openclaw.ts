import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const PROGRAM = fileURLToPath(new URL("../../../openclaw-host/node_modules/openclaw/openclaw.mjs", import.meta.url));

/** Path of the OpenClaw that the tests use, or undefined when it is not installed. */
export function findOpenClaw(): string | undefined {
  return existsSync(PROGRAM) ? PROGRAM : undefined;
}

/** Folder of its own code. */
export const HOST_CODE = join(dirname(PROGRAM), "dist");

/** Functions of a file of its own code. */
export async function loadFromHost(path: string): Promise<Readonly<Record<string, (...args: unknown[]) => unknown>>> {
  return import(pathToFileURL(join(HOST_CODE, path)).href);
}
