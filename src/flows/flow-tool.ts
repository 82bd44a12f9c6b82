import type { z } from "zod";
import { isAbort, isControlFlow, throwIfAborted, withAbort } from "../approvals/abort.ts";
import { describeBreakdown } from "../approvals/describe-breakdown.ts";
import { isSvcError } from "../errors.ts";
import { readOwnArguments, showOwnSchema } from "../schema/own-arguments.ts";
import type { FlowCall } from "./ask-human.ts";
import { createFlowOutcome, describeFlowError, type FlowOutcome } from "./flow-outcome.ts";

/** Names of the flow tools. */
export const FLOW_TOOL_NAMES = [
  "svc_list_flow_templates",
  "svc_start_flow",
  "svc_get_flow",
  "svc_approve_flow",
  "svc_resume_flow",
  "svc_cancel_flow",
] as const;
export type FlowToolName = (typeof FLOW_TOOL_NAMES)[number];

/** A tool for flows; the same form as the plugin's other static tools. */
export interface FlowTool {
  readonly name: FlowToolName;
  readonly description: string;
  readonly schema: Record<string, unknown>;
  /** Never throws but for an aborted call and a runtime's control flow. */
  run(args: unknown, call: FlowCall): Promise<FlowOutcome>;
}

/** Builds a flow tool whose arguments are checked by `schema`; a refusal and a failure become outcomes. */
export function createFlowTool<Schema extends z.ZodType>(
  name: FlowToolName,
  description: string,
  schema: Schema,
  run: (args: z.output<Schema>, call: FlowCall) => Promise<FlowOutcome>,
): FlowTool {
  return {
    name,
    description,
    schema: showOwnSchema(schema),
    async run(args, call) {
      throwIfAborted(call.signal);
      const read = readOwnArguments(schema, args);
      if (!read.ok) return createFlowOutcome("failed", name, read.refusal);
      try {
        // Whatever it waits for, such as a store of the host's that never answers.
        return await withAbort(run(read.value, call), call.signal);
      } catch (error) {
        throwIfAborted(call.signal);
        if (isControlFlow(error) || isAbort(error)) throw error;
        if (isSvcError(error)) return describeFlowError(name, error);
        return createFlowOutcome("failed", name, describeBreakdown(error));
      }
    },
  };
}
