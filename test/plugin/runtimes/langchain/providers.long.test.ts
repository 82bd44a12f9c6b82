import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { projectToolSchema } from "../../../../src/index.ts";
import { toModelName } from "../../../../src/plugin/calls/build.ts";
import { generateTools } from "../../calls/catalog-service.ts";
import { createToolOver } from "../../schema/create-tool-over.ts";
import { PROVIDERS } from "./provider-clients.ts";
import { findViolations } from "./provider-rules.ts";

/** Thousands of tools as they leave for each provider: public ones where a neighbouring folder holds them. */

interface SourceTool {
  readonly name: string;
  readonly inputSchema?: unknown;
}

const SETS = ["catalog.jsonl", "tool-schemas.jsonl"].flatMap((file) => {
  const path = join(import.meta.dirname, "../../../../shared/data", file);
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, "utf8").split("\n");
  return [{ file, tools: lines.filter((line) => line !== "").map((line): SourceTool => JSON.parse(line)) }];
});

describe.each([{ file: "generated", tools: generateTools(1_000) as SourceTool[] }, ...SETS])("$file", ({ tools }) => {
  it.each(PROVIDERS)("$name gets each tool by its rules", async (provider) => {
    const { profile } = provider;
    const shown = tools.map(({ name, inputSchema }) =>
      createToolOver({ name: toModelName(name), schema: projectToolSchema(inputSchema, { profile }).schema }),
    );
    const sent = await provider.send(shown);
    expect(sent).toHaveLength(tools.length);
    expect(sent.flatMap((tool) => findViolations(provider, tool))).toEqual([]);
  });
});
