import { html } from "hono/html";
import type { ActivityFilter } from "../executions/activity.ts";
import { logRow, type NamedExecution } from "./log-row.ts";
import type { Markup } from "./page.ts";
import { EXECUTION_STATUS_NAMES } from "./state-tag.ts";

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
