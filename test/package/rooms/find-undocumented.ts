import type { Source } from "../../../bench/house/read-sources.ts";
import type { Violation } from "./find-violations.ts";

/** A declaration at the edge of a file, in the formatter's layout: whether it is exported, and its name. */
const DECLARATION =
  /^(export )?(?:(?:declare|abstract|async) )*(?:const (?:[{[] ?)?|(?:function\*?|class|interface|type) )(\w+)/;
const DERIVED_TYPE = /^export type \w+ = (?:\(typeof (\w+)\)\[number\]|z\.(?:infer|input|output)<typeof (\w+)>);$/;

/** The declaration above the line that is read. */
interface Declared {
  readonly name: string;
  readonly line: number;
  readonly isDocumented: boolean;
}

/**
 * Exported declarations without a doc comment on the line above. A type derived in one line from the documented
 * declaration above it needs none, nor does a constant on the line after a documented one that it is made from.
 */
export function findUndocumented(sources: readonly Pick<Source, "path" | "text">[]): Violation[] {
  return sources.flatMap(({ path, text }) => {
    const lines = text.split("\n");
    const found: Violation[] = [];
    let above: Declared = { name: "", line: 0, isDocumented: false };
    for (const [index, line] of lines.entries()) {
      const [matched, exported, name = ""] = DECLARATION.exec(line) ?? [];
      if (matched === undefined) continue;
      const isDocumented = hasDocComment(lines, index) || isDerived(line, index + 1, above);
      if (exported !== undefined && !isDocumented)
        found.push({ file: path, line: index + 1, message: `"${name}" is exported without a doc comment.` });
      // A type that needs no comment leaves the declaration in place for the next one.
      if (!DERIVED_TYPE.test(line) || !isDocumented) above = { name, line: index + 1, isDocumented };
    }
    return found;
  });
}

function isDerived(line: string, number: number, above: Declared): boolean {
  if (!above.isDocumented) return false;
  const [, list, schema] = DERIVED_TYPE.exec(line) ?? [];
  if ((list ?? schema) === above.name) return true;
  const isNext = number === above.line + 1 && /^export const \w+ = .+;$/.test(line);
  return isNext && new RegExp(`\\b${above.name}\\b`).test(line);
}

/** True when a doc comment with a word in it ends right above this line, suppressions of the linter aside. */
function hasDocComment(lines: readonly string[], at: number): boolean {
  const last = lines.findLastIndex((line, index) => index < at && !line.startsWith("// biome-ignore"));
  if (!lines[last]?.endsWith("*/")) return false;
  const first = lines.findLastIndex((line, index) => index <= last && line.trimStart().startsWith("/*"));
  const comment = lines.slice(first, last + 1).join("\n");
  return comment.startsWith("/**") && /\w/.test(comment);
}
