import { createActionTools } from "./action-tools.ts";
import { readActions } from "./actions-file.ts";
import { type CompanionOffer, offerToCompanion, withdrawFromCompanion } from "./companion-link.ts";
import { createGate } from "./gate.ts";
import type { HostApi } from "./host-api.ts";
import type { HostToolContext } from "./host-tool.ts";
import { STATIC_DEFINITIONS, type StaticDefinition } from "./static-definitions.ts";
import type { SvcHost } from "./svc-host.ts";
import { createHostTool, type HostToolDefinition } from "./translate-tool.ts";

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
    async run(desk, call) {
      const tool = desk.tools.get(name);
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
