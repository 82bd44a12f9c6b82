import { readFileSync } from "node:fs";
import { join } from "node:path";

const LINE = /^[ \t]*(?:export[ \t]+)?(?<name>[A-Za-z_]\w*)[ \t]*=[ \t]*(?<value>.*?)[ \t\r]*$/gm;

/**
 * Variables that the `.env` file of `folder` sets; none when there is no such file. The host takes them over from the
 * folder it is started in, which may be a stranger's, such as a cloned repository.
 */
export function readLocalVariables(folder: string): ReadonlyMap<string, string> {
  let text: string;
  try {
    text = readFileSync(join(folder, ".env"), "utf8");
  } catch {
    return new Map();
  }
  const found = new Map<string, string>();
  for (const { groups } of text.matchAll(LINE)) {
    if (groups?.name !== undefined) found.set(groups.name, readValue(groups.value ?? ""));
  }
  return found;
}

/** Without quotes, and without a comment behind a value that has none. */
function readValue(text: string): string {
  const quoted = /^(["'`])(?<inner>.*?)\1/.exec(text)?.groups?.inner;
  return quoted ?? text.replace(/\s+#.*$|^#.*$/, "");
}
