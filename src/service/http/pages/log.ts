import type { Hono } from "hono";
import { html } from "hono/html";
import { z } from "zod";
import { exactTime } from "../../../base/text.ts";
import type { HeldApproval } from "../../approvals/approval-rows.ts";
import type { ActivityFilter, ActivityItem } from "../../executions/activity.ts";
import { restoreError } from "../../executions/outcome.ts";
import { ServiceError } from "../../service-error.ts";
import type { ExecutionRow } from "../../store/schema.ts";
import { ownerPages } from "../owner-browser.ts";
import type { RouteEnv } from "../request.ts";
import type { ServiceParts } from "../service-parts.ts";
import type { Markup } from "./page.ts";
import { EXECUTION_STATUS_NAMES, executionTag, timeTag } from "./values.ts";

const PAGE_SIZE = 25;

const day = z.iso.date().optional().catch(undefined);
const text = z.string().min(1).max(200).optional().catch(undefined);

/** Filters in the query of an address; invalid ones are ignored. */
const querySchema = z.object({
  status: z.enum(["started", "succeeded", "failed", "refused"]).optional().catch(undefined),
  tool: text,
  connection: text,
  from: day,
  to: day,
  before: text,
});

/** The execution log and its entries. */
export function addLogPages(app: Hono<RouteEnv>, parts: ServiceParts): void {
  const { addPage } = ownerPages(app, parts, "approver");
  addPage("/log", async (c, { accountId }) => {
    const { before, connection, ...query } = querySchema.parse(c.req.query());
    const filter: ActivityFilter = { ...query, connectionId: connection };
    const { items, next } = await parts.activity.list(accountId, filter, { size: PAGE_SIZE, before });
    const address = (position: string | undefined) => toAddress({ ...query, connection, before: position });
    const body = logBody({
      filter,
      tools: await parts.activity.listTools(accountId),
      connections: (await parts.connections.list()).map(({ id, label, integration }) => [
        id,
        `${label} (${nameApp(parts, integration)})`,
      ]),
      rows: await nameExecutions(parts, items),
      olderHref: next === undefined ? undefined : address(next),
      newestHref: before === undefined ? undefined : address(undefined),
      now: parts.now(),
    });
    return { title: "Execution log", body, section: "log" };
  });
  addPage("/log/:id", async (c, { accountId }) => {
    const execution = await parts.activity.find(accountId, c.req.param("id"));
    const [named] = execution === undefined ? [] : await nameExecutions(parts, [execution]);
    if (named === undefined) throw new ServiceError(404, "unknown_execution", "There is no such execution.");
    const error = named.execution.error === null ? undefined : restoreError(named.execution.error).message;
    const approval = await parts.approvals.findByExecution(accountId, named.execution.id);
    const body = executionBody({ ...named, error, approval });
    return { title: named.title, body, section: "log" };
  });
}

function toAddress(query: Readonly<Record<string, string | undefined>>): string {
  const set = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
  return `/log?${new URLSearchParams(Object.fromEntries(set))}`;
}

type Choice = readonly [value: string, name: string];

function logBody(o: {
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

function executionBody(
  o: NamedExecution & {
    readonly execution: ExecutionRow;
    readonly error: string | undefined;
    /** The request that it was decided on; undefined when the owner was not asked. */
    readonly approval: HeldApproval | undefined;
  },
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
${o.approval === undefined ? "" : decisionCard(o.approval)}
<section class="card" aria-labelledby="result">
<h2 id="result">Result</h2>
${o.error === undefined ? "" : html`<p class="notice bad">${o.error}</p>`}
${execution.output === null ? "" : html`<pre tabindex="0" aria-label="Result"><code>${showJson(execution.output)}</code></pre>`}
${o.error === undefined && execution.output === null ? html`<p class="muted">There is none yet.</p>` : ""}
</section>
<p><a href="/log">Back to the log</a></p>`;
}

function decisionCard({ id, status, decidedBy, decidedAt, reason, requestedAt }: HeldApproval): Markup {
  return html`<section class="card" aria-labelledby="decision">
<h2 id="decision">Decision</h2>
<dl>
<dt>Decision</dt><dd>${status === "declined" ? "Declined" : "Approved"}</dd>
<dt>By</dt><dd>${decidedBy ?? "Not known"}</dd>
<dt>Asked</dt><dd>${exactTime(requestedAt)}</dd>
<dt>Decided</dt><dd>${decidedAt === null ? "Not known" : exactTime(decidedAt)}</dd>
${reason === null ? "" : html`<dt>Reason</dt><dd>${reason}</dd>`}
</dl>
<p><a href="/inbox/${id}">See the request</a></p>
</section>`;
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
