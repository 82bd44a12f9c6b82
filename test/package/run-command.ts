import { execFile } from "node:child_process";

/** How a command ended. */
export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Settings of the outer npm that an inner npm must share; everything else it would inherit is left behind. */
const NPM_KEPT = /^npm_config_(cache|registry|userconfig|globalconfig)$/i;

/** Runs a command to its end. Never rejects: a command that cannot start ends with code 127. */
export function runCommand(file: string, args: readonly string[], cwd: string): Promise<CommandResult> {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name) || NPM_KEPT.test(name)),
  );
  return new Promise((resolve) => {
    execFile(file, [...args], { cwd, env, maxBuffer: 32 * 1024 * 1024 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : 127;
      resolve({ code, stdout, stderr: code === 127 && stderr === "" ? String(error) : stderr });
    });
  });
}
