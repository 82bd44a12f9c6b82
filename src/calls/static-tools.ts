import type { z } from "zod";
import { isSvcError } from "../errors.ts";
import { readOwnArguments, showOwnSchema } from "../schema/repair/own-arguments.ts";
import type { JsonSchema } from "../wire/tool.ts";
import { isAbort, isControlFlow, throwIfAborted } from "./ask/abort.ts";
import { createOutcome, type ToolOutcome } from "./outcome.ts";
import type { ToolCall } from "./pipeline.ts";
import { describeBreakdown, describeSvcError } from "./steps/outcome.ts";

/** Names of the static tools, available with every service. */
export const STATIC_TOOL_NAMES = [
  "svc_search_tools",
  "svc_describe_tool",
  "svc_call_tool",
  "svc_read_result",
  "svc_status",
] as const;
export const FLOW_TOOL_NAMES = [
  "svc_list_flow_templates",
  "svc_start_flow",
  "svc_get_flow",
  "svc_approve_flow",
  "svc_resume_flow",
  "svc_cancel_flow",
] as const;
export type StaticToolName = (typeof STATIC_TOOL_NAMES)[number];
export type FlowToolName = (typeof FLOW_TOOL_NAMES)[number];

/** A call of a static tool: a {@link ToolCall} without tool, arguments and account. */
export type StaticCall = Omit<ToolCall, "toolName" | "arguments" | "connectionId">;

/** A tool of the plugin itself. Runtimes translate it like any other. */
export interface StaticTool {
  readonly name: StaticToolName | FlowToolName;
  readonly description: string;
  readonly schema: JsonSchema;
  run(args: unknown, call: StaticCall): Promise<ToolOutcome>;
  /** The service tool call that these arguments stand for, if any. */
  readTarget(args: unknown): Pick<ToolCall, "toolName" | "arguments" | "connectionId"> | undefined;
}

/** A tool whose arguments are checked by `schema`. Refusals and failures become outcomes; `describe` words failures. */
export function createTool<Schema extends z.ZodType>(
  name: StaticTool["name"],
  description: string,
  schema: Schema,
  run: (args: z.output<Schema>, call: StaticCall) => Promise<ToolOutcome>,
  describe = describeSvcError,
): StaticTool {
  return {
    name,
    description,
    schema: showOwnSchema(schema),
    readTarget: () => undefined,
    async run(args, call) {
      throwIfAborted(call.signal);
      const read = readOwnArguments(schema, args);
      if (!read.ok) return createOutcome("failed", name, read.refusal);
      try {
        return await run(read.value, call);
      } catch (error) {
        throwIfAborted(call.signal);
        if (isControlFlow(error) || isAbort(error)) throw error;
        return createOutcome("failed", name, isSvcError(error) ? describe(error) : describeBreakdown(error));
      }
    },
  };
}
