import type { HostTool, HostToolContext } from "../host/host-tool.ts";
import type { Gate } from "../register-tools.ts";
import type { AccountSession } from "../setup/account-session.ts";
import { findSeenAccount, type SvcHost } from "../svc-host.ts";
import {
  createHostTool,
  type HostCall,
  type HostOutcome,
  type HostToolDefinition,
  loadRepair,
} from "../translate-tool.ts";
import { type ActionRecord, type ActionsFile, readActions } from "./actions-file.ts";

const definitions = new WeakMap<ActionsFile, readonly HostToolDefinition[]>();

/**
 * The action tools for this context; none when there are none, or when they are another account's. Called by the
 * companion plugin at each assembly of tools: the file is looked at each time and parsed when it has changed, so that
 * descriptions and schemas are fresh without a reload.
 */
export function createActionTools(host: SvcHost, context: HostToolContext): HostTool[] {
  const warn = (reason: string) =>
    host.log.warn(`The action tools of svc cannot be used: ${reason}. Run openclaw svc sync.`);
  const file = readActions(host.places.actions, warn);
  if (file === undefined || !isForThisAccount(host, context, file)) return [];
  // Wanted synchronously by the first call of a turn, which comes after this.
  loadRepair().catch((error: unknown) => host.log.warn(`Arguments cannot be repaired: ${String(error)}`));
  return defineActions(file).map((definition) => createHostTool(host, context, definition));
}

function isForThisAccount(host: SvcHost, context: HostToolContext, file: ActionsFile): boolean {
  const principal = findSeenAccount(host, context);
  if (principal !== undefined) return principal === file.principal;
  try {
    const { baseUrl } = host.settings();
    return baseUrl === undefined || baseUrl === file.baseUrl;
  } catch {
    // Each call will say what is wrong with the settings.
    return true;
  }
}

function defineActions(file: ActionsFile): readonly HostToolDefinition[] {
  const known = definitions.get(file);
  if (known !== undefined) return known;
  const made = file.actions.map((action) => defineAction(file, action));
  definitions.set(file, made);
  return made;
}

function defineAction(
  file: ActionsFile,
  { name, toolName, description, parameters }: ActionRecord,
): HostToolDefinition {
  return {
    name,
    description,
    schema: parameters,
    async run(account: AccountSession, call: HostCall): Promise<HostOutcome> {
      if (account.session.principal !== file.principal) return refuseAccount(toolName);
      return account.session.call({ ...call, toolName });
    },
  };
}

function refuseAccount(toolName: string): HostOutcome {
  return {
    status: "failed",
    toolName,
    code: "other_account",
    message: "This tool was made for another account than the one that is paired now. Nothing was sent.",
    hint: "Tell the user to run: openclaw svc sync. svc_call_tool reaches the paired account's tools meanwhile.",
    retryable: false,
    notes: [],
  };
}

/** What the companion plugin asks for its tools, and whether a call of one of them may run. */
export interface CompanionOffer {
  createTools(context: HostToolContext): HostTool[];
  readonly gate: Gate;
}

/** Two plugins are two modules, and an update is another one: they meet here. The companion's code names it too. */
export const LINK = "svc-agent-plugin.openclaw.actions";

type Links = Map<string, CompanionOffer>;

/**
 * Lets the companion in `folder` find its tools. The latest lasting registration of this process wins; one for a look
 * at the plugin, which the host never ends, only fills a gap.
 */
export function offerToCompanion(
  folder: string,
  offer: CompanionOffer,
  { isLasting }: { readonly isLasting: boolean },
): void {
  const links = findLinks();
  if (isLasting || !links.has(folder)) links.set(folder, offer);
}

/** Takes the offer back, unless a later registration has replaced it. */
export function withdrawFromCompanion(folder: string, offer: CompanionOffer): void {
  const links = findLinks();
  if (links.get(folder) === offer) links.delete(folder);
}

function findLinks(): Links {
  const holder = globalThis as { [link: symbol]: Links | undefined };
  const key = Symbol.for(LINK);
  const links = holder[key] ?? new Map();
  holder[key] = links;
  return links;
}
