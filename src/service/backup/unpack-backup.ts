import { createReadStream } from "node:fs";
import { chmod, lstat, readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { createInterface } from "node:readline";
import { pipeline } from "node:stream/promises";
import { toPlainText } from "../../shared/card/plain-text.ts";
import { runTar } from "./archive.ts";

/** What a line of `tar -tv` begins with for a folder and for a regular file. */
const PLAIN_ENTRY = /^[d-]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: a name that moves the cursor or breaks a line
const ODD_NAME = /[\u0000-\u001f\u007f]/;

/** True for a name that a backup may have. */
export function isPlainName(name: string): boolean {
  return !ODD_NAME.test(name);
}

/**
 * Unpacks a backup of whoever made it into an empty folder: folders (0700) and regular files (0600) alone, which belong
 * to the user that unpacks them. Returns what it
 * refuses, in words that follow the name of the file: links, which could lead out of the folder, devices and odd names.
 *
 * @throws SvcError `invalid_config` when `tar` is missing or fails
 */
export async function unpackBackup(file: string, folder: string): Promise<string | undefined> {
  const listed = await findOddEntry(file);
  if (listed !== undefined) return describeOdd(listed);
  await runTar(["-xzf", "-", "--no-same-owner", "-C", folder], (tar) => pipeline(createReadStream(file), tar.stdin));
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.map((entry) => ({ entry, path: join(entry.parentPath, entry.name) }));
  for (const { entry, path } of paths) {
    const isPlain = entry.isDirectory() || (entry.isFile() && (await lstat(path)).nlink === 1);
    if (!isPlain || !isPlainName(entry.name)) return describeOdd(relative(folder, path));
  }
  // Only now: nothing that is changed here can be something else outside of the folder.
  for (const { entry, path } of paths) await chmod(path, entry.isDirectory() ? 0o700 : 0o600);
  await chmod(folder, 0o700);
  return undefined;
}

/** The line of the first entry that is neither a folder nor a regular file, before anything is unpacked. */
async function findOddEntry(file: string): Promise<string | undefined> {
  let odd: string | undefined;
  const read = async (lines: AsyncIterable<string>) => {
    for await (const line of lines) if (line !== "" && !PLAIN_ENTRY.test(line)) odd ??= line;
  };
  await runTar(["-tvzf", "-"], (tar) =>
    Promise.all([pipeline(createReadStream(file), tar.stdin), read(createInterface({ input: tar.stdout }))]),
  );
  return odd;
}

function describeOdd(entry: string): string {
  return `holds something that is no folder and no plain file, or has an odd name, which no backup of svc does: ${toPlainText(entry, { max: 200 })}`;
}
