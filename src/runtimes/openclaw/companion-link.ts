import type { Gate } from "./gate.ts";
import type { HostTool, HostToolContext } from "./host-tool.ts";

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
