import { ChatAnthropic } from "@langchain/anthropic";
import { HumanMessage } from "@langchain/core/messages";
import { ChatGoogle } from "@langchain/google";
import { ChatGoogleGenerativeAI } from "@langchain/google-genai";
import { ChatOpenAI, ChatOpenAIResponses } from "@langchain/openai";
import { vi } from "vitest";
import type { SvcTool } from "../../../../src/langchain.ts";
import type { SchemaProfile } from "../../../../src/plugin/schema/project/project-schema.ts";
import { isRecord } from "../../../../src/shared/base/json.ts";

/** A tool as it left for a provider. */
export interface SentTool {
  readonly name: string;
  readonly description: unknown;
  readonly schema: unknown;
}

type Item = Record<string, unknown>;
type Invoke = (fetch: typeof globalThis.fetch, tools: SvcTool[]) => Promise<unknown>;

/** One of LangChain's packages for model providers. */
export interface ProviderClient {
  readonly name: string;
  readonly rules: "openai" | "anthropic" | "gemini";
  /** The setting of a toolkit whose model this is. */
  readonly profile: SchemaProfile;
  /** True when it passes schemas on as they are. */
  readonly isVerbatim: boolean;
  /** Binds the tools and reads them back from the request, which never leaves. */
  send(tools: SvcTool[]): Promise<SentTool[]>;
}

const hello = [new HumanMessage("hello")];
const common = { model: "m", apiKey: "k", maxRetries: 0 };
const google = { model: "gemini-2.5-flash", apiKey: "k", maxRetries: 0 };

const fromOpenAI = (tool: Item) => ({ ...tool, schema: tool.parameters });
const readGoogle = (body: Item) => list(list(body.tools)[0]?.functionDeclarations).map(fromOpenAI);

export const PROVIDERS: readonly ProviderClient[] = [
  create("OpenAI chat completions", "openai", {
    invoke: (fetch, tools) => new ChatOpenAI({ ...common, configuration: { fetch } }).bindTools(tools).invoke(hello),
    read: (body) => list(body.tools).map(({ function: tool }) => fromOpenAI(isRecord(tool) ? tool : {})),
  }),
  create("OpenAI responses", "openai", {
    invoke: (fetch, tools) =>
      new ChatOpenAIResponses({ ...common, configuration: { fetch } }).bindTools(tools).invoke(hello),
    read: (body) => list(body.tools).map(fromOpenAI),
  }),
  create("Anthropic messages", "anthropic", {
    invoke: (fetch, tools) => new ChatAnthropic({ ...common, clientOptions: { fetch } }).bindTools(tools).invoke(hello),
    read: (body) => list(body.tools).map((tool) => ({ ...tool, schema: tool.input_schema })),
  }),
  create("@langchain/google-genai", "gemini", {
    invoke: (_fetch, tools) => new ChatGoogleGenerativeAI(google).bindTools(tools).invoke(hello),
    read: readGoogle,
  }),
  create("@langchain/google", "gemini", {
    invoke: (_fetch, tools) => new ChatGoogle(google).bindTools(tools).invoke(hello),
    read: readGoogle,
  }),
];

function create(
  name: string,
  rules: ProviderClient["rules"],
  { invoke, read }: { readonly invoke: Invoke; readonly read: (body: Item) => Item[] },
): ProviderClient {
  const isGoogle = rules === "gemini";
  return {
    name,
    rules,
    profile: isGoogle ? "gemini" : "full",
    isVerbatim: !isGoogle,
    async send(tools) {
      const bodies: Item[] = [];
      const fetch = async (input: unknown, init?: { body?: unknown }) => {
        bodies.push(JSON.parse(String(init?.body ?? (input instanceof Request ? await input.text() : "{}"))));
        return Response.json({ error: { message: "caught" } }, { status: 400 });
      };
      // Google's packages take no fetch of their own.
      if (isGoogle) vi.stubGlobal("fetch", fetch);
      const error = await invoke(fetch as typeof globalThis.fetch, tools).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      if (isGoogle) vi.unstubAllGlobals();
      const [body] = bodies;
      if (body === undefined) throw new Error("No request was made.", { cause: error });
      return read(body).map((tool) => ({
        name: String(tool.name),
        description: tool.description,
        schema: tool.schema,
      }));
    },
  };
}

function list(value: unknown): Item[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
