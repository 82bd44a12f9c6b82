import { execFile } from "node:child_process";
import { promisify } from "node:util";

/**
 * Runs a script that measures one thing in a fresh process and prints it as a last line of JSON.
 *
 * @param nodeFlags for Node itself; default `--expose-gc`, so that the script can settle the heap first.
 */
export async function runSample<Sample>(
  script: string,
  args: readonly string[],
  nodeFlags: readonly string[] = ["--expose-gc"],
): Promise<Sample> {
  const { stdout } = await promisify(execFile)(process.execPath, [...nodeFlags, script, ...args]);
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
}
