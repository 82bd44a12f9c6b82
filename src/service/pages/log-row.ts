import { html } from "hono/html";
import type { ActivityItem } from "../executions/activity.ts";
import type { Markup } from "./page.ts";
import { executionTag } from "./state-tag.ts";
import { timeTag } from "./time-tag.ts";

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
  const place = connection === undefined ? app : `${app}, ${connection}`;
  return html`<li><div><strong><a href="/log/${execution.id}">${title}</a></strong><span class="muted">${place} · ${device} · ${timeTag(execution.started_at, now)}</span></div>
${executionTag(execution.status)}</li>`;
}
