import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { startTestService } from "../../src/testing.ts";
import { readSearchAnswers, readToolSurfaces } from "../../test/docs/tool-surfaces.ts";

/*
 * What every way in costs a model before its first call, and what it reads of each tool that a search finds, in tokens of
 * GPT-4o and later: the table of docs/performance.md. The tokenizer comes from bench/package.json: npm ci --prefix bench.
 */

const tokenizer = join(import.meta.dirname, "../node_modules/gpt-tokenizer/esm/encoding/o200k_base.js");
const { countTokens } = (await import(pathToFileURL(tokenizer).href)) as { countTokens(text: string): number };
const service = await startTestService();
const answers = await readSearchAnswers(service);
const perTool = (given: typeof answers.plugin) =>
  Math.round(Math.max(...given.map(({ text, count }) => countTokens(text) / count)));
for (const { name, tools, instructions } of await readToolSurfaces(service)) {
  const text = JSON.stringify(tools);
  const found = perTool(name.startsWith("MCP endpoint") ? answers.endpoint : answers.plugin);
  const tokens = countTokens(text) + countTokens(instructions);
  const figures = [tools.length, text.length + instructions.length, tokens, found].map((one) =>
    one.toLocaleString("en"),
  );
  console.log(`| ${[name, ...figures].join(" | ")} |`);
}
await service.close();
