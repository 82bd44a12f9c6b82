import { afterEach, beforeEach, expect, test } from "vitest";
import { openAiSdkTools } from "../../../src/ai-sdk.ts";
import { openToolbox } from "../../../src/index.ts";
import { SvcToolkit } from "../../../src/langchain.ts";
import { openAgentTools } from "../../../src/openai-agents.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { postMcp } from "../../service/mcp/mcp-calls.ts";
import { connectHere, makeHome } from "./mcp/mcp-client.ts";

/** One setting in every runtime: all actions have tools of their own while a model reads them within the budget, else none. */

let service: TestService;
let all: string[];
beforeEach(async () => {
  service = await startTestService();
  const listed = await fetch(`${service.url}/api/tools`, { headers: { "x-svc-api-key": service.apiKey } });
  all = ((await listed.json()) as { tools: { name: string }[] }).tools.map(({ name }) => name).sort();
});
afterEach(() => service.close());

/** Names of the tools that are listed with a budget, by runtime. OpenClaw's are agreed to: see `plan-sync.test.ts`. */
const LISTS: Record<string, (maxToolTokens: number) => Promise<string[]>> = {
  async library(maxToolTokens) {
    const toolbox = await openToolbox({ ...key(), maxToolTokens });
    const names = toolbox.tools.map(({ name }) => name);
    await toolbox.close();
    return names;
  },
  async "AI SDK"(maxToolTokens) {
    const { tools, close } = await openAiSdkTools({ ...key(), maxToolTokens });
    await close();
    return Object.keys(tools);
  },
  async "OpenAI Agents SDK"(maxToolTokens) {
    const { tools, close } = await openAgentTools({ ...key(), maxToolTokens });
    await close();
    return tools.map(({ name }) => name);
  },
  async LangChain(maxToolTokens) {
    const toolkit = await SvcToolkit.create(key());
    const tools = await toolkit.loadTools({ maxToolTokens });
    await toolkit.close();
    return tools.map(({ name }) => name);
  },
  async "svc mcp"(maxToolTokens) {
    const place = await makeHome();
    const client = await connectHere(place.home, service, { maxToolTokens });
    const names = (await client.listTools()).map(({ name }) => name);
    await client.close();
    await place.remove();
    return names;
  },
  async "/api/mcp"(maxToolTokens) {
    const { json } = await postMcp(service, LIST, {}, `?maxToolTokens=${maxToolTokens}`);
    return json.result.tools.map(({ name }: { name: string }) => name);
  },
};
const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list" };
const key = () => ({ baseUrl: service.url, apiKey: service.apiKey });

test.each(Object.keys(LISTS))("%s lists all actions within the budget, and none beyond it", async (runtime) => {
  const list = async (tokens: number) =>
    (await LISTS[runtime]?.(tokens))?.filter((name) => !/^svc[_.]/.test(name)).sort();
  expect(await list(100_000)).toEqual(all);
  expect(await list(1_000)).toEqual([]);
  expect(await list(0)).toEqual([]);
});
