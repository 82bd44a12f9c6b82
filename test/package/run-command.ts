import { execFile } from "node:child_process";

/** How a command ended. */
export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Settings of the outer npm that an inner npm must share; everything else it would inherit is left behind. */
const NPM_KEPT = /^npm_config_(cache|registry|userconfig|globalconfig)$/i;

/**
 * Runs a command to its end. Never rejects: a command that cannot start ends with code 127.
 *
 * @param added variables on top of those of this process
 * @param input what the command reads; its input stays open when this is left out
 */
export function runCommand(
  file: string,
  args: readonly string[],
  cwd: string,
  added: Readonly<Record<string, string>> = {},
  input?: string,
): Promise<CommandResult> {
  const inherited = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name) || NPM_KEPT.test(name));
  const env = { ...Object.fromEntries(inherited), ...added };
  return new Promise((resolve) => {
    const child = execFile(file, [...args], { cwd, env, maxBuffer: 32 * 1024 * 1024 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : 127;
      resolve({ code, stdout, stderr: code === 127 && stderr === "" ? String(error) : stderr });
    });
    if (input !== undefined) child.stdin?.end(input);
  });
}
