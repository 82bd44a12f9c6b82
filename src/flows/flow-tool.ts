import { z } from "zod";
import { isSvcError } from "../errors.ts";
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

/** Builds a flow tool whose arguments are checked by `schema`; a refused or failed request becomes an outcome. */
export function createFlowTool<Schema extends z.ZodType>(
  name: FlowToolName,
  description: string,
  schema: Schema,
  run: (args: z.output<Schema>, call: FlowCall) => Promise<FlowOutcome>,
): FlowTool {
  const { $schema: _, ...shown } = z.toJSONSchema(schema, { io: "input" });
  return {
    name,
    description,
    schema: shown,
    async run(args, call) {
      call.signal?.throwIfAborted();
      const parsed = schema.safeParse(readObject(args));
      if (!parsed.success) return refuseArguments(name, parsed.error);
      try {
        return await run(parsed.data, call);
      } catch (error) {
        call.signal?.throwIfAborted();
        if (!isSvcError(error)) throw error;
        return describeFlowError(name, error);
      }
    },
  };
}

function readObject(args: unknown): unknown {
  if (typeof args !== "string") return args ?? {};
  try {
    return JSON.parse(args);
  } catch {
    return args;
  }
}

function refuseArguments(name: string, error: z.ZodError): FlowOutcome {
  const details = error.issues.map((issue) => `${issue.path.join(".") || "arguments"}: ${issue.message}`);
  return createFlowOutcome("failed", name, {
    code: "invalid_arguments",
    message: "The arguments do not fit this tool. Nothing was sent.",
    details: details.slice(0, 6),
    retryable: false,
  });
}
