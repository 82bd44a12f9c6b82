import { ChatAnthropic } from "@langchain/anthropic";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { ChatOpenAI, ChatOpenAIResponses } from "@langchain/openai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { projectToolSchema } from "../../../src/index.ts";
import { SvcToolkit } from "../../../src/langchain.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { closeAll, closeLater } from "../../calls/open-test-session.ts";

/** What really leaves for a model provider; the request is caught and never sent. */

let service: TestService;
let toolkit: SvcToolkit;
beforeEach(async () => {
  service = closeLater(await startTestService());
  const options = { baseUrl: service.url, apiKey: service.apiKey };
  toolkit = closeLater(await SvcToolkit.create(options));
});
afterEach(closeAll);

interface SentTool {
  readonly name: string;
  readonly description: unknown;
  readonly schema: unknown;
}

/** A fetch that keeps the body and answers with an error, so that the client stops there. */
function createCatcher() {
  const bodies: Record<string, unknown>[] = [];
  const fetch = async (input: unknown, init?: { body?: unknown }) => {
    const body = init?.body ?? (input instanceof Request ? await input.text() : "{}");
    bodies.push(JSON.parse(String(body)));
    return new Response(JSON.stringify({ error: { message: "caught" } }), {
      status: 400,
      headers: { "content-type": "application/json" },
    });
  };
  return { fetch: fetch as typeof globalThis.fetch, bodies };
}

type Item = Record<string, Record<string, unknown>>;

function readTools([body]: Record<string, unknown>[]): Item[] {
  return Array.isArray(body?.tools) ? body.tools : [];
}

const CLIENTS: [
  string,
  (fetch: typeof globalThis.fetch) => ChatOpenAI | ChatOpenAIResponses | ChatAnthropic,
  (item: Item) => SentTool,
][] = [
  [
    "OpenAI chat completions",
    (fetch) => new ChatOpenAI({ model: "m", apiKey: "k", maxRetries: 0, configuration: { fetch } }),
    ({ function: tool }) => ({ name: String(tool?.name), description: tool?.description, schema: tool?.parameters }),
  ],
  [
    "OpenAI responses",
    (fetch) => new ChatOpenAIResponses({ model: "m", apiKey: "k", maxRetries: 0, configuration: { fetch } }),
    (tool) => ({ name: String(tool.name), description: tool.description, schema: tool.parameters }),
  ],
  [
    "Anthropic messages",
    (fetch) => new ChatAnthropic({ model: "m", apiKey: "k", maxRetries: 0, clientOptions: { fetch } }),
    (tool) => ({ name: String(tool.name), description: tool.description, schema: tool.input_schema }),
  ],
];

describe.each(CLIENTS)("%s", (_name, createModel, read) => {
  it("gets the projection of every tool, byte for byte", async () => {
    const tools = toolkit.getTools({ staticTools: false });
    const { fetch, bodies } = createCatcher();
    await createModel(fetch)
      .bindTools(tools)
      .invoke("hello")
      .catch(() => undefined);
    const sent = readTools(bodies).map(read);
    expect(sent).toHaveLength(tools.length);
    expect(tools.length).toBeGreaterThan(10);
    for (const [index, tool] of tools.entries()) {
      const entry = await toolkit.session.catalog.find(String(tool.metadata?.toolName));
      const { schema } = projectToolSchema(entry?.inputSchema, { profile: "full" });
      const one = sent[index];
      expect(JSON.stringify(one?.schema)).toBe(JSON.stringify(schema));
      expect(one).toMatchObject({ name: tool.name, description: tool.description });
    }
  });

  it("gets the static tools as they are", async () => {
    const tools = toolkit.getTools({ tools: [] });
    const { fetch, bodies } = createCatcher();
    await createModel(fetch)
      .bindTools(tools)
      .invoke("hello")
      .catch(() => undefined);
    const sent = readTools(bodies).map(read);
    expect(sent.map(({ name }) => name)).toEqual(tools.map(({ name }) => name));
    const { parameters } = convertToOpenAITool(tools[0]!).function;
    expect(JSON.stringify(sent[0]?.schema)).toBe(JSON.stringify(parameters));
  });
});
