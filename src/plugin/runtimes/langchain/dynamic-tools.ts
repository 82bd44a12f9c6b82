import { checkMembers, checkNumbers, checkTypes } from "../../../shared/base/check-settings.ts";
import { isRecord, parseJson } from "../../../shared/base/json.ts";
import { toModelName } from "../../calls/build.ts";
import type { AgentMiddleware } from "./agent-middleware.ts";
import { loadLangChain } from "./load-peer.ts";
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
 * @throws SvcError `unsupported` when `langchain` is not installed, `invalid_config` for a wrong `maxTools`
 */
export async function createDynamicToolsMiddleware(
  toolkit: SvcToolkit,
  options: DynamicToolsOptions = {},
): Promise<AgentMiddleware> {
  checkMembers(options, ["name", "maxTools", "staticTools"]);
  checkTypes(options, { name: "string", staticTools: "boolean" });
  checkNumbers(options, { maxTools: { min: 1, max: MAX_ALLOWED, isWhole: true } });
  const { createMiddleware } = await loadLangChain("The dynamic tools middleware");
  offering.add(toolkit);
  const { maxTools = MAX_TOOLS } = options;
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
      const { toolCall, state } = request;
      const tool = await findCalledTool(toolkit, toolCall.name, state.messages);
      if (tool !== undefined) return handler({ ...request, tool });
      return handler({ ...request, ...callByFullName(toolkit, toolCall, state.messages) });
    },
  });
}

/**
 * A tool that was found and cannot be described now goes the way of `svc_call_tool`, which says why: the service is
 * away, or has it no more. An agent would only say that there is no such tool.
 */
function callByFullName<Call extends { readonly name: string; readonly args: unknown }>(
  toolkit: SvcToolkit,
  toolCall: Call,
  messages: unknown,
) {
  const tool = toolkit.findTool("svc_call_tool");
  const [name] = findFullNames(toolkit, toolCall.name, messages);
  if (tool === undefined || name === undefined) return undefined;
  return { tool, toolCall: { ...toolCall, name: tool.name, args: { name, arguments: toolCall.args } } };
}

/** Toolkits whose found tools a model can call. */
const offering = new WeakSet<SvcToolkit>();

/** A tool that a conversation has found and the model has under its own name; undefined without the middleware. */
export async function findOfferedTool(toolkit: SvcToolkit, modelName: string, messages: unknown) {
  return offering.has(toolkit) ? findCalledTool(toolkit, modelName, messages) : undefined;
}

/** After a restart the tool objects of the turn before have to be made again. */
async function findCalledTool(toolkit: SvcToolkit, modelName: string, messages: unknown) {
  const known = toolkit.findTool(modelName);
  if (known !== undefined) return known;
  return (await toolkit.loadTools(findFullNames(toolkit, modelName, messages)))[0];
}

/** Models also call what they were not shown yet, by a name they know: `svc_call_tool` would run it, too. */
function findFullNames({ session }: SvcToolkit, modelName: string, messages: unknown): string[] {
  const listed = () => session.catalog.heads.map(({ name }) => name);
  const isCalled = (name: string) => toModelName(name) === modelName;
  const found = findNamedTools(messages).filter(isCalled);
  return found.length > 0 ? found : listed().filter(isCalled).slice(0, 1);
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
  return typeof content === "string" ? parseJson(content) : undefined;
}

function readName(tool: unknown): string[] {
  return isRecord(tool) && typeof tool.name === "string" ? [tool.name] : [];
}
