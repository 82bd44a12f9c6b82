import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { startTestService } from "../../src/testing.ts";
import { readToolSurfaces } from "../../test/docs/tool-surfaces.ts";

/*
 * How large the list of tools of every way in is, in characters of JSON and in tokens of GPT-4o and later: the table of
 * docs/many-tools.md. The tokenizer comes from bench/package.json: npm ci --prefix bench.
 */

const tokenizer = join(import.meta.dirname, "../node_modules/gpt-tokenizer/esm/encoding/o200k_base.js");
const { countTokens } = (await import(pathToFileURL(tokenizer).href)) as { countTokens(text: string): number };
const service = await startTestService();
for (const { name, tools } of await readToolSurfaces(service)) {
  const text = JSON.stringify(tools);
  const figures = [tools.length, text.length, countTokens(text)].map((figure) => figure.toLocaleString("en"));
  console.log(`| ${[name, ...figures].join(" | ")} |`);
}
await service.close();
