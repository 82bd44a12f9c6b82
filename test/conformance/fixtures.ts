import type {
  InputRequest,
  McpCall,
  McpFeatures,
  McpPrompt,
  McpResult,
  McpTool,
} from "../../src/service/mcp/mcp-features.ts";
import { RPC_CODES, RpcError } from "../../src/service/mcp/protocol.ts";

import { fixtureResources, fixtureTemplates, PNG, WAV } from "./fixture-content.ts";

/*
 * The tools, prompts and resources that the conformance suite calls by name. They go through the same dispatcher as
 * the service's own tools; only the tests serve them.
 */

const noArguments = { type: "object", additionalProperties: false };
const content = (...blocks: unknown[]): McpResult => ({ content: blocks });
const text = (words: string) => ({ type: "text", text: words });

function tool(name: string, call: McpTool["call"]): McpTool {
  return { name, description: `Conformance fixture ${name}.`, inputSchema: noArguments, call };
}

const ask = (message: string, properties: Record<string, unknown>): InputRequest => ({
  method: "elicitation/create",
  params: { mode: "form", message, requestedSchema: { type: "object", properties, required: Object.keys(properties) } },
});
const askName = (message: string) => ask(message, { name: { type: "string" } });
const sample = (question: string): InputRequest => ({
  method: "sampling/createMessage",
  params: { messages: [{ role: "user", content: text(question) }], maxTokens: 100 },
});
const listRoots: InputRequest = { method: "roots/list", params: {} };

/** A member somewhere inside an answer of the client, which may be anything. */
function pick(value: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>(
    (at, key) => (typeof at === "object" && at !== null ? Reflect.get(at, key) : undefined),
    value,
  );
}

const plainTools: McpTool[] = [
  tool("test_simple_text", async () => content(text("This is a simple text response for testing."))),
  tool("test_image_content", async () => content({ type: "image", data: PNG, mimeType: "image/png" })),
  tool("test_audio_content", async () => content({ type: "audio", data: WAV, mimeType: "audio/wav" })),
  tool("test_embedded_resource", async () =>
    content({
      type: "resource",
      resource: {
        uri: "test://embedded-resource",
        mimeType: "text/plain",
        text: "This is an embedded resource content.",
      },
    }),
  ),
  tool("test_multiple_content_types", async () =>
    content(
      text("Multiple content types test:"),
      { type: "image", data: PNG, mimeType: "image/png" },
      {
        type: "resource",
        resource: {
          uri: "test://mixed-content-resource",
          mimeType: "application/json",
          text: '{"test":"data","value":123}',
        },
      },
    ),
  ),
  tool("test_error_handling", async () => ({
    ...content(text("This tool intentionally returns an error for testing")),
    isError: true,
  })),
  tool("test_tool_with_progress", async () => content(text("Done without progress."))),
  tool("test_tool_with_logging", async () => content(text("Done without log messages."))),
  tool("test_logging_tool", async () => content(text("Done without log messages."))),
  tool("test_missing_capability", async (_args, call) => {
    if (call.canAsk("sampling")) return content(text("The client declared sampling."));
    throw new RpcError(RPC_CODES.missingCapability, "This tool needs sampling.", {
      requiredCapabilities: { sampling: {} },
    });
  }),
];

