import type { Hono } from "hono";
import { html } from "hono/html";
import { z } from "zod";
import { exactTime } from "../../../shared/base/text.ts";
import { findZone } from "../../../shared/base/zones.ts";
import { mayDo } from "../../auth/people.ts";
import type { ActivityFilter } from "../../executions/activity.ts";
import { restoreError } from "../../executions/outcome.ts";
import { ServiceError } from "../../service-error.ts";
import { ownerPages } from "../owner-browser.ts";
import type { RouteEnv } from "../request.ts";
import type { ServiceParts } from "../service-parts.ts";
import { nameApp } from "./app-names.ts";
import { executionBody } from "./execution-page.ts";
import { nameCallers } from "./name-callers.ts";
import { logRow, type NamedExecution, nameExecutions } from "./named-execution.ts";
import type { Markup } from "./page.ts";
import { EXECUTION_STATUS_NAMES } from "./values.ts";

const PAGE_SIZE = 25;
/** Seconds after which a call that runs looks for its end. */
const REFRESH_SECONDS = 2;

const day = z.iso.date().optional().catch(undefined);
const text = z.string().min(1).max(200).optional().catch(undefined);

/** Filters in the query of an address; invalid ones are ignored. */
const querySchema = z.object({
  status: z.enum(["started", "succeeded", "failed", "refused"]).optional().catch(undefined),
  tool: text,
  connection: text,
  device: text,
  flow: text,
  from: day,
  to: day,
  zone: text,
  before: text,
});

/** The execution log and its entries. */
export function addLogPages(app: Hono<RouteEnv>, parts: ServiceParts): void {
  const { addPage, addForm } = ownerPages(app, parts, "approver");
  addPage("/log", async (c, { accountId }) => {
    const { before, ...query } = querySchema.parse(c.req.query());
    const { connection, device, flow, zone: zoneName, ...plain } = query;
    const zone = zoneName === undefined ? undefined : findZone(zoneName);
    const filter: ActivityFilter = { ...plain, zone, connectionId: connection, deviceId: device, flowId: flow };
    const { items, next } = await parts.activity.list(accountId, filter, { size: PAGE_SIZE, before });
    const address = (position: string | undefined) => toAddress({ ...query, before: position });
    const body = logBody({
      filter,
      tools: await parts.activity.listTools(accountId),
      connections: (await parts.connections.list()).map(({ id, label, integration }) => [
        id,
        `${label} (${nameApp(parts, integration)})`,
      ]),
      devices: await listDevices(parts, accountId, device),
      flows: await listFlows(parts, accountId, flow),
      rows: await nameExecutions(parts, accountId, items),
      olderHref: next === undefined ? undefined : address(next),
      newestHref: before === undefined ? undefined : address(undefined),
      now: parts.now(),
    });
    return { title: "Execution log", body, section: "log" };
  });
  addPage("/log/:id", async (c, { accountId, person, csrfToken }) => {
    const execution = await parts.activity.find(accountId, c.req.param("id"));
    const [named] = execution === undefined ? [] : await nameExecutions(parts, accountId, [execution]);
    if (named === undefined) throw new ServiceError(404, "unknown_execution", "There is no such execution.");
    const error = named.execution.error === null ? undefined : restoreError(named.execution.error).message;
    const approval = await parts.approvals.findByExecution(accountId, named.execution.id);
    const { waits_until } = named.execution;
    const isUndoable = waits_until === null && (await parts.undo.findUntil(named.execution)) !== undefined;
    const canUndo = isUndoable && mayDo(person.role, "owner");
    const body = executionBody({ ...named, error, approval, canUndo, csrfToken });
    const isMoving = named.execution.status === "started";
    return { title: named.title, body, section: "log", ...(isMoving && { refreshSeconds: REFRESH_SECONDS }) };
  });
  addForm("/log/:id/stop", async (c, { owner, audit }) => {
    const id = c.req.param("id");
    const execution = await parts.activity.find(owner.accountId, id);
    if (execution === undefined) throw new ServiceError(404, "unknown_execution", "There is no such execution.");
    const title = parts.catalog.find(execution.tool_name)?.action.title ?? execution.tool_name;
    const isStopped = await parts.delays.stop(owner.accountId, { id, title });
    if (isStopped) audit({ event: "execution.stopped", did: "stopped the call", name: title, id });
    return `/log/${encodeURIComponent(id)}`;
  });
}

/** Newest devices and flows among which a filter may choose; older ones have links to the log on their pages. */
const MAX_CHOICES = 50;

/** Devices and apps, the chosen one among them. */
async function listDevices(parts: ServiceParts, accountId: string, chosen: string | undefined): Promise<Choice[]> {
  const newest = await parts.keys.list(accountId, { limit: MAX_CHOICES });
  return withChosen([...(await nameCallers(parts, accountId, newest))], chosen, "Another device or client");
}

async function listFlows({ flows }: ServiceParts, accountId: string, chosen: string | undefined): Promise<Choice[]> {
  const newest = await flows.list({ accountId }, MAX_CHOICES);
  const choices = newest.map(({ id, name, createdAt }): Choice => {
    return [id, `${name ?? id}, ${createdAt == null ? id : exactTime(createdAt)}`];
  });
  return withChosen(choices, chosen, "Another flow");
}

function withChosen(choices: Choice[], chosen: string | undefined, name: string): Choice[] {
  return chosen === undefined || choices.some(([id]) => id === chosen) ? choices : [...choices, [chosen, name]];
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
  devices: readonly Choice[];
  flows: readonly Choice[];
  rows: readonly NamedExecution[];
  /** Address of the next page; undefined on the last. */
  olderHref: string | undefined;
  /** Address of the first page; undefined there. */
  newestHref: string | undefined;
  now: number;
}): Markup {
  const { filter } = o;
  const isFiltered = Object.entries(filter).some(([name, value]) => name !== "zone" && value !== undefined);
  const zone = html`<span class="optional">(<span data-zone>${filter.zone?.id ?? "UTC"}</span>)</span>`;
  return html`<h1>Execution log</h1>
<p class="lead">What agents did with your apps, newest first.</p>
<section class="card" aria-label="Filters">
<details class="fold"${isFiltered ? html` open` : ""}><summary>Filter</summary>
<form class="filters" method="get" action="/log">
${select("status", "Status", EXECUTION_STATUS_NAMES, filter.status)}
${select(
  "tool",
  "Tool",
  o.tools.map((tool) => [tool, tool]),
  filter.tool,
)}
${select("connection", "Connection", o.connections, filter.connectionId)}
${select("device", "Device", o.devices, filter.deviceId)}
${o.flows.length === 0 ? "" : select("flow", "Flow", o.flows, filter.flowId)}
<div><label for="from">From ${zone}</label><input id="from" name="from" type="date" value="${filter.from ?? ""}"></div>
<div><label for="to">To ${zone}</label><input id="to" name="to" type="date" value="${filter.to ?? ""}"></div>
<input type="hidden" name="zone" value="${filter.zone?.id ?? ""}" data-zone>
<div class="actions"><button>Filter</button>${isFiltered ? html`<a href="/log">Show everything</a>` : ""}</div>
</form></details>
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
