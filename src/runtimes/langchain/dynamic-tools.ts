import type { AgentMiddleware } from "langchain";
import { toModelName } from "../../tools/build.ts";
import { loadLangChain } from "./load-langchain.ts";
import { isRecord } from "./read-value.ts";
import type { SvcToolkit } from "./toolkit.ts";

/** Settings of {@link createDynamicToolsMiddleware}. */
export interface DynamicToolsOptions {
  /** Name among an agent's middleware, which must be unique. Default `SvcDynamicTools`. */
  readonly name?: string | undefined;
  /** Most found tools a model is shown at once, the latest ones; 1 to 100. Default 24. */
  readonly maxTools?: number | undefined;
  /** Whether the middleware brings the `svc_*` tools along. False when the agent has them already. Default true. */
  readonly staticTools?: boolean | undefined;
}

const MAX_TOOLS = 24;
const MAX_ALLOWED = 100;

/**
 * Lets an agent use thousands of tools with a short tool list: the model searches or describes a tool with the `svc_*`
 * tools, and from the next turn on has it under its own name, with its own schema. Which tools these are is read from
 * the conversation itself, so that it survives a restart and never leaks from one thread to another. A tool the agent
 * was made with is never replaced; when the service changes a schema, the next turn shows the new one.
 *
 * Put it before the approval middleware. Needs `langchain`, which is loaded here and not by the module.
 *
 * @example
 * const toolkit = await SvcToolkit.create({ baseUrl, apiKey, describeAhead: 0 });
 * const agent = createAgent({ model, middleware: [await createDynamicToolsMiddleware(toolkit)] });
 *
 * @throws SvcError `unsupported` when `langchain` is not installed
 */
export async function createDynamicToolsMiddleware(
  toolkit: SvcToolkit,
  options: DynamicToolsOptions = {},
): Promise<AgentMiddleware> {
  const { createMiddleware } = await loadLangChain("The dynamic tools middleware");
  const maxTools = Math.min(Math.max(1, Math.trunc(options.maxTools ?? MAX_TOOLS)), MAX_ALLOWED);
  return createMiddleware({
    name: options.name ?? "SvcDynamicTools",
    tools: options.staticTools === false ? [] : toolkit.getTools({ tools: [] }),
    wrapModelCall: async (request, handler) => {
      const names = findNamedTools(request.state.messages).slice(0, maxTools);
      const found = await toolkit.loadTools(names);
      const taken = new Set(request.tools.map((tool) => tool.name));
      return handler({ ...request, tools: [...request.tools, ...found.filter((tool) => !taken.has(tool.name))] });
    },
    wrapToolCall: async (request, handler) => {
      if (request.tool !== undefined) return handler(request);
      const tool = await findCalledTool(toolkit, request.toolCall.name, request.state.messages);
      return handler(tool === undefined ? request : { ...request, tool });
    },
  });
}

/** After a restart the tool objects of the turn before have to be made again. */
async function findCalledTool(toolkit: SvcToolkit, modelName: string, messages: unknown) {
  const known = toolkit.findTool(modelName);
  if (known !== undefined) return known;
  const names = findNamedTools(messages).filter((name) => toModelName(name) === modelName);
  return (await toolkit.loadTools(names))[0];
}

/** Full names of the tools that searches and descriptions in this conversation gave, the latest first. */
function findNamedTools(messages: unknown): string[] {
  if (!Array.isArray(messages)) return [];
  const found = messages.toReversed().flatMap((message: unknown) => readNames(message));
  return [...new Set(found)];
}

function readNames(message: unknown): string[] {
  if (!isRecord(message)) return [];
  const outcome = isRecord(message.artifact) ? message.artifact : parseOutcome(message.content);
  const result = isRecord(outcome) && outcome.status === "succeeded" ? outcome.result : undefined;
  if (!isRecord(result)) return [];
  if (message.name === "svc_describe_tool") return readName(result);
  if (message.name !== "svc_search_tools" || !Array.isArray(result.tools)) return [];
  return result.tools.flatMap(readName);
}

/** A checkpointer may have dropped the artifact; the text holds the same. */
function parseOutcome(content: unknown): unknown {
  if (typeof content !== "string") return undefined;
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
}

function readName(tool: unknown): string[] {
  return isRecord(tool) && typeof tool.name === "string" ? [tool.name] : [];
}
