import { html } from "hono/html";
import { exactTime } from "../../../base/text.ts";
import type { ActivityFilter, ActivityItem } from "../../executions/activity.ts";
import type { ExecutionRow } from "../../store/schema.ts";
import type { Markup } from "./page.ts";
import { EXECUTION_STATUS_NAMES, executionTag } from "./state-tag.ts";
import { timeTag } from "./time-tag.ts";

type Choice = readonly [value: string, name: string];

/** The execution log: filters and one page of rows. */
export function logBody(o: {
  filter: ActivityFilter;
  tools: readonly string[];
  /** Ids and names of connections. */
  connections: readonly Choice[];
  rows: readonly NamedExecution[];
  /** Address of the next page; undefined on the last. */
  olderHref: string | undefined;
  /** Address of the first page; undefined there. */
  newestHref: string | undefined;
  now: number;
}): Markup {
  const { filter } = o;
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  return html`<h1>Execution log</h1>
<p class="lead">What agents did with your apps, newest first. Times are UTC.</p>
<section class="card" aria-label="Filters">
<form class="filters" method="get" action="/log">
${select("status", "Status", EXECUTION_STATUS_NAMES, filter.status)}
${select(
  "tool",
  "Tool",
  o.tools.map((tool) => [tool, tool]),
  filter.tool,
)}
${select("connection", "Connection", o.connections, filter.connectionId)}
<div><label for="from">From</label><input id="from" name="from" type="date" value="${filter.from ?? ""}"></div>
<div><label for="to">To</label><input id="to" name="to" type="date" value="${filter.to ?? ""}"></div>
<div class="actions"><button>Filter</button>${isFiltered ? html`<a href="/log">Show everything</a>` : ""}</div>
</form>
</section>
<section class="card" aria-label="Executions">
${
  o.rows.length === 0
    ? html`<p class="muted">${isFiltered ? "Nothing matches these filters." : "Nothing was executed yet."}</p>`
    : html`<ul class="rows">${o.rows.map((row) => logRow(row, o.now))}</ul>`
}
</section>
${
  o.olderHref === undefined && o.newestHref === undefined
    ? ""
    : html`<nav class="pages" aria-label="Pages of the log">${o.newestHref === undefined ? "" : html`<a href="${o.newestHref}">Newest</a>`}${o.olderHref === undefined ? "" : html`<a href="${o.olderHref}">Older</a>`}</nav>`
}`;
}

function select(name: string, label: string, choices: readonly Choice[], chosen: string | undefined): Markup {
  return html`<div><label for="${name}">${label}</label><select id="${name}" name="${name}"><option value="">All</option>${choices.map(
    ([value, text]) => html`<option value="${value}"${value === chosen ? html` selected` : ""}>${text}</option>`,
  )}</select></div>`;
}

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

/** Longest arguments and output shown, in characters. */
const MAX_SHOWN = 20_000;

/** One execution with its arguments and result. */
export function executionBody(
  o: NamedExecution & { readonly execution: ExecutionRow; readonly error: string | undefined },
): Markup {
  const { execution } = o;
  const { started_at, finished_at } = execution;
  return html`<h1>${o.title}</h1>
<p class="lead">${o.app} · ${executionTag(execution.status)}</p>
<section class="card" aria-labelledby="facts">
<h2 id="facts">What was asked</h2>
<dl>
<dt>Tool</dt><dd><code>${execution.tool_name}</code></dd>
<dt>Connection</dt><dd>${o.connection ?? "None, or no longer there"}</dd>
<dt>Asked by</dt><dd>${o.device}</dd>
<dt>Effect</dt><dd>${execution.side_effect_level}</dd>
<dt>Started</dt><dd>${exactTime(started_at)}</dd>
<dt>Finished</dt><dd>${finished_at === null ? "Not yet" : `${exactTime(finished_at)}, after ${describeDuration(started_at, finished_at)}`}</dd>
<dt>Id</dt><dd><code>${execution.id}</code></dd>
</dl>
<h2>Arguments</h2>
<pre tabindex="0" aria-label="Arguments"><code>${showJson(execution.arguments)}</code></pre>
</section>
<section class="card" aria-labelledby="result">
<h2 id="result">Result</h2>
${o.error === undefined ? "" : html`<p class="notice bad">${o.error}</p>`}
${execution.output === null ? "" : html`<pre tabindex="0" aria-label="Result"><code>${showJson(execution.output)}</code></pre>`}
${o.error === undefined && execution.output === null ? html`<p class="muted">There is none yet.</p>` : ""}
</section>
<p><a href="/log">Back to the log</a></p>`;
}

/** JSON on several lines, cut where a page would get too long. */
function showJson(json: string): string {
  const text = JSON.stringify(JSON.parse(json), null, 2);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}\n… ${text.length - MAX_SHOWN} more characters` : text;
}

function describeDuration(from: string, to: string): string {
  const ms = Date.parse(to) - Date.parse(from);
  return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`;
}
