import { execFile } from "node:child_process";
import { promisify } from "node:util";

const ROOT = new URL("../../", import.meta.url);

/** Runs a `js` or `ts` block of a page with the sources in the place of the package, and gives what it printed. */
export async function runBlock(code: string, env: Readonly<Record<string, string>>): Promise<string> {
  const source = code.replaceAll(/"svc-agent-plugin(?:\/([\w-]+))?"/g, (_match, door = "index") =>
    JSON.stringify(new URL(`src/${door}.ts`, ROOT).href),
  );
  const args = ["--input-type=module-typescript", "--eval", source];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT, env: { ...env } });
  return stdout;
}
