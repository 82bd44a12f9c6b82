import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { openToolbox } from "../../src/index.ts";
import { SvcToolkit } from "../../src/langchain.ts";
import { createOfferedTools } from "../../src/runtimes/mcp/offered-tools.ts";
import { STATIC_DEFINITIONS } from "../../src/runtimes/openclaw/translate-tool.ts";
import type { TestService } from "../../src/testing.ts";

/** The tools that one way in shows a model before any action has a tool of its own. */
export interface ToolSurface {
  readonly name: string;
  readonly tools: readonly unknown[];
}

/** Every surface with its tools as their names, descriptions and schemas are sent. */
export async function readToolSurfaces({ url, apiKey }: TestService): Promise<ToolSurface[]> {
  const options = { baseUrl: url, apiKey };
  const toolkit = await SvcToolkit.create(options);
  const toolbox = await openToolbox({ ...options, limit: 0 });
  const list = await fetch(`${url}/api/mcp`, { headers: { "x-svc-api-key": apiKey } });
  const { tools } = (await list.json()) as { tools: unknown[] };
  const fixed = toolkit.getTools().filter(({ name }) => name.startsWith("svc_"));
  const surfaces = [
    { name: "LangChain", tools: fixed.map((tool) => convertToOpenAITool(tool)) },
    { name: "OpenClaw", tools: STATIC_DEFINITIONS },
    {
      name: "another runtime",
      tools: toolbox.tools.map(({ name, description, schema }) => ({ name, description, schema })),
    },
    {
      name: "svc mcp",
      tools: await createOfferedTools(toolbox.session, {
        names: [],
        maxToolTokens: 0,
        onChange: () => undefined,
      }).list(),
    },
    { name: "MCP endpoint of the service", tools },
  ];
  await toolkit.close();
  await toolbox.close();
  return surfaces;
}