const askingTools: McpTool[] = [
  tool("test_input_required_result_elicitation", async (_args, call) => {
    const name = pick(call.answers, "user_name", "content", "name");
    return typeof name === "string"
      ? content(text(`Hello, ${name}!`))
      : call.ask({ user_name: askName("What is your name?") });
  }),
  tool("test_streaming_elicitation", async (_args, call) => call.ask({ user_name: askName("What is your name?") })),
  tool("test_input_required_result_sampling", async (_args, call) => {
    const answer = pick(call.answers, "capital_question", "content", "text");
    return typeof answer === "string"
      ? content(text(answer))
      : call.ask({ capital_question: sample("What is the capital of France?") });
  }),
  tool("test_input_required_result_list_roots", async (_args, call) => {
    const roots = pick(call.answers, "client_roots", "roots");
    return Array.isArray(roots) ? content(text(JSON.stringify(roots))) : call.ask({ client_roots: listRoots });
  }),
  tool("test_input_required_result_request_state", (_args, call) => confirmOnce(call, "state-ok")),
  tool("test_input_required_result_tampered_state", (_args, call) => confirmOnce(call, "state-ok")),
  tool("test_input_required_result_multiple_inputs", async (_args, call) => {
    const isComplete = ["user_name", "greeting", "client_roots"].every((key) => call.answers[key] !== undefined);
    if (call.state !== undefined && isComplete) return content(text("All three answers arrived."));
    const requests = {
      user_name: askName("What is your name?"),
      greeting: sample("Generate a greeting"),
      client_roots: listRoots,
    };
    return call.ask(requests, { round: 1 });
  }),
  tool("test_input_required_result_multi_round", async (_args, call) => {
    const round = pick(call.state?.data, "round");
    if (round === 1 && call.answers.step1 !== undefined) {
      return call.ask(
        { step2: ask("Step 2: What is your favorite color?", { color: { type: "string" } }) },
        { round: 2 },
      );
    }
    if (round === 2 && call.answers.step2 !== undefined) return content(text("Both steps are done."));
    return call.ask({ step1: askName("Step 1: What is your name?") }, { round: 1 });
  }),
  tool("test_input_required_result_capabilities", async (_args, call) => {
    if (Object.keys(call.answers).length > 0) return content(text("Answered."));
    const requests = {
      ...(call.canAsk("form") && { user_name: askName("What is your name?") }),
      ...(call.canAsk("sampling") && { greeting: sample("Generate a greeting") }),
      ...(call.canAsk("roots") && { client_roots: listRoots }),
    };
    return Object.keys(requests).length > 0 ? call.ask(requests) : content(text("The client can be asked nothing."));
  }),
];

async function confirmOnce(call: McpCall, done: string): Promise<McpResult> {
  if (call.state !== undefined && call.answers.confirm !== undefined) return content(text(done));
  return call.ask({ confirm: ask("Please confirm", { ok: { type: "boolean" } }) }, { asked: true });
}

const user = (block: unknown) => ({ role: "user", content: block });
const argument = (name: string) => ({ name, description: `Test argument ${name}.`, required: true });

const prompts: McpPrompt[] = [
  {
    name: "test_simple_prompt",
    description: "A prompt without arguments.",
    get: () => ({ messages: [user(text("This is a simple prompt for testing."))] }),
  },
  {
    name: "test_prompt_with_arguments",
    description: "A prompt with two arguments.",
    arguments: [argument("arg1"), argument("arg2")],
    get: ({ arg1, arg2 }) => ({ messages: [user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))] }),
  },
  {
    name: "test_prompt_with_embedded_resource",
    description: "A prompt that embeds a resource.",
    arguments: [argument("resourceUri")],
    get: ({ resourceUri }) => ({
      messages: [
        user({
          type: "resource",
          resource: { uri: resourceUri, mimeType: "text/plain", text: "Embedded resource content for testing." },
        }),
        user(text("Please process the embedded resource above.")),
      ],
    }),
  },
  {
    name: "test_prompt_with_image",
    description: "A prompt with an image.",
    get: () => ({
      messages: [
        user({ type: "image", data: PNG, mimeType: "image/png" }),
        user(text("Please analyze the image above.")),
      ],
    }),
  },
  {
    name: "test_input_required_result_prompt",
    description: "A prompt that asks first.",
    get: (_args, call) => {
      const context = pick(call.answers, "user_context", "content", "context");
      if (typeof context === "string") return { messages: [user(text(`Use this context: ${context}`))] };
      const question = ask("What context should the prompt use?", { context: { type: "string" } });
      return call.ask({ user_context: question });
    },
  },
];

const complete = () => ({ completion: { values: ["paris", "park", "party"], total: 3, hasMore: false } });

/** Everything the suite calls by name. */
export const conformanceFixtures: McpFeatures = {
  tools: [...plainTools, ...askingTools],
  prompts,
  resources: fixtureResources,
  resourceTemplates: fixtureTemplates,
  more: {
    modern: { capabilities: { completions: {} }, methods: { "completion/complete": complete } },
    legacy: {
      capabilities: { completions: {}, logging: {}, resources: { subscribe: true } },
      methods: {
        "completion/complete": complete,
        "logging/setLevel": () => ({}),
        "resources/subscribe": () => ({}),
        "resources/unsubscribe": () => ({}),
      },
    },
  },
};
