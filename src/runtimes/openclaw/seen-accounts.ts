import type { HostToolContext } from "./host-tool.ts";
import type { SvcHost } from "./svc-host.ts";

/** Account of each agent as far as a call has shown it: keys are found asynchronously, tools are made synchronously. */
const accounts = new WeakMap<SvcHost, Map<string, string>>();

/** Notes the account that applied in this context. */
export function noteAccount(host: SvcHost, context: HostToolContext | undefined, principal: string): void {
  const known = accounts.get(host) ?? new Map<string, string>();
  accounts.set(host, known.set(context?.agentDir ?? "", principal));
}

/** The account that applied the last time, undefined before the first. */
export function findSeenAccount(host: SvcHost, context: HostToolContext): string | undefined {
  return accounts.get(host)?.get(context.agentDir ?? "");
}
