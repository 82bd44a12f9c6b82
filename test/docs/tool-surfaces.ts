import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { asSchema } from "ai";
import { openAiSdkTools } from "../../src/ai-sdk.ts";
import { openToolbox } from "../../src/index.ts";
import { SvcToolkit } from "../../src/langchain.ts";
import { openAgentTools } from "../../src/openai-agents.ts";
import { createOfferedTools } from "../../src/plugin/runtimes/mcp/offered-tools.ts";
import { INSTRUCTIONS } from "../../src/plugin/runtimes/mcp/serve-mcp.ts";
import { STATIC_DEFINITIONS } from "../../src/plugin/runtimes/openclaw/translate-tool.ts";
import type { TestService } from "../../src/testing.ts";

/** What one way in gives a model before its first call, while no action has a tool of its own. */
export interface ToolSurface {
  readonly name: string;
  /** With names, descriptions and schemas as they are sent; in MCP with the hints for the client. */
  readonly tools: readonly unknown[];
  /** Empty where the program writes them. */
  readonly instructions: string;
}

/** Every surface. */
export async function readToolSurfaces({ url, apiKey }: TestService): Promise<ToolSurface[]> {
  const options = { baseUrl: url, apiKey };
  const toolkit = await SvcToolkit.create(options);
  const toolbox = await openToolbox({ ...options, limit: 0 });
  const ai = await openAiSdkTools({ ...options, limit: 0 });
  const agents = await openAgentTools({ ...options, limit: 0 });
  const list = await fetch(`${url}/api/mcp`, { headers: { "x-svc-api-key": apiKey } });
  const endpoint = (await list.json()) as Pick<ToolSurface, "tools" | "instructions">;
  const fixed = toolkit.getTools().filter(({ name }) => name.startsWith("svc_"));
  const offer = { names: [], maxToolTokens: 0, onChange: () => undefined };
  const local = await createOfferedTools(toolbox.session, offer).list();
  const surfaces = [
    { name: "svc mcp", tools: local, instructions: INSTRUCTIONS },
    { name: "MCP endpoint of the service", tools: endpoint.tools, instructions: endpoint.instructions },
    { name: "LangChain", tools: fixed.map((tool) => convertToOpenAITool(tool)), instructions: "" },
    {
      name: "AI SDK",
      tools: await Promise.all(
        Object.entries(ai.tools).map(async ([name, { description, inputSchema }]) => {
          return { name, description, inputSchema: await asSchema(inputSchema).jsonSchema };
        }),
      ),
      instructions: "",
    },
    {
      name: "OpenAI Agents SDK",
      tools: agents.tools.map(({ name, description, parameters }) => ({ name, description, parameters })),
      instructions: "",
    },
    { name: "OpenClaw", tools: STATIC_DEFINITIONS, instructions: "" },
  ];
  for (const opened of [toolkit, toolbox, ai, agents]) await opened.close();
  return surfaces;
}

/** Questions that find more than a page of tools of the built-in apps. */
const QUESTIONS = ["unread mail", "create a page", "delete an event", "send a mail with a file", "find a contact"];

/** Answers to some searches as a model reads them, each with the number of its tools: of the plugin, and of the endpoint. */
export async function readSearchAnswers({ url, apiKey }: TestService) {
  const toolbox = await openToolbox({ baseUrl: url, apiKey, limit: 0 });
  const find = toolbox.tools.find(({ name }) => name === "svc_search_tools");
  const answers = { plugin: [] as SearchAnswer[], endpoint: [] as SearchAnswer[] };
  for (const query of QUESTIONS) {
    const text = (await find?.run({ query }, { callId: query }))?.text ?? "";
    answers.plugin.push({ text, count: JSON.parse(text).result.tools.length });
    const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "svc.search", arguments: { query } } };
    const headers = { "x-svc-api-key": apiKey, "content-type": "application/json" };
    const reply = await fetch(`${url}/api/mcp`, { method: "POST", headers, body: JSON.stringify(body) });
    const found = ((await reply.json()) as { result: { content: [{ text: string }] } }).result.content[0].text;
    answers.endpoint.push({ text: found, count: JSON.parse(found).items.length });
  }
  await toolbox.close();
  return answers;
}

interface SearchAnswer {
  readonly text: string;
  readonly count: number;
}
