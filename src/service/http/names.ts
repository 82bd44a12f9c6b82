import type { ActivityItem } from "../executions/activity.ts";
import type { NamedExecution } from "./pages/log-page.ts";
import type { ServiceParts } from "./service-parts.ts";

/** Name of an app for people; its slug when the app is no longer installed. */
export function nameApp({ catalog }: Pick<ServiceParts, "catalog">, slug: string): string {
  return catalog.integrations.find((integration) => integration.slug === slug)?.name ?? slug;
}

/** Names of the connected apps, each once. */
export async function listConnectedApps(parts: Pick<ServiceParts, "catalog" | "connections">): Promise<string[]> {
  const connected = await parts.connections.list();
  return [...new Set(connected.map((connection) => nameApp(parts, connection.integration)))];
}

/** Gives executions the names a person knows their parts by. */
export async function nameExecutions<Item extends ActivityItem>(
  parts: ServiceParts,
  executions: readonly Item[],
): Promise<(NamedExecution & { readonly execution: Item })[]> {
  const connections = new Map((await parts.connections.list()).map(({ id, label }) => [id, label]));
  return executions.map((execution) => ({
    execution,
    title: parts.catalog.find(execution.tool_name)?.action.title ?? execution.tool_name,
    app: nameApp(parts, execution.integration),
    connection: connections.get(execution.connection_id),
    device: nameDevice(execution),
  }));
}

function nameDevice({ device_label, device_revoked_at }: ActivityItem): string {
  if (device_label === null) return "another client";
  return device_revoked_at === null ? device_label : `${device_label} (revoked)`;
}
