import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";

const SPECIFIER = /(?:\bfrom|\bimport)\s*\(?\s*"((?:\.{1,2}\/|@?[a-z])[\w@.:/-]*)"/g;

/**
 * Every file that these built files come to import, themselves among them, and the packages they name.
 *
 * @param locate the file that a path stands for, such as the declarations of a module; default: the path itself
 */
export async function followImports(
  entries: readonly string[],
  locate: (path: string) => string = (path) => path,
): Promise<{ files: ReadonlySet<string>; packages: ReadonlySet<string> }> {
  const files = new Set<string>();
  const packages = new Set<string>();
  const queue = [...entries];
  for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
    if (files.has(file)) continue;
    files.add(file);
    const text = await readFile(file, "utf8");
    for (const [, specifier = ""] of text.matchAll(SPECIFIER)) {
      if (specifier.startsWith(".")) queue.push(locate(resolve(dirname(file), specifier)));
      else packages.add(specifier);
    }
  }
  return { files, packages };
}
