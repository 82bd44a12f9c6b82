import { access, chmod, constants, copyFile, mkdir, readFile, realpath } from "node:fs/promises";
import { dirname } from "node:path";
import { replaceFile } from "../../approvals/replace-file.ts";
import { SvcError } from "../../errors.ts";

/** The text of a configuration file; empty when there is none. Throws SvcError `invalid_config` when it cannot be used. */
export async function readConfigFile(file: string): Promise<string> {
  try {
    const text = await readFile(file, "utf8");
    await access(dirname(await realpath(file)), constants.W_OK);
    return text;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return "";
    throw new SvcError("invalid_config", `${file} cannot be read and replaced (${codeOf(error)}).`, {
      field: "file",
      hint: "Check its permissions, or choose another file with --file.",
      cause: error,
    });
  }
}

/**
 * Replaces a configuration file whole, readable by its owner alone, because it holds a key from now on. What was there is
 * kept beside it. A link stays a link: the file it leads to is replaced.
 *
 * @returns path of the copy of the old content; undefined when there was none.
 */
export async function replaceConfigFile(file: string, text: string, now: Date): Promise<string | undefined> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const target = await realpath(file).catch(() => file);
  const backup = `${target}.backup-${now.toISOString().replaceAll(/[-:]|\.\d+/g, "")}`;
  const hadContent = await copyFile(target, backup).then(
    () => true,
    (error) => {
      if (codeOf(error) === "ENOENT") return false;
      throw error;
    },
  );
  if (hadContent) await chmod(backup, 0o600);
  await replaceFile(target, text);
  return hadContent ? backup : undefined;
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown";
}
