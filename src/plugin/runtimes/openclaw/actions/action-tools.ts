import type { ToolOutcome } from "../../../calls/outcome.ts";
import type { HostGate, HostTool, HostToolContext } from "../host/host-tool.ts";
import type { SvcHost } from "../svc-host.ts";
import { createHostTool, type HostToolDefinition, loadRepair } from "../translate-tool.ts";
import { type ActionRecord, type ActionsFile, readActions } from "./actions-file.ts";

const definitions = new WeakMap<ActionsFile, readonly HostToolDefinition[]>();

/**
 * The action tools for this context; empty when there are none, or when they are another account's. Called by the
 * companion plugin at each assembly of tools: the file is looked at each time and parsed when it has changed, so that
 * descriptions and schemas are fresh without a reload. `declared` are the names that the host has loaded: it takes no others.
 */
export function createActionTools(
  host: SvcHost,
  context: HostToolContext,
  declared?: readonly string[] | undefined,
): HostTool[] {
  host.declared = declared;
  const file = readActions(host.places.actions, (reason) =>
    host.log.warn(`The action tools of svc cannot be used: ${reason}. Run openclaw svc sync.`),
  );
  if (file === undefined || !isForThisAccount(host, context, file)) return [];
  // Wanted synchronously by the first call of a turn, which comes after this.
  loadRepair().catch((error: unknown) => host.log.warn(`Arguments cannot be repaired: ${String(error)}`));
  const made = definitions.get(file) ?? file.actions.map((action) => defineAction(file, action));
  definitions.set(file, made);
  return made.map((definition) => createHostTool(host, context, definition));
}

function isForThisAccount(host: SvcHost, context: HostToolContext, file: ActionsFile): boolean {
  const principal = host.seenAccounts.get(context.agentDir);
  if (principal !== undefined) return principal === file.principal;
  try {
    const { baseUrl } = host.settings();
    return baseUrl === undefined || baseUrl === file.baseUrl;
  } catch {
    // Each call will say what is wrong with the settings.
    return true;
  }
}

function defineAction(file: ActionsFile, action: ActionRecord): HostToolDefinition {
  const { name, toolName, description, parameters } = action;
  return {
    name,
    description,
    schema: parameters,
    async run({ session }, call) {
      if (session.principal !== file.principal) return refuseAccount(toolName);
      return session.call({ ...call, toolName });
    },
  };
}

function refuseAccount(toolName: string): ToolOutcome {
  return {
    status: "failed",
    toolName,
    code: "other_account",
    message: "This tool was synced with another key than the one that is paired now. Nothing was sent.",
    hint: "Tell the user to run: openclaw svc sync. svc_call_tool reaches the paired account's tools meanwhile.",
    retryable: false,
    notes: [],
  };
}

/** Milliseconds for looking at a call: its files are read, and a tool nobody has used yet is described first. */
export const GATE_MS = 60_000;

/** The tools of the companion plugin, and whether a call of one of them may run. */
export interface CompanionOffer {
  /** `declared`: the names the companion was loaded with; one that was written by an older version does not say. */
  createTools(context: HostToolContext, declared?: readonly string[]): HostTool[];
  readonly gate: HostGate;
}

/** Two plugins are two modules, and an update is another one: they meet here. The companion's code names it too. */
export const LINK = "svc-agent-plugin.openclaw.actions";

/**
 * Lets the companion in `folder` find its tools, until the returned function is called. The latest lasting registration
 * of this process wins; one for a look at the plugin, which the host never ends, only fills a gap.
 */
export function offerToCompanion(
  folder: string,
  offer: CompanionOffer,
  { isLasting }: { readonly isLasting: boolean },
): () => void {
  const holder = globalThis as { [link: symbol]: Map<string, CompanionOffer> | undefined };
  const key = Symbol.for(LINK);
  const links = holder[key] ?? new Map<string, CompanionOffer>();
  holder[key] = links;
  if (isLasting || !links.has(folder)) links.set(folder, offer);
  return () => {
    // A later registration may have replaced it.
    if (links.get(folder) === offer) links.delete(folder);
  };
}
