import type { FlowOutcome } from "../../flows/flow-outcome.ts";
import type { ToolOutcome } from "../../tools/outcome.ts";
import type { ToolCall } from "../../tools/pipeline.ts";
import type { Desk } from "./desk.ts";
import type { HostTool, HostToolContext } from "./host-tool.ts";
import { repairDirectParams, repairSearchedParams } from "./repair-params.ts";
import type { SvcHost } from "./svc-host.ts";

/** A call as the host's own, without the choice of the tool. */
export type HostCall = Omit<ToolCall, "toolName" | "connectionId">;

/** How a call ended, of a tool of the service, a static tool or a flow tool. */
export type HostOutcome = ToolOutcome | FlowOutcome;

/** A tool before the host knows it. */
export interface HostToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** True for a tool that stays in the model's own list when the host hides tools behind its tool search. */
  readonly isDirect?: boolean;
  run(desk: Desk, call: HostCall): Promise<HostOutcome>;
}

/** A tool for this context. Cheap: what a call needs is loaded by the first call. */
export function createHostTool(host: SvcHost, context: HostToolContext, definition: HostToolDefinition): HostTool {
  const { name, description, schema } = definition;
  return {
    name,
    label: name,
    description,
    parameters: schema,
    resultContentSource: "network",
    ...(definition.isDirect === true ? { catalogMode: "direct-only" as const } : {}),
    prepareArguments: (params) => repairDirectParams(schema, params),
    prepareBeforeToolCallParams: (params) => repairSearchedParams(schema, params),
    async execute(toolCallId, params, signal, onUpdate) {
      const { runHostCall } = await import("./run-host-call.ts");
      return runHostCall(host, context, definition, { toolCallId, arguments: params, signal, onUpdate });
    },
  };
}
