import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PACKAGE_ROOT } from "./read-package.ts";

/** One fenced block of the README. */
interface Block {
  readonly language: string;
  readonly code: string;
  /** The `text` block that follows it before the next code, which is what it prints. */
  readonly prints: string | undefined;
}

/** Code blocks of the README in order, `text` blocks attached to the code above them. */
export function readReadmeBlocks(): Block[] {
  const text = readFileSync(join(PACKAGE_ROOT, "README.md"), "utf8");
  const fences = [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = "", code = ""]) => ({
    language,
    code,
  }));
  return fences.flatMap(({ language, code }, index) => {
    if (language === "text") return [];
    const next = fences[index + 1];
    return [{ language, code, prints: next?.language === "text" ? next.code : undefined }];
  });
}

/** The one block whose code holds `marker`. */
export function findReadmeBlock(marker: string): Block {
  const found = readReadmeBlocks().filter((block) => block.code.includes(marker));
  const [block] = found;
  if (found.length !== 1 || block === undefined) throw new Error(`${found.length} README blocks hold ${marker}`);
  return block;
}
