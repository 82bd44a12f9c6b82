import { html } from "hono/html";
import type { ActivityItem } from "../../executions/activity.ts";
import { readPermission } from "../../executions/permission.ts";
import type { ServiceParts } from "../service-parts.ts";
import { nameApp } from "./app-names.ts";
import { nameCallers } from "./name-callers.ts";
import type { Markup } from "./page.ts";
import { executionTag, timeTag } from "./values.ts";

/** One execution with the names a person knows its parts by. */
export interface NamedExecution {
  readonly execution: ActivityItem;
  /** Title of the action, or the tool's name when it is no longer there. */
  readonly title: string;
  readonly app: string;
  /** Label of the connection; undefined when none was chosen or it is gone. */
  readonly connection: string | undefined;
  readonly device: string;
}

/** One line of the log. */
export function logRow({ execution, title, app, connection, device }: NamedExecution, now: number): Markup {
  const { id, object, flow_id: flow, started_at, permission } = execution;
  const isByRule = readPermission(permission)?.by === "rule";
  const place = connection === undefined ? app : `${app}, ${connection}`;
  return html`<li><div><strong><a href="/log/${id}">${title}</a></strong>${object === undefined ? "" : html`<span class="object">${object}</span>`}<span class="muted">${place} · ${device}${flow === null ? "" : html` · <a href="/flows/${flow}">its flow</a>`}${isByRule ? " · allowed by a rule" : ""} · ${timeTag(started_at, now)}</span></div>
${executionTag(execution)}</li>`;
}

/** Gives executions of an account the names a person knows their parts by. */
export async function nameExecutions<Item extends ActivityItem>(
  parts: ServiceParts,
  accountId: string,
  executions: readonly Item[],
): Promise<(NamedExecution & { readonly execution: Item })[]> {
  const connections = new Map((await parts.connections.list()).map(({ id, label }) => [id, label]));
  // Labels of keys are there already, those of OAuth clients are not.
  const callers = await nameCallers(parts, accountId, []);
  return executions.map((execution) => ({
    execution,
    title: parts.catalog.find(execution.tool_name)?.action.title ?? execution.tool_name,
    app: nameApp(parts, execution.integration),
    connection: connections.get(execution.connection_id),
    device: nameDevice(execution, callers),
  }));
}

function nameDevice(
  { api_key_id, device_label, device_revoked_at }: ActivityItem,
  callers: ReadonlyMap<string, string>,
): string {
  if (device_label === null) return callers.get(api_key_id ?? "") ?? "another client";
  return device_revoked_at === null ? device_label : `${device_label} (revoked)`;
}
