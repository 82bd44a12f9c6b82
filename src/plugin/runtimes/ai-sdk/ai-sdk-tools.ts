import { dynamicTool, jsonSchema, type ModelMessage, type SingleToolApprovalFunction, type ToolSet } from "ai";
import { type AskedTools, openAskedTools } from "../library/asked-calls.ts";
import type { OfferedTool, Toolbox, ToolboxOptions } from "../library/open-toolbox.ts";

/** The user's tools for `generateText`, `streamText` and agents of the AI SDK. */
export interface AiSdkTools {
  /** For the setting of the same name, as the tools are known now: read it before each run. */
  readonly tools: ToolSet;
  /**
   * For the setting of the same name, beside your own tools' entries. The `reason` of a request is the card, an empty line,
   * and one line by which the answer counts for exactly this call. Keep both in the messages.
   */
  readonly toolApproval: Record<string, SingleToolApprovalFunction<unknown, unknown, unknown>>;
  readonly session: Toolbox["session"];
  /** Writes the cache and closes journal and connections. */
  close(): Promise<void>;
}

/**
 * Opens the user's tools for the AI SDK, which asks its user about them. With `approve` the approver is asked instead, and
 * with `approve: "owner"` the owner of the service.
 *
 * @example
 * const { tools, toolApproval } = await openAiSdkTools({ baseUrl, apiKey, stateDir });
 * const { response } = await generateText({ model, tools, toolApproval, stopWhen: isStepCount(20), messages });
 *
 * @throws SvcError for bad settings, an unreachable service or a key it does not accept
 */
export async function openAiSdkTools(options: ToolboxOptions): Promise<AiSdkTools> {
  const asked = await openAskedTools(options);
  return {
    get tools() {
      return Object.fromEntries(asked.tools.map((tool) => [tool.name, createTool(asked, tool)]));
    },
    get toolApproval() {
      return Object.fromEntries(asked.tools.map((tool) => [tool.name, createApproval(asked, tool)]));
    },
    session: asked.session,
    close: asked.close,
  };
}

function createTool(asked: AskedTools, tool: OfferedTool) {
  return dynamicTool({
    description: tool.description,
    // The pipeline checks arguments, and explains a slip.
    inputSchema: jsonSchema(tool.schema as Parameters<typeof jsonSchema>[0]),
    execute: async (input, { toolCallId, messages, abortSignal: signal }) => {
      const call = { tool, arguments: input };
      const question = await asked.findOpen(findApproved(messages, toolCallId), call);
      return asked.run(call, { approved: question?.state, signal });
    },
  });
}

function createApproval(asked: AskedTools, tool: OfferedTool): SingleToolApprovalFunction<unknown, unknown, unknown> {
  return async (input, { toolCallId, messages }) => {
    const call = { tool, arguments: input };
    // The SDK asks again about calls that were approved.
    const approved = await asked.findOpen(findApproved(messages, toolCallId), call);
    const question = approved ?? (await asked.prepare(call));
    if (question === undefined) return undefined;
    return { type: "user-approval", reason: `${question.card.join("\n")}\n\n${question.state}` };
  };
}

/** The last line of the latest request for this call that the last message says yes to. */
function findApproved(messages: readonly ModelMessage[], toolCallId: string): string | undefined {
  const last = messages.at(-1);
  if (last?.role !== "tool") return undefined;
  const approved = new Set(
    last.content.flatMap((part) => (part.type === "tool-approval-response" && part.approved ? [part.approvalId] : [])),
  );
  const parts = messages.flatMap((message) =>
    message.role === "assistant" && typeof message.content !== "string" ? message.content : [],
  );
  const request = parts.findLast(
    (part) => part.type === "tool-approval-request" && part.toolCallId === toolCallId && approved.has(part.approvalId),
  );
  return request?.type === "tool-approval-request" ? request.reason?.split("\n").at(-1) : undefined;
}
