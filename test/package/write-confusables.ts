import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { z } from "zod";

/*
 * Writes which letters look like Latin ones, src/shared/seen/confusables.json, from Unicode's table of confusables as the npm
 * package unhomoglyph 1.0.6 has it:
 *
 *   node test/package/write-confusables.ts --unhomoglyph DIR
 */

const { values } = parseArgs({ options: { unhomoglyph: { type: "string" } } });
const directory = z.string().parse(values.unhomoglyph);
const table = z.record(z.string(), z.string()).parse(JSON.parse(readFileSync(join(directory, "data.json"), "utf8")));

const letters = new Map<string, Set<string>>();
for (const [one, other] of Object.entries(table)) {
  const letter = one.normalize("NFKC").toLowerCase();
  const plain = other.normalize("NFKC").toLowerCase();
  const single = [...letter].length === 1 && /^[\p{L}\p{N}]$/u.test(letter) && letter > "\u007f";
  if (!single || !/^[a-z0-9]+$/.test(plain)) continue;
  letters.set(plain, (letters.get(plain) ?? new Set()).add(letter));
}

const content = {
  from: "Unicode's confusables.txt, by unhomoglyph 1.0.6: letters and digits that look like Latin ones, in lower case",
  licence: readFileSync(join(directory, "LICENSE"), "utf8").replaceAll(/\s+/g, " ").trim(),
  letters: Object.fromEntries(
    [...letters].toSorted().map(([plain, others]) => [plain, [...others].toSorted().join("")]),
  ),
};
writeFileSync(
  new URL("../../src/shared/seen/confusables.json", import.meta.url),
  `${JSON.stringify(content, null, 2)}\n`,
);
console.log(`${[...letters.values()].reduce((sum, others) => sum + others.size, 0)} letters`);
