import type { ActivityItem } from "../executions/activity.ts";
import type { NamedExecution } from "../pages/log-row.ts";
import { nameApp } from "./app-names.ts";
import type { ServiceParts } from "./service-parts.ts";

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
