import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const PROGRAM = fileURLToPath(new URL("../../../openclaw-host/node_modules/openclaw/openclaw.mjs", import.meta.url));

/** Path of the OpenClaw that the tests use, or undefined when it is not installed. */
export function findOpenClaw(): string | undefined {
  return existsSync(PROGRAM) ? PROGRAM : undefined;
}
