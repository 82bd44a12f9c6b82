import type { ToolOutcome } from "../../calls/outcome.ts";
import type { ToolCall } from "../../calls/pipeline.ts";
import type { repairForSchema } from "../../calls/steps/prepare-call.ts";
import type { HostTool, HostToolContext } from "./host/host-tool.ts";
import type { AccountSession } from "./setup/account-session.ts";
import type { SvcHost } from "./svc-host.ts";

/** A call as the host's own, without the choice of the tool. */
export type HostCall = Omit<ToolCall, "toolName" | "connectionId">;

/** How a call ended, of a tool of the service, a static tool or a flow tool. */
export type HostOutcome = ToolOutcome;

/** A tool before the host knows it. */
export interface HostToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** True for a tool that stays in the model's own list when the host hides tools behind its tool search. */
  readonly isDirect?: boolean;
  run(account: AccountSession, call: HostCall): Promise<HostOutcome>;
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

type Schema = Readonly<Record<string, unknown>>;
type Repair = typeof repairForSchema;

let loading: Promise<Repair> | undefined;
let loaded: Repair | undefined;

/** Loads what repairs arguments. Done ahead of the first call: the host asks for a repair synchronously. */
export async function loadRepair(): Promise<void> {
  loading ??= import("../../calls/steps/prepare-call.ts").then(({ repairForSchema }) => repairForSchema);
  loaded = await loading;
}

/**
 * The arguments as the model meant them, for a tool it calls directly. The host would refuse some of the slips that we
 * repair, and makes 0, "" or false of a null. Unchanged while {@link loadRepair} is not done.
 *
 * @throws Error with what to correct, for the model, when a null stands where a value is required
 */
export function repairDirectParams(schema: Schema, params: unknown): unknown {
  if (loaded === undefined) return params;
  const { args, wrongNulls } = loaded(schema, params);
  if (wrongNulls.length === 0) return args;
  throw new Error(`The arguments do not fit this tool. Nothing was sent. ${wrongNulls.join("; ")}.`);
}

/** The same for a tool called through the host's tool search, which refuses every slip. */
export async function repairSearchedParams(schema: Schema, params: unknown): Promise<unknown> {
  await loadRepair();
  return loaded?.(schema, params).args ?? params;
}
