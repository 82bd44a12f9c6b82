import { isRecord } from "../../../shared/base/json.ts";
import type { ToolOutcome } from "../../calls/outcome.ts";
import type { ToolCall } from "../../calls/pipeline.ts";
import type { repairForSchema } from "../../calls/steps/check.ts";
import { readActions } from "./actions/actions-file.ts";
import type { HostTool, HostToolContext } from "./host/host-tool.ts";
import type { AccountSession } from "./setup/account-session.ts";
import staticTools from "./static-tools.json" with { type: "json" };
import type { SvcHost } from "./svc-host.ts";

/** A call as the host's own, without the choice of the tool. */
type HostCall = Omit<ToolCall, "toolName" | "connectionId">;

/** A tool before the host knows it. */
export interface HostToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly schema: Schema;
  /** True for a tool that stays in the model's own list when the host hides tools behind its tool search. */
  readonly isDirect?: boolean;
  run(account: AccountSession, call: HostCall): Promise<ToolOutcome>;
}

type Schema = Readonly<Record<string, unknown>>;

/** A tool for this context. Cheap: the first call loads the modules it needs. */
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
      return runHostCall(host, context, definition, toolCallId, params, { signal, onUpdate });
    },
  };
}

/**
 * The static tools and the flow tools, as data: the rooms that own them are not loaded to show them. Written by
 * `node test/plugin/runtimes/openclaw/write-static-tools.ts`.
 */
export const STATIC_DEFINITIONS: readonly Pick<HostToolDefinition, "name" | "description" | "schema">[] = staticTools;

/** Always in the model's own list: with these three it reaches every tool, whatever the host hides. */
const DIRECT: ReadonlySet<string> = new Set(["svc_search_tools", "svc_describe_tool", "svc_call_tool"]);

/** The static tools and the flow tools for this context. A tool without a name of its own is never left out in silence. */
export function createStaticTools(host: SvcHost, context: HostToolContext): HostTool[] {
  const leftOut = readActions(host.places.actions)?.leftOut ?? 0;
  const more = leftOut === 0 ? "" : ` ${leftOut} tools are not in your tool list and are found only this way.`;
  return STATIC_DEFINITIONS.map(({ name, description, schema }) =>
    createHostTool(host, context, {
      name,
      description: name === "svc_search_tools" ? description + more : description,
      schema,
      isDirect: DIRECT.has(name),
      async run(account, call) {
        const tool = account.tools.get(name);
        if (tool === undefined) throw new TypeError(`${name} has no implementation.`);
        const outcome = await tool.run(call.arguments, call);
        return name === "svc_status" ? addActions(host, account, outcome) : outcome;
      },
    }),
  );
}

/** Which of the account's tools have a name of their own here, since when, and which are not loaded yet. */
function addActions({ places, declared }: SvcHost, { session }: AccountSession, outcome: ToolOutcome): ToolOutcome {
  const file = readActions(places.actions);
  if (file?.principal !== session.principal || !isRecord(outcome.result)) return outcome;
  const { syncedAt, actions } = file;
  const late = listLate(actions, declared);
  const after = late.length === 0 ? {} : { not_loaded: late, fix: RELOAD_ACTIONS };
  const count = actions.length - late.length;
  return { ...outcome, result: { ...outcome.result, action_tools: count, synced_at: syncedAt, ...after } };
}

/** What makes a running gateway load the names of a sync. */
export const RELOAD_ACTIONS = "openclaw plugins reload svc-actions";

/** Names that a sync has brought and this process has not loaded: it was busy when they came. */
function listLate(actions: readonly { readonly name: string }[], declared: readonly string[] | undefined) {
  return declared === undefined ? [] : actions.map(({ name }) => name).filter((name) => !declared.includes(name));
}

type Repair = typeof repairForSchema;

let loading: Promise<Repair> | undefined;
let loaded: Repair | undefined;

/** Loads the repair of arguments. Done ahead of the first call: the host asks for a repair synchronously. */
export async function loadRepair(): Promise<void> {
  loading ??= import("../../calls/steps/check.ts").then(({ repairForSchema }) => repairForSchema);
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
