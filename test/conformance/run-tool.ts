import { spawn } from "node:child_process";
import { once } from "node:events";

/** How a program ended. */
export interface ToolRun {
  readonly code: number;
  readonly output: string;
}

/** Longest time one program may take. */
const TIMEOUT_MS = 90_000;

/** Runs a JavaScript file with this Node and gathers what it prints. */
export async function runTool(
  script: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<ToolRun> {
  return run(process.execPath, [script, ...args], env);
}

/** Runs a program and gathers what it prints. */
export async function run(
  command: string,
  args: readonly string[],
  env: Record<string, string> = {},
  cwd = process.cwd(),
): Promise<ToolRun> {
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: TIMEOUT_MS,
  });
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
  });
  child.stderr.on("data", (chunk) => {
    output += chunk;
  });
  const [code] = await once(child, "close");
  return { code: typeof code === "number" ? code : -1, output };
}
