import { html } from "hono/html";
import type { Flow } from "../../wire/flow.ts";
import { flowTag } from "./flow-tags.ts";
import type { Markup } from "./page.ts";
import { timeTag } from "./time-tag.ts";

/** Flows, the one that changed last first. */
export function flowsBody(o: { flows: readonly Flow[]; now: number }): Markup {
  return html`<h1>Flows</h1>
<p class="lead">Work in several steps that runs here on its own, and waits where a person must decide.</p>
<section class="card" aria-label="Flows">
${
  o.flows.length === 0
    ? html`<p class="muted">No flow was started yet. An agent starts one from a template, for example to turn unread mail into task pages.</p>`
    : html`<ul class="rows">${o.flows.map((flow) => flowRow(flow, o.now))}</ul>`
}
</section>`;
}

function flowRow(flow: Flow, now: number): Markup {
  return html`<li><div><strong><a href="/flows/${flow.id}">${flow.name ?? flow.id}</a></strong><span class="muted">${describeStart(flow, now)}${flow.updatedAt ? html` · changed ${timeTag(flow.updatedAt, now)}` : ""}</span></div>
${flowTag(flow.status)}</li>`;
}

const TRIGGERS: Readonly<Record<string, string>> = {
  agent: "by an agent",
  manual: "by hand",
  webhook: "by a webhook",
  schedule: "on schedule",
};

/** Who started a flow and when. */
export function describeStart({ triggerType, createdAt }: Flow, now: number): Markup {
  return html`started ${TRIGGERS[triggerType ?? ""] ?? ""}${createdAt ? html` ${timeTag(createdAt, now)}` : ""}`;
}
