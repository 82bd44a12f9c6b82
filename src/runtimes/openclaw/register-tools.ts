import {
  type CompanionOffer,
  createActionTools,
  offerToCompanion,
  withdrawFromCompanion,
} from "./actions/action-tools.ts";
import { readActions } from "./actions/actions-file.ts";

import type { HostApi } from "./host/host-api.ts";
import type { HostToolCallContext, HostToolCallEvent, HostToolCallVerdict, HostToolContext } from "./host/host-tool.ts";
import staticTools from "./static-tools.json" with { type: "json" };
import type { SvcHost } from "./svc-host.ts";
import { createHostTool, type HostToolDefinition } from "./translate-tool.ts";

type StaticDefinition = Pick<HostToolDefinition, "name" | "description" | "schema">;

/**
 * The static tools and the flow tools, as data: the rooms that own them are not loaded to show them. Written by
 * `node test/runtimes/openclaw/write-static-tools.ts`.
 */
export const STATIC_DEFINITIONS: readonly StaticDefinition[] = staticTools;

/** Always in the model's own list: with these three it reaches every tool, whatever the host hides. */
const DIRECT: ReadonlySet<string> = new Set(["svc_search_tools", "svc_describe_tool", "svc_call_tool"]);

/** Registers the static tools and the flow tools, and lets the companion plugin find the action tools. */
export function registerTools(api: HostApi, host: SvcHost): void {
  const names = STATIC_DEFINITIONS.map(({ name }) => name);
  api.registerTool((context) => createStaticTools(host, context), { names });
  const folder = host.places.companion;
  const offer: CompanionOffer = {
    createTools: (context) => createActionTools(host, context),
    gate: createGate(host),
  };
  offerToCompanion(folder, offer, { isLasting: api.registrationMode === "full" });
  if (api.registrationMode !== "full") return;
  const withdraw = () => withdrawFromCompanion(folder, offer);
  api.lifecycle?.onDispose?.(withdraw);
  api.lifecycle?.registerRuntimeLifecycle({ id: "svc-actions", dispose: withdraw });
}

function createStaticTools(host: SvcHost, context: HostToolContext) {
  return STATIC_DEFINITIONS.map((definition) => createHostTool(host, context, defineTool(host, definition)));
}

function defineTool(host: SvcHost, definition: StaticDefinition): HostToolDefinition {
  const { name, description, schema } = definition;
  return {
    name,
    description: name === "svc_search_tools" ? description + describeLeftOut(host) : description,
    schema,
    isDirect: DIRECT.has(name),
    async run(account, call) {
      const tool = account.tools.get(name);
      if (tool === undefined) throw new TypeError(`${name} has no implementation.`);
      return tool.run(call.arguments, call);
    },
  };
}

/** Tools without a name of their own are never left out in silence. */
function describeLeftOut(host: SvcHost): string {
  const count = readActions(host.places.actions)?.leftOut ?? 0;
  return count === 0 ? "" : ` ${count} tools are not in your tool list and are found only this way.`;
}

/** Asks before one of our tools runs. */
export type Gate = (event: HostToolCallEvent, context: HostToolCallContext) => Promise<HostToolCallVerdict | undefined>;

/**
 * Static tools that change something. Flow tools show no card here, as what they do is known only while they run; they
 * are noted with their run, which their calls are told apart by.
 */
const GATED = ["svc_call_tool", "svc_start_flow", "svc_approve_flow", "svc_resume_flow", "svc_cancel_flow"] as const;

/** Milliseconds for looking at a call: its files are read, and a tool nobody has used yet is described first. */
export const GATE_MS = 60_000;

/**
 * The gate of this host: shows the host one card for a call that is known to change something. Nothing is sent. It lets
 * pass what it cannot judge, since no call is sent without an approval anyway.
 */
export function createGate(host: SvcHost): Gate {
  return async (event, context) => {
    const { judgeCall } = await import("./ask/judge-call.ts");
    return judgeCall({ ...host, ...(await host.openAskState()) }, event, context);
  };
}

/**
 * Registers the gate for the static tools, by their exact names: the host blocks a call when a hook fails, and ours must
 * never block anybody else's. The companion plugin does the same for the action tools.
 */
export function registerGate(api: Pick<HostApi, "on">, host: SvcHost): void {
  api.on("before_tool_call", createGate(host), { matcher: GATED, timeoutMs: GATE_MS });
}
