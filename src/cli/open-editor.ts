import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Editor } from "../plugin/runtimes/terminal/approve-in-terminal.ts";
import type { CliContext } from "./context.ts";

/** Largest text that is read back, in bytes. */
const MAX_BYTES = 16 * 1024 * 1024;

/** The editor of the human at the terminal, from `VISUAL` or `EDITOR`; undefined without one, without a terminal, and on Windows. */
export function findEditor({
  env,
  input,
  output,
  terminal,
}: Pick<CliContext, "env" | "input" | "output"> & {
  readonly terminal: Pick<CliContext["terminal"], "json">;
}): Editor | undefined {
  const command = env.VISUAL?.trim() || env.EDITOR?.trim();
  if (process.platform === "win32" || !command || input.isTTY !== true || output.isTTY !== true) return undefined;
  return (text, signal) =>
    editFile(text, (file) => runEditor(command, { file, output: terminal.json ? 2 : 1, signal }));
}

/**
 * Writes the text to a file of its own that only its owner can read, and reads it back when `edit` has ended well. The file
 * is removed in any case, with what an editor may have left beside it.
 */
export async function editFile(text: string, edit: (file: string) => Promise<boolean>): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), "svc-edit-"));
  try {
    // The ending tells editors how to colour it.
    const file = join(folder, "arguments.json");
    await writeFile(file, text, { mode: 0o600 });
    if (!(await edit(file)) || (await stat(file)).size > MAX_BYTES) return undefined;
    return await readFile(file, "utf8");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs the command of the human, a program with any arguments; true when it ended well. */
export function runEditor(
  command: string,
  { file, output, signal }: { readonly file: string; readonly output: number; readonly signal: AbortSignal },
): Promise<boolean> {
  const stdio = ["inherit", output, "inherit"] as const;
  return new Promise((resolve, reject) => {
    // In the place of the shell, so that it is the one that is ended.
    const child = spawn("/bin/sh", ["-c", `exec ${command} "$1"`, "svc", file], { stdio: [...stdio] });
    const stop = () => {
      child.kill();
      reject(signal.reason);
    };
    signal.addEventListener("abort", stop, { once: true });
    const end = (isWell: boolean) => {
      signal.removeEventListener("abort", stop);
      resolve(isWell);
    };
    child.once("error", () => end(false));
    child.once("close", (code) => end(code === 0));
  });
}
