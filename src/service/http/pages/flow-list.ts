import { html } from "hono/html";
import { describeStarter } from "../../../shared/card/flow-starter.ts";
import { toPlainText } from "../../../shared/card/plain-text.ts";
import type { Flow } from "../../../shared/wire/flow.ts";
import type { Markup } from "./page.ts";
import { describeTime, flowTag, timeTag } from "./values.ts";

/** Flows, the one that changed last first. */
export function flowsBody(o: { flows: readonly Flow[]; now: number }): Markup {
  return html`<h1>Flows</h1>
<p class="lead">Work in several steps that runs here on its own, and waits where a person must decide.</p>
<p><a class="button primary" href="/flows/templates">Start a flow</a></p>
<section class="card" aria-label="Flows">
${
  o.flows.length === 0
    ? html`<p class="muted">No flow was started yet. You or an agent start one from a template, for example to turn unread mail into task pages.</p>`
    : html`<ul class="rows">${o.flows.map((flow) => flowRow(flow, o.now))}</ul>`
}
</section>
<p><a href="/triggers">Triggers</a> start flows by themselves.</p>`;
}

function flowRow(flow: Flow, now: number): Markup {
  return html`<li><div><strong><a href="/flows/${flow.id}">${flow.name ?? flow.id}</a></strong>${waitLines(flow)}<span class="muted">${describeStart(flow, now)}${flow.updatedAt ? html` · changed ${timeTag(flow.updatedAt, now)}` : ""}</span></div>
${flowTag(flow.status)}</li>`;
}

/** Who or what started a flow, and when. */
export function describeStart(flow: Flow, now: number): Markup {
  const { createdAt } = flow;
  return html`${describeStarter(flow)}${createdAt ? html` ${timeTag(createdAt, now)}` : ""}`;
}

/** What a flow waits for, who started it and since when it waits, in one text. */
export function describeWaitingFlow(flow: Flow, now: number): string {
  if (flow.waitingFor === undefined) return "A flow waits for your approval.";
  const { message, about, since } = flow.waitingFor;
  const starter = `A flow, ${describeStarter(flow)}${since && `, asked ${describeTime(since, now)}`}`;
  return toPlainText([message, about && `${about}.`, `${starter}.`].filter(Boolean).join(" "));
}

/** What a flow waits for, on lines of their own; nothing for one that does not wait. */
export function waitLines({ waitingFor }: Flow): Markup {
  if (waitingFor === undefined) return html``;
  const { message, about } = waitingFor;
  return html`<span class="digest">${toPlainText(message)}</span>${about === "" ? "" : html`<span class="digest muted">${toPlainText(about)}</span>`}`;
}
